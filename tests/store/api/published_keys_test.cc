// OAuth clients that publish their keys under a jwks_uri (docs/authentication.md).
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <chrono>
#include <pqxx/pqxx>
#include <thread>

#include "base/crypto.h"
#include "tests/store/support/allocation_count.h"
#include "tests/store/support/tenant_support.h"
#include "tests/support/jose.h"

namespace vedette::test {
namespace {

using base::Json;
using testing::HasSubstr;
using Outcome = rest::KeyFetcher::Outcome;

const std::string kIssuer = "https://api.example.com";
const std::string kUrl = "https://client.example/jwks.json";

// The public half of an Ed25519 key as a JWK: the point stands at the end of its DER.
Json Jwk(const base::SigningKey& key, const std::string& kid) {
  const std::string der =
      std::get<base::PublicKey>(base::PublicKey::FromPem(key.PublicPem())).Der();
  return {{"kty", "OKP"},
          {"crv", "Ed25519"},
          {"kid", kid},
          {"x", base::Base64UrlEncode(der.substr(der.size() - 32))}};
}

class ApiPublishedKeys : public ApiTest {
 public:
  ApiPublishedKeys() : ApiTest({{"VEDETTE_API_PUBLIC_URL", kIssuer}}) {
    const Reply made = Ask("POST", "/oauth/clients", Json{{"name", "c"}, {"jwks_uri", kUrl}});
    EXPECT_EQ(made.status, 200) << made.raw.body;
    client = made.body.value("client_id", "");
  }

  void Publish(const std::vector<Json>& keys) {
    key_fetcher.outcome = {Outcome::Kind::kCame, Json{{"keys", keys}}.dump()};
  }
  void Fail() { key_fetcher.outcome = {Outcome::Kind::kFailed, "connect: nobody listens"}; }
  // Time passes for the client's keys.
  void Pass(const std::string& interval) {
    Sql("update oauth_client set jwks_tried_at = jwks_tried_at - interval '" + interval +
        "', jwks_ended_at = jwks_ended_at - interval '" + interval +
        "', jwks_fetched_at = jwks_fetched_at - interval '" + interval + "'");
  }
  net::ServerRequest TokenRequest(const base::SigningKey& signer, const std::string& kid) const {
    const auto now = std::chrono::floor<std::chrono::seconds>(clock.Now()).time_since_epoch();
    const std::string assertion = Signed(signer, {{"alg", "EdDSA"}, {"kid", kid}},
                                         {{"iss", client},
                                          {"sub", client},
                                          {"aud", kIssuer},
                                          {"exp", now.count() + 600},
                                          {"jti", base::RandomBase62(20)}});
    net::ServerRequest request;
    request.method = "POST";
    request.path = request.target = "/oauth/token";
    request.headers = {{"content-type", "application/x-www-form-urlencoded"}};
    request.body =
        "grant_type=client_credentials&client_assertion_type=urn%3Aietf%3Aparams%3Aoauth%3A"
        "client-assertion-type%3Ajwt-bearer&client_assertion=" +
        assertion;
    return request;
  }
  Reply AskToken(const base::SigningKey& signer, const std::string& kid) {
    return AskRaw(TokenRequest(signer, kid));
  }
  Json Client() { return Ask("GET", "/oauth/clients/" + client).body; }

