// What an owner manages without the operator: keys and their scopes, signing secrets, deliveries,
// the audit.
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "api/tenant/authenticate.h"
#include "config/security_config.h"
#include "store/accounts/accounts.h"
#include "store/accounts/signing_secrets.h"
#include "store/session.h"
#include "tests/store/support/tenant_routes.h"
#include "tests/store/support/tenant_support.h"

namespace vedette::test {
namespace {

using base::Json;
using domain::KeyScope;
using testing::HasSubstr;

class ApiAccount : public ApiTest {
 public:
  ApiAccount()
      : ApiTest({}, [](config::Config& c) { c.security.encryption_key = std::string(32, 'k'); }) {}

  Reply MakeKey(const Json& body) { return Ask("POST", "/account/api-keys", body); }
  std::string KeyWith(const std::vector<std::string>& scopes) {
    return MakeKey(Json{{"name", "k"}, {"scopes", scopes}}).body["key"];
  }
  // Runs `work` on eight threads at once.
  template <typename Work>
  void Together(Work work) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&] {
        store::Session session(config.database, {.name = "test"}, clock, metrics, log);
        work(session);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  static Headers By(const std::string& key) { return {{"x-api-key", key}}; }
  std::string Refusal(const Json& body) {
    const Reply reply = MakeKey(body);
    EXPECT_EQ(reply.status, 422) << body;
    return reply.raw.body;
  }
  // A dead delivery of the monitor.
  std::string NewDead(const std::string& monitor) {
    const std::string id = base::Uuid::V4().ToString();
    Sql("insert into delivery (id, org_id, monitor_id, row_id, event_group_id, type, state, "
        "available_at, attempts, endpoint_id) select '" +
        id +
        "', m.org_id, m.id, r.id, gen_random_uuid(), 0, 1, now(), 12, m.endpoint_id "
        "from monitor m join monitor_row r on r.monitor_id = m.id where m.id = '" +
        monitor + "' limit 1");
    return id;
  }
};

TEST_F(ApiAccount, AKeyIsShownOnceAndLetsItsOrganisationIn) {
  const Reply made = MakeKey(Json{{"name", "nightly"}});
  EXPECT_EQ(made.status, 201);
  const std::string key = made.body["key"];
  EXPECT_EQ(made.body["prefix"], key.substr(0, 14));
  EXPECT_EQ(made.body["scopes"].size(), domain::kKeyScopes.size());
  EXPECT_EQ(made.body["expires_at"], nullptr);
  EXPECT_EQ(Ask("GET", "/account/api-keys", By(key)).status, 200);
  const Json listed = Ask("GET", "/account/api-keys?limit=1").body;
  EXPECT_EQ(listed["api_keys"][0]["id"], made.body["id"]);
  EXPECT_FALSE(listed["api_keys"][0].contains("key"));
  const std::string next = listed["next_cursor"];
  const Json rest = Ask("GET", "/account/api-keys?cursor=" + next).body;
  EXPECT_EQ(rest["api_keys"].size(), 1U);
  EXPECT_FALSE(rest.contains("next_cursor"));
}

TEST_F(ApiAccount, ARevokedOrExpiredKeyLetsNobodyIn) {
  const Reply made = MakeKey(Json{{"name", "k"}});
  const std::string path = "/account/api-keys/" + made.body["id"].get<std::string>() + "/revoke";
  EXPECT_EQ(Ask("POST", path, Json::object(), By(made.body["key"])).body["revoked"], true);
  EXPECT_EQ(Ask("GET", "/credits", By(made.body["key"])).status, 401);
  EXPECT_EQ(Ask("POST", path, Json::object()).status, 404);
  const Reply brief = MakeKey(Json{{"name", "k"}, {"expires_at", "2126-01-01T00:00:00Z"}});
  EXPECT_EQ(brief.body["expires_at"], "2126-01-01T00:00:00.000000Z");
  EXPECT_EQ(Ask("GET", "/credits", By(brief.body["key"])).status, 200);
  Sql("update api_key set expires_at = now() where id = '" + brief.body["id"].get<std::string>() +
      "'");
  EXPECT_EQ(Ask("GET", "/credits", By(brief.body["key"])).status, 401);
}

TEST_F(ApiAccount, WhatIsWrongWithANewKeyIsNamed) {
  EXPECT_THAT(Refusal(Json::object()), HasSubstr("name"));
  EXPECT_THAT(Refusal(Json{{"name", "k"}, {"scopes", Json::array()}}), HasSubstr("at least one"));
  EXPECT_THAT(Refusal(Json{{"name", "k"}, {"scopes", {"admin"}}}), HasSubstr("scopes"));
  EXPECT_THAT(Refusal(Json{{"name", "k"}, {"expires_at", "2020-01-01T00:00:00Z"}}),
              HasSubstr("yet to come"));
  const std::string nobody = base::Uuid::V4().ToString();
  EXPECT_EQ(MakeKey(Json{{"name", "k"}, {"team_id", nobody}}).status, 404);
}

TEST_F(ApiAccount, ScopesHoldOnEveryRouteOfTheTable) {
  for (const KeyScope scope : domain::kKeyScopes) {
    const std::string key = KeyWith({std::string(domain::KeyScopeName(scope))});
    int allowed = 0;
    for (const api::Route* route : CredentialRoutes()) {
      net::ServerRequest request = BareRequest(*route);
      request.headers = {{"x-api-key", key}};
      const Reply reply = AskRaw(std::move(request));
      const bool may = api::MayUse(domain::KeyScopes{scope}, route->method, route->pattern);
      EXPECT_EQ(reply.error() != "insufficient_scope", may) << key << route->pattern;
      allowed += may ? 1 : 0;
    }
    EXPECT_GT(allowed, 0);
  }
}

TEST_F(ApiAccount, AScopeReadsWhatItIsOfAndReadChangesNothing) {
  const std::string reader = KeyWith({"read"});
  const std::string watcher = KeyWith({"monitors"});
  EXPECT_EQ(Ask("GET", "/monitors", By(reader)).status, 200);
  EXPECT_EQ(Ask("GET", "/monitors", By(watcher)).status, 200);
  const Reply refused = Ask("POST", "/monitors", GoodBody(), By(reader));
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(refused.error(), "insufficient_scope");
  EXPECT_THAT(refused.raw.body, HasSubstr("needs monitors"));
  EXPECT_EQ(Ask("POST", "/monitors", GoodBody(), By(watcher)).status, 200);
  EXPECT_EQ(Ask("GET", "/workflows", By(watcher)).error(), "insufficient_scope");
  EXPECT_EQ(Ask("GET", "/account/api-keys", By(reader)).error(), "insufficient_scope");
}

TEST_F(ApiAccount, OfManyFirstSigningSecretsAtOnceOneIsMade) {
  std::atomic<int> made{0};
  Together([&](store::Session& session) {
    const auto first = store::MakeFirstSigningSecret(
        session, clock, *base::Uuid::Parse(acme.org_id), 5, config.security, {});
    made += first.made ? 1 : 0;
  });
  EXPECT_EQ(made, 1);
  EXPECT_EQ(Sql("select count(*) from signing_secret"), "1");
}

TEST_F(ApiAccount, ManyNewKeysAtOnceAreNoMoreThanAnOrganisationMayHave) {
  Sql("insert into api_key (id, org_id, name, prefix, key_sha256) select gen_random_uuid(), '" +
      acme.org_id +
      "', 'k', 'vd_' || lpad(i::text, 8, '0'), sha256(i::text::bytea) from generate_series(1, 998) "
      "i");
  ASSERT_EQ(Sql("select count(*) from api_key"), "999");
  Together([&](store::Session& session) {
    store::NewApiKey order;
    order.name = "one more";
    store::CreateApiKey(session, clock, *base::Uuid::Parse(acme.org_id), order, {});
  });
  EXPECT_EQ(Sql("select count(*) from api_key"), "1000");
}

TEST_F(ApiAccount, ASigningSecretIsMadeOnceRolledWithAnOverlapAndRevoked) {
  const std::string path = "/account/signing-secrets";
  const Reply first = Ask("POST", path, Json::object());
  ASSERT_EQ(first.status, 201) << first.raw.body;
  const std::string secret = first.body["secret"];
  EXPECT_EQ(first.body["preview"], "sk_whsec_" + std::string(60, '.') + secret.substr(69));
  EXPECT_EQ(Ask("POST", path, Json::object()).error(), "signing_secret_exists");
  const std::string revoke = path + "/" + first.body["id"].get<std::string>() + "/revoke";
  EXPECT_EQ(Ask("POST", revoke, Json::object()).error(), "signing_secret_in_use");
  EXPECT_EQ(Ask("POST", path + "/roll", Json{{"overlap_hours", 73}}).status, 422);
  const Reply second = Ask("POST", path + "/roll", Json{{"overlap_hours", 72}});
  EXPECT_EQ(second.status, 201);
  const Json both = Ask("GET", path).body["signing_secrets"];
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[0]["retires_at"], nullptr);
  EXPECT_EQ(both[1]["preview"], first.body["preview"]);
  EXPECT_THAT(both.dump(), testing::Not(HasSubstr(secret)));
  EXPECT_EQ(Ask("POST", revoke, Json::object()).status, 200);
  EXPECT_EQ(Ask("GET", path).body["signing_secrets"].size(), 1U);
  EXPECT_EQ(Ask("POST", path + "/roll").status, 201) << "its one member has a default";
}

TEST_F(ApiAccount, EachAttemptAtADeliveryIsShownWithItsAnswerToItsOwnOrganisation) {
  const std::string id = NewDead(NewMonitor({{"webhook_url", "https://hooks.example.com/"}}));
  Sql("insert into delivery_attempt (delivery_id, attempt, attempted_at, org_id, monitor_id, "
      "row_id, "
      "event_group_id, type, created_at, delivered, status_code, error, answer, duration_us) "
      "select id, n, now() + n * interval '1 second', org_id, monitor_id, row_id, event_group_id, "
      "type, created_at, false, 503, 'status 503', 'busy', 1500 from delivery, "
      "generate_series(1, 2) n returning 1");
  const std::string path = "/account/deliveries/" + id + "/attempts";
  const Json attempts = Ask("GET", path).body["attempts"];
  ASSERT_EQ(attempts.size(), 2U);
  EXPECT_EQ(attempts[0]["attempt"], 1);
  EXPECT_EQ(attempts[1]["status_code"], 503);
  EXPECT_EQ(attempts[1]["answer"], "busy");
  EXPECT_EQ(attempts[1]["duration_ms"], 1.5);
  EXPECT_EQ(Ask("GET", path, Headers{{"x-api-key", NewTenant("other").key}}).status, 404);
  const std::string team_key = NewKey(acme.org_id, NewTeam(acme.org_id));
  EXPECT_EQ(Ask("GET", path, Headers{{"x-api-key", team_key}}).status, 403);
}

TEST_F(ApiAccount, DeliveriesThatWereGivenUpAreListedResentAndReplayed) {
  const std::string monitor = NewMonitor({{"webhook_url", "https://hooks.example.com/"}});
  std::set<std::string> dead;
  for (int i = 0; i < 4; ++i) dead.insert(NewDead(monitor));
  const Json listed = Ask("GET", "/account/deliveries?state=dead").body["deliveries"];
  ASSERT_EQ(listed.size(), 4U);
  EXPECT_EQ(listed[0]["monitor_id"], monitor);
  const std::string path = "/account/deliveries/" + *dead.begin() + "/resend";
  EXPECT_EQ(Ask("POST", path, Json::object()).body["was"], "dead");
  const std::string replay = "/account/deliveries/replay";
  EXPECT_EQ(Ask("POST", replay, Json{{"state", "delivered"}}).status, 422);
  EXPECT_EQ(Ask("POST", replay, Json{{"max", 2}}).body["replayed"], 2);
  EXPECT_EQ(Ask("POST", replay).body["replayed"], 1) << "without a filter, and without a body";
  EXPECT_EQ(Ask("GET", "/account/deliveries?state=dead").body["deliveries"].size(), 0U);
  EXPECT_EQ(Sql("select count(*) from delivery where state = 0"), "4");
  EXPECT_THAT(Ask("GET", "/account/deliveries?state=pending").raw.body,
              HasSubstr("should be dead"));
}

TEST_F(ApiAccount, TheAuditTellsOwnChangesAndHidesTheOperatorsNameAndReason) {
  MakeKey(Json{{"name", "k"}});
  Sql("insert into audit (id, actor, action, target, org_id, reason, remote_address) values "
      "(gen_random_uuid(), 'olga', 'org.credits', 't', '" +
      acme.org_id + "', 'a secret reason', '10.1.2.3')");
  const Reply audit = Ask("GET", "/account/audit");
  ASSERT_EQ(audit.body["audit"].size(), 2U) << audit.raw.body;
  EXPECT_EQ(audit.body["audit"][0]["actor"], "operator");
  EXPECT_EQ(audit.body["audit"][1]["action"], "api_key.create");
  for (const char* hidden : {"olga", "secret reason", "10.1.2.3"}) {
    EXPECT_THAT(audit.raw.body, testing::Not(HasSubstr(hidden)));
  }
}

// An operator who acts for the organisation is one of its callers, by a name of the operator's.
TEST_F(ApiAccount, TheAuditHidesWhoOfTheOperatorsActsForTheOrganisation) {
  const auto insert = [&](const std::string& actor, const base::Uuid& principal) {
    Sql("insert into audit (id, actor, action, target, org_id, remote_address, principal_kind, "
        "principal_id) values (gen_random_uuid(), '" +
        actor + "', 'monitor.create', 't', '" + acme.org_id + "', '10.1.2.3', 3, '" +
        principal.ToString() + "')");
    const Json entry = Ask("GET", "/account/audit").body["audit"][0];
    Sql("delete from audit");
    return entry;
  };
  for (const std::string name : {"default", "olga@operator.example"}) {
    const Json entry = insert("operator " + name, api::OperatorPrincipal(name));
    EXPECT_EQ(entry["actor"], "operator");
    EXPECT_TRUE(entry["remote_address"].is_null());
  }
  const Json own = insert("operator default", base::Uuid::V4());
  EXPECT_EQ(own["actor"], "operator default") << "a subject of the identity provider's";
  EXPECT_EQ(own["remote_address"], "10.1.2.3");
}

}  // namespace
}  // namespace vedette::test
