// Keys, locks, features, rate limit, order of the refusals.
#include <gmock/gmock.h>

#include <set>

#include "config/server_config.h"
#include "tests/store/support/tenant_support.h"

namespace vedette::test {
namespace {

using base::Json;
using testing::HasSubstr;
using ApiAuth = ApiTest;

TEST_F(ApiAuth, MissingMalformedUnknownAndRevokedKeysAre401) {
  net::ServerRequest request;
  request.method = "GET";
  request.path = request.target = "/monitors";
  Reply reply = AskRaw(request);
  EXPECT_EQ(reply.status, 401);
  EXPECT_EQ(reply.error(), "unauthorized");
  request.headers = {{"authorization", "Basic x"}};
  EXPECT_THAT(AskRaw(request).message(), HasSubstr("x-api-key"));
  for (const std::string& key :
       {std::string("nonsense"), "vd_live_" + std::string(43, 'a'), acme.key + "a",
        acme.key.substr(0, 14) + std::string(37, 'a'), std::string(50, '\xff')}) {
    EXPECT_EQ(Ask("GET", "/monitors", Headers{{"x-api-key", key}}).status, 401) << key;
  }
  EXPECT_EQ(Ask("GET", "/monitors").status, 200);
  Sql("update api_key set revoked_at = now()");
  EXPECT_EQ(Ask("GET", "/monitors").status, 401);
}

TEST_F(ApiAuth, LockedOrganisationAndMissingFeatureAre403) {
  const std::string id = NewMonitor();
  Sql("update organisation set locked = true");
  EXPECT_EQ(Ask("GET", "/monitors/" + id).status, 403);
  EXPECT_EQ(Ask("GET", "/monitors/" + id).error(), "organisation_locked");
  Sql("update organisation set locked = false, features = '{}'");
  EXPECT_EQ(Ask("GET", "/monitors/" + id).error(), "feature_not_enabled");
  EXPECT_EQ(Ask("GET", "/monitors/" + id).message(),
            "the feature monitors is not enabled for your organisation: ask the operator for it");
}

TEST_F(ApiAuth, FrequencyAndTierNeedTheirFeatures) {
  Sql("update organisation set features = '{monitors}'");
  for (const Json& change :
       {Json{{"frequency", "5m"}}, Json{{"tier", "micro"}}, Json{{"tier", "high"}}}) {
    Json body = GoodBody();
    body.update(change);
    const Reply reply = Ask("POST", "/monitors", body);
    EXPECT_EQ(reply.status, 403) << change.dump();
    EXPECT_EQ(reply.error(), "feature_not_enabled");
  }
  const std::string id = NewMonitor();
  EXPECT_EQ(Ask("POST", "/monitors/" + id + "/update", Json{{"frequency", "5m"}}).status, 403);
  Sql("update organisation set features = '{monitors,testing_monitors,high_tier}'");
  for (const char* tier : {"micro", "high"}) NewMonitor({{"tier", tier}, {"frequency", "5m"}});
}

TEST_F(ApiAuth, UnknownRoutesAre404AndWrongMethods405WithAllow) {
  EXPECT_EQ(Ask("GET", "/nothing").status, 404);
  EXPECT_NE(Ask("GET", "/").body["message"].get<std::string>().find("/docs"), std::string::npos);
  const Reply reply = Ask("DELETE", "/monitors/x/archive");
  EXPECT_EQ(reply.status, 405);
  EXPECT_EQ(reply.body["message"], "this path does not take \"DELETE\", but POST");
  EXPECT_EQ(reply.Header("Allow"), "POST");
  // Before the key is looked at.
  EXPECT_EQ(Ask("GET", "/nothing", Headers{{"x-api-key", "bad"}}).status, 404);
  EXPECT_EQ(Ask("PUT", "/monitors", Headers{{"x-api-key", "bad"}}).status, 405);
}

TEST_F(ApiAuth, DocumentsNeedNoKey) {
  for (const char* path : {"/openapi.json", "/docs"}) {
    net::ServerRequest request;
    request.method = "GET";
    request.path = request.target = path;
    const Reply reply = AskRaw(request);
    EXPECT_EQ(reply.status, 200) << path;
    EXPECT_FALSE(reply.Header("X-Request-Id").empty());
  }
  EXPECT_EQ(Ask("GET", "/openapi.json").body["openapi"], "3.1.0");
  EXPECT_EQ(Ask("GET", "/docs").Header("Content-Type"), "text/html; charset=utf-8");
}

TEST_F(ApiAuth, RequestIdIsEchoedWhereItIsSane) {
  EXPECT_EQ(
      Ask("GET", "/monitors", Headers{{"x-request-id", "abc-1.2:3_4"}}).Header("X-Request-Id"),
      "abc-1.2:3_4");
  for (const std::string& bad : {std::string("a b"), std::string(129, 'a'), std::string("a\"b")}) {
    const std::string given =
        Ask("GET", "/monitors", Headers{{"x-request-id", bad}}).Header("X-Request-Id");
    EXPECT_EQ(given.size(), 36U);
  }
}

TEST_F(ApiAuth, EveryAuthenticatedAnswerHasTheRateHeaders) {
  for (const auto& [method, path] :
       {std::pair("GET", "/monitors"), std::pair("GET", "/monitors/none"),
        std::pair("POST", "/monitors"), std::pair("GET", "/monitors?limit=0")}) {
    const Reply reply = Ask(method, path);
    EXPECT_EQ(reply.Header("X-RateLimit-Limit"), "500") << path;
    EXPECT_FALSE(reply.Header("X-RateLimit-Remaining").empty());
    EXPECT_EQ(std::stoll(reply.Header("X-RateLimit-Reset")) % 60, 0);
  }
  EXPECT_EQ(Ask("GET", "/monitors", Headers{{"x-api-key", "bad"}}).Header("X-RateLimit-Limit"), "");
}

TEST_F(ApiAuth, NobodyKeepsOrGuessesAtAnAnswer) {
  for (const Reply& reply : {Ask("GET", "/monitors"), Ask("GET", "/account/api-keys"),
                             Ask("GET", "/monitors", Headers{{"x-api-key", "bad"}})}) {
    EXPECT_EQ(reply.Header("Cache-Control"), "no-store");
    EXPECT_EQ(reply.Header("X-Content-Type-Options"), "nosniff");
  }
}

TEST_F(ApiAuth, AnOrganisationThatMovesReadsAndWritesLater) {
  const std::string monitor = NewMonitor();
  Sql("update organisation set locked = true, moving_until = now() + interval '1 minute' where id "
      "= '" +
      acme.org_id + "'");
  EXPECT_EQ(Ask("GET", "/monitors/" + monitor).status, 200);
  const Reply refused = Ask("POST", "/monitors/" + monitor + "/cancel");
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.error(), "organisation_moving");
  EXPECT_NE(refused.message().find("before 20"), std::string::npos) << refused.message();
  EXPECT_NE(refused.Header("Retry-After"), "");
  Sql("update organisation set moving_until = now() - interval '1 minute'");
  EXPECT_EQ(Ask("POST", "/monitors/" + monitor + "/cancel").message().find("before"),
            std::string::npos);
  Sql("update organisation set locked = false, moving_until = null");
  EXPECT_EQ(Ask("POST", "/monitors/" + monitor + "/cancel").status, 200);
}

class ApiRate : public ApiTest {
 public:
  ApiRate() : ApiTest({{"VEDETTE_LIMITS_REQUESTS_PER_MINUTE", "3"}}) {}
};

TEST_F(ApiRate, TwoProcessesShareOneLimitAndBeyondItIs429) {
  api::Api second(
      config, pool, signals, clock, metrics, policy, outgoing, *waits,
      [](const std::string&, const std::string&) { return std::nullopt; }, log);
  // Requests of the window before count in theirs: at most one minute ends during the test.
  int refused = 0;
  for (int i = 0; i < 8; ++i) {
    auto exchange = std::make_shared<ApiExchange>(Request("GET", "/monitors", {}));
    (i % 2 == 0 ? api : second).Handle(exchange);
    const auto answer = exchange->Wait();
    if (answer.status == 429) ++refused;
  }
  EXPECT_GE(refused, 2);
  const Reply reply = Ask("GET", "/monitors");
  if (reply.status == 429) {
    EXPECT_EQ(reply.error(), "rate_limited");
    EXPECT_GE(std::stoi(reply.Header("Retry-After")), 1);
    EXPECT_LE(std::stoi(reply.Header("Retry-After")), 60);
    EXPECT_EQ(reply.Header("X-RateLimit-Remaining"), "0");
    EXPECT_THAT(reply.message(), testing::EndsWith("wait " + reply.Header("Retry-After") + " s"));
  }
  const Tenant other = NewTenant("other");
  EXPECT_EQ(Ask("GET", "/monitors", Headers{{"x-api-key", other.key}}).status, 200);
  pool.Stop();
}

class ApiRateOff : public ApiTest {
 public:
  ApiRateOff() : ApiTest({{"VEDETTE_LIMITS_REQUESTS_PER_MINUTE", "0"}}) {}
};

TEST_F(ApiRateOff, NothingIsCountedAndNoLimitIsTold) {
  const Reply reply = Ask("GET", "/monitors");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.Header("X-RateLimit-Limit"), "");
  EXPECT_EQ(Sql("select count(*) from rate_window"), "0");
}