  std::string client;
  const base::SigningKey key = test::NewKey("Ed25519");
  const base::SigningKey next = test::NewKey("Ed25519", 1);
};

TEST_F(ApiPublishedKeys, KeysAreFetchedOnceAndServeWhileTheyAreFresh) {
  Publish({Jwk(key, "a"), {{"kty", "oct"}, {"k", "AAAA"}}});
  EXPECT_EQ(key_fetcher.fetches, 0) << "nothing is fetched before it is needed";
  const Reply reply = AskToken(key, "a");
  EXPECT_EQ(reply.status, 200) << reply.raw.body;
  for (int i = 0; i < 5; ++i) EXPECT_EQ(AskToken(key, "a").status, 200);
  EXPECT_EQ(key_fetcher.fetches, 1);
  EXPECT_EQ(key_fetcher.last_url, kUrl);
  EXPECT_EQ(key_fetcher.last_org.ToString(), acme.org_id);
  const Json shown = Client();
  EXPECT_EQ(shown["jwks_uri"], kUrl);
  EXPECT_TRUE(shown["jwks_last_error"].is_null());
  EXPECT_TRUE(shown["jwks_last_validated_at"].is_string());
  Pass("11 minutes");
  EXPECT_EQ(AskToken(key, "a").status, 200);
  EXPECT_EQ(key_fetcher.fetches, 2) << "they were no longer fresh";
}

TEST_F(ApiPublishedKeys, UnknownKeyIdsCauseAFetchInThirtySeconds) {
  Publish({Jwk(key, "a")});
  EXPECT_EQ(AskToken(key, "a").status, 200);
  for (int i = 0; i < 100; ++i) {
    const Reply reply = AskToken(key, "unknown-" + std::to_string(i));
    EXPECT_EQ(reply.status, 401);
    EXPECT_EQ(reply.message(), "the client's assertion is not valid");
  }
  EXPECT_EQ(key_fetcher.fetches, 1);
  Pass("31 seconds");
  Publish({Jwk(key, "a"), Jwk(next, "b")});
  EXPECT_EQ(AskToken(next, "b").status, 200) << "a key that was published thirty seconds ago";
  EXPECT_EQ(AskToken(key, "a").status, 200);
  EXPECT_EQ(key_fetcher.fetches, 2);
  Pass("31 seconds");
  Publish({Jwk(next, "b")});
  EXPECT_EQ(AskToken(key, "c").status, 401);
  EXPECT_EQ(AskToken(key, "a").status, 401) << "the fetch for c did not find it any more";
  EXPECT_EQ(key_fetcher.fetches, 3);
}

using ApiUnknownKeys = ApiPublishedKeys;

TEST_F(ApiUnknownKeys, TenThousandInAMinuteCauseAtMostTwoFetches) {
  Publish({Jwk(key, "a")});
  net::ServerRequest request = TokenRequest(key, "a");
  const std::string before = request.body.substr(0, request.body.rfind('=') + 1);
  const std::string assertion = request.body.substr(before.size());
  const std::string rest = assertion.substr(assertion.find('.'));
  constexpr int kRequests = OrLessIfSanitized(10'000, 1'000);
  int refused = 0;
  for (int i = 0; i < kRequests; ++i) {
    if (i == kRequests / 2) Pass("31 seconds");
    const Json header{{"alg", "EdDSA"}, {"kid", "unknown-" + std::to_string(i)}};
    request.body = before + base::Base64UrlEncode(header.dump()) + rest;
    refused += AskRaw(request).status == 401 ? 1 : 0;
  }
  EXPECT_EQ(refused, kRequests);
  EXPECT_EQ(key_fetcher.fetches, 2);
}

TEST_F(ApiPublishedKeys, WhereFetchesFailOldKeysServeForADay) {
  Fail();
  Reply reply = AskToken(key, "a");
  EXPECT_EQ(reply.status, 503) << "there are no keys yet";
  EXPECT_EQ(reply.error(), "temporarily_unavailable");
  EXPECT_EQ(reply.Header("Retry-After"), "5");
  EXPECT_EQ(Client()["jwks_last_error"], "connect: nobody listens");
  Pass("31 seconds");
  Publish({Jwk(key, "a")});
  EXPECT_EQ(AskToken(key, "a").status, 200);
  Fail();
  Pass("23 hours");
  EXPECT_EQ(AskToken(key, "a").status, 200);
  Pass("2 hours");
  EXPECT_EQ(AskToken(key, "a").status, 503);
  EXPECT_EQ(key_fetcher.fetches, 4);
}

TEST_F(ApiPublishedKeys, ARequestAfterAFetchsAnswerMakesOneOfItsOwn) {
  key_fetcher.keeps = true;
  Publish({Jwk(key, "a")});
  EXPECT_EQ(AskToken(key, "a").status, 200);
  Pass("11 minutes");
  EXPECT_EQ(AskToken(key, "a").status, 200);
  EXPECT_EQ(key_fetcher.fetches, 2);
}

TEST_F(ApiPublishedKeys, InOneProcessRequestsWaitForTheFetchAndInAnotherTheyAreToldTo) {
  Publish({Jwk(key, "a")});
  key_fetcher.held = true;
  std::vector<std::shared_ptr<ApiExchange>> waiting;
  for (int i = 0; i < 5; ++i) waiting.push_back(Begin(TokenRequest(key, "a")));
  while (key_fetcher.fetches == 0) std::this_thread::yield();
  api::Api second(
      config, pool, signals, clock, metrics, policy, outgoing, *waits,
      [](const std::string&, const std::string&) { return std::nullopt; }, log);
  const auto elsewhere = std::make_shared<ApiExchange>(TokenRequest(key, "a"));
  second.Handle(elsewhere);
  const auto told = elsewhere->Wait();
  EXPECT_EQ(told.status, 503) << told.body;
  EXPECT_THAT(told.headers, testing::Contains(testing::Pair("Retry-After", "1")));
  for (const auto& exchange : waiting) EXPECT_FALSE(exchange->answered());
  key_fetcher.Complete();
  for (const auto& exchange : waiting) EXPECT_EQ(exchange->Wait().status, 200);
  EXPECT_EQ(key_fetcher.fetches, 1);
  pool.Stop();
}

// It read the client before the keys were stored, and wants to fetch them itself afterwards.
TEST_F(ApiPublishedKeys, ARequestThatMeetsTheEndOfAnothersFetchIsServed) {
  Publish({Jwk(key, "a")});
  EXPECT_EQ(AskToken(key, "a").status, 200);
  Sql("create table came as select jwks, jwks_fetched_at from oauth_client");
  Sql("update oauth_client set jwks = null, jwks_fetched_at = null, jwks_ended_at = null, "
      "jwks_tried_at = null");
  pqxx::connection connection(database.url());
  pqxx::work other(connection);
  other.exec("select from oauth_client for update");
  const auto asks = Begin(TokenRequest(key, "a"));
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (Sql("select count(*) from pg_stat_activity where wait_event_type = 'Lock'") != "1") {
    ASSERT_LT(std::chrono::steady_clock::now(), until) << "it asks for no fetch";
  }
  other.exec(
      "update oauth_client set jwks = came.jwks, jwks_fetched_at = came.jwks_fetched_at, "
      "jwks_tried_at = now(), jwks_ended_at = now() from came");
  other.commit();
  EXPECT_EQ(asks->Wait().status, 200);
  EXPECT_EQ(key_fetcher.fetches, 1);
}

TEST_F(ApiPublishedKeys, AFetchForWhichThereIsNoRoomMayBeMadeAtOnceLater) {
  key_fetcher.outcome = {Outcome::Kind::kBusy, "too many fetches of keys are under way"};
  const Reply reply = AskToken(key, "a");
  EXPECT_EQ(reply.status, 503);
  EXPECT_EQ(reply.Header("Retry-After"), "5");
  Publish({Jwk(key, "a")});
  EXPECT_EQ(AskToken(key, "a").status, 200);
}

TEST_F(ApiPublishedKeys, AssertionsThatAreWrongWhateverTheirKeyCauseNoFetch) {
  Publish({Jwk(key, "a")});
  const std::string good = client;
  client = base::Uuid::V4().ToString();
  EXPECT_EQ(AskToken(key, "a").status, 401);
  client = good;
  Sql("update oauth_client set disabled = true");
  EXPECT_EQ(AskToken(key, "a").status, 401);
  Sql("update oauth_client set disabled = false");
  net::ServerRequest request = TokenRequest(key, "a");
  request.path = request.target = "/oauth/revoke";
  EXPECT_EQ(AskRaw(request).error(), "invalid_request");
  EXPECT_EQ(key_fetcher.fetches, 0);
}

TEST_F(ApiPublishedKeys, ASetWithoutAKeyThatCanBeUsedDoesNotTakeThePlaceOfGoodOnes) {
  Publish({{{"kty", "oct"}, {"k", "AAAA"}, {"kid", "o"}}});
  EXPECT_EQ(AskToken(key, "a").status, 401) << "no good ones are known yet";
  Publish({Jwk(key, "a")});
  Pass("1 hour");
  EXPECT_EQ(AskToken(key, "a").status, 200);
  Publish({});
  Pass("1 hour");
  EXPECT_EQ(AskToken(key, "a").status, 200);
  const Reply reply = Ask("POST", "/oauth/clients/" + client + "/validate-jwks", Json::object());
  EXPECT_EQ(reply.body["valid"], false);
  EXPECT_EQ(reply.body["error"], "no key of the set can be used");
  EXPECT_EQ(AskToken(key, "a").status, 200);
  Pass("25 hours");
  EXPECT_EQ(AskToken(key, "a").status, 503) << "they have aged, as where fetches fail";
}

TEST_F(ApiPublishedKeys, ValidationFetchesNowAndSaysWhatIsWrongWithEachKey) {
  Json secret = Jwk(key, "s");
  secret["d"] = "AAAA";
  Publish({Jwk(key, "a"), secret, {{"kty", "oct"}, {"k", "AAAA"}, {"kid", "o"}}});
  const std::string path = "/oauth/clients/" + client + "/validate-jwks";
  for (int i = 1; i <= 2; ++i) {
    const Reply reply = Ask("POST", path, Json::object());
    ASSERT_EQ(reply.status, 200) << reply.raw.body;
    EXPECT_EQ(reply.body["valid"], true);
    EXPECT_TRUE(reply.body["error"].is_null());
    EXPECT_EQ(reply.body["keys"][0],
              (Json{{"kid", "a"}, {"algorithm", "EdDSA"}, {"usable", true}, {"reason", nullptr}}));
    EXPECT_EQ(reply.body["keys"][1]["usable"], false);
    EXPECT_THAT(reply.body["keys"][1]["reason"].get<std::string>(), HasSubstr("private"));
    EXPECT_EQ(reply.body["keys"][2]["kid"], "o");
    EXPECT_EQ(key_fetcher.fetches, i);
  }
  EXPECT_EQ(AskToken(key, "a").status, 200);
  EXPECT_EQ(key_fetcher.fetches, 2) << "what was validated serves";
  EXPECT_EQ(Sql("select jwks::text like '%\"d\"%' from oauth_client"), "f");
  for (const auto& [text, says] : {std::pair("<html>", ""), std::pair("{}", "no array keys"),
                                   std::pair("[]", "no array keys")}) {
    key_fetcher.outcome = {Outcome::Kind::kCame, text};
    const Reply bad = Ask("POST", path, Json::object());
    EXPECT_EQ(bad.body["valid"], false);
    EXPECT_THAT(bad.body["error"].get<std::string>(), HasSubstr(says));
  }
  Fail();
  EXPECT_EQ(Ask("POST", path, Json::object()).body["error"], "connect: nobody listens");
  EXPECT_EQ(AskToken(key, "a").status, 200) << "what was there stays";
}

TEST_F(ApiPublishedKeys, TheChoiceBetweenUploadingAndPublishingIsPermanent) {
  const std::string keys = "/oauth/clients/" + client + "/keys";
  EXPECT_EQ(Ask("POST", keys, Json{{"public_key_pem", key.PublicPem()}}).error(),
            "client_uses_jwks_uri");
  EXPECT_EQ(Ask("PATCH", "/oauth/clients/" + client, Json{{"jwks_uri", kUrl}}).status, 422);
  const std::string uploads = Ask("POST", "/oauth/clients", Json{{"name", "u"}}).body["client_id"];
  EXPECT_EQ(Ask("POST", "/oauth/clients/" + uploads + "/validate-jwks", Json::object()).error(),
            "client_has_no_jwks_uri");
}

TEST_F(ApiPublishedKeys, G9_AUrlThatLeadsInsideOrIsPlainIsRefusedAtCreation) {
  for (const char* url :
       {"http://client.example/jwks", "https://127.0.0.1/jwks", "https://[::1]/",
        "https://10.0.0.1/", "https://2130706433/", "https://localhost/", "https://a.internal/",
        "https://169.254.169.254/", "https://u:p@client.example/", "https://client.example/#x",
        "ftp://client.example/", "x"}) {
    const Reply reply = Ask("POST", "/oauth/clients", Json{{"name", "c"}, {"jwks_uri", url}});
    EXPECT_EQ(reply.status, 400) << url;
    EXPECT_EQ(reply.error(), "invalid_jwks_uri") << url;
  }
}

}  // namespace
}  // namespace vedette::test