TEST_F(ApiAuth, DatabaseUnreachableIs503WithRetryAfterAndHeals) {
  ASSERT_EQ(Ask("GET", "/monitors").status, 200);
  TestDatabase::CrashServer();
  const Reply reply = Ask("GET", "/monitors");
  EXPECT_EQ(reply.status, 503);
  EXPECT_EQ(reply.error(), "unavailable");
  EXPECT_EQ(reply.Header("Retry-After"), "5");
  TestDatabase::StartServer();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  int status = 0;
  do {
    status = Ask("GET", "/monitors").status;
  } while (status == 503 && std::chrono::steady_clock::now() < deadline);
  EXPECT_EQ(status, 200);
}

TEST_F(ApiAuth, AnUnknownCommitIs503AndSaysThatItMayHaveHappened_G12) {
  // Each connection ends while it commits the change.
  Sql("create function end_at_commit() returns trigger language plpgsql as $$ begin "
      "perform pg_terminate_backend(pg_backend_pid()); return null; end $$");
  Sql("create constraint trigger end_at_commit after insert on monitor initially deferred "
      "for each row execute function end_at_commit()");
  const Reply reply = Ask("POST", "/monitors", GoodBody());
  EXPECT_EQ(reply.status, 503) << reply.raw.body;
  EXPECT_EQ(reply.Header("Retry-After"), "5");
  EXPECT_EQ(reply.error(), "unavailable");
  EXPECT_NE(reply.message().find("may have been made or not"), std::string::npos);
}

TEST_F(ApiAuth, BodiesAreCheckedInOrder) {
  const auto ask = [this](std::string body, std::string type, bool too_large) {
    net::ServerRequest request = Request("POST", "/monitors", {});
    request.body = std::move(body);
    if (!type.empty()) request.headers.emplace_back("content-type", type);
    request.body_too_large = too_large;
    return AskRaw(request);
  };
  EXPECT_EQ(ask("", "text/plain", true).status, 413);
  EXPECT_EQ(ask("{", "text/plain", false).status, 415);
  EXPECT_EQ(ask("{}", "application/json; charset=latin1", false).status, 415);
  EXPECT_EQ(ask("{", "application/json", false).status, 400);
  EXPECT_EQ(ask("", "application/json", false).error(), "malformed_json");
  EXPECT_EQ(ask("[]", "application/json", false).error(), "malformed_json");
  EXPECT_EQ(ask(std::string(65, '[') + std::string(65, ']'), "", false).status, 400);
  EXPECT_EQ(ask("{\"a\":\"\xff\"}", "", false).status, 400);
  EXPECT_EQ(ask("{}", "Application/JSON; charset=UTF-8", false).status, 422);
  // A wrong type before a broken rule, a broken rule before a missing feature.
  Json body = GoodBody();
  body["frequency"] = "1s";
  body["name"] = 1;
  EXPECT_EQ(ask(body.dump(), "", false).status, 422);
  Sql("update organisation set features = '{monitors}'");
  body["name"] = "n";
  body["tier"] = "high";
  EXPECT_EQ(ask(body.dump(), "", false).status, 400);
  body["frequency"] = "1h";
  body["team_id"] = "none";
  EXPECT_EQ(ask(body.dump(), "", false).status, 403);
  body["tier"] = "low";
  EXPECT_EQ(ask(body.dump(), "", false).status, 404);
}

TEST_F(ApiAuth, BodyLimitsFollowTheRoute) {
  EXPECT_EQ(api.BodyBytesMax("POST", "/monitors"), config.api.body_bytes_max);
  EXPECT_LT(api.BodyBytesMax("GET", "/monitors"), std::size_t{100000});
  EXPECT_LT(api.BodyBytesMax("POST", "/nothing"), std::size_t{100000});
}

TEST_F(ApiAuth, IdempotencyKeyOfABadLengthIs422) {
  EXPECT_EQ(
      Ask("POST", "/monitors", GoodBody(), {{"idempotency-key", std::string(256, 'k')}}).status,
      422);
  EXPECT_EQ(Ask("POST", "/monitors", GoodBody(), {{"idempotency-key", ""}}).status, 422);
  EXPECT_EQ(
      Ask("POST", "/monitors", GoodBody(), {{"idempotency-key", std::string(255, 'k')}}).status,
      200);
}

}  // namespace
}  // namespace vedette::test
