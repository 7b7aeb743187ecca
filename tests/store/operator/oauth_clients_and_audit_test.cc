// OAuth clients, names at the identity provider, ledger and audit through the admin port.
#include <gmock/gmock.h>

#include "tests/store/support/operator_support.h"
#include "tests/support/jose.h"

namespace vedette::test {
namespace {

using base::Json;
using testing::HasSubstr;

class AdminCredentials : public AdminTest {
 public:
  const std::string org = NewOrganisation("Acme");
  const std::string path = "/admin/v1/orgs/" + org;
  const std::string clients = path + "/oauth-clients";
};

TEST_F(AdminCredentials, AClientIsMadeChangedAndDeletedAndEachIsAudited) {
  const Reply made = Ask("POST", clients, Json{{"name", "billing"}, {"reason", "asked for"}});
  ASSERT_EQ(made.status, 201) << made.raw.body;
  EXPECT_EQ(made.body["created_by"]["kind"], "operator");
  const std::string client = clients + "/" + made.body["id"].get<std::string>();
  const Reply with_key = Ask("POST", client + "/keys",
                             Json{{"public_key_pem", NewKey("P-256").PublicPem()}, {"kid", "k/1"}});
  ASSERT_EQ(with_key.status, 200) << with_key.raw.body;
  EXPECT_EQ(with_key.body["keys"][0]["algorithm"], "ES256");
  EXPECT_EQ(Ask("PATCH", client, Json{{"status", "disabled"}}).body["status"], "disabled");
  EXPECT_EQ(
      Ask("PATCH", client, Json{{"access_token_ttl_seconds", 60}}).body["access_token_ttl_seconds"],
      60);
  EXPECT_TRUE(Ask("PATCH", client, Json{{"access_token_ttl_seconds", nullptr}})
                  .body["access_token_ttl_seconds"]
                  .is_null());
  const int version = Ask("GET", client).body["token_version"];
  EXPECT_EQ(Ask("POST", client + "/revoke-tokens", Json::object()).body["token_version"],
            version + 1);
  EXPECT_EQ(Ask("DELETE", client + "/keys/k%2F1").status, 204);
  EXPECT_EQ(Ask("DELETE", client + "/keys/k%2F1").status, 404);
  EXPECT_EQ(Ask("GET", clients).body["items"].size(), 1U);
  EXPECT_EQ(Ask("DELETE", client).status, 204);
  EXPECT_EQ(Ask("GET", client).status, 404);
  EXPECT_EQ(Ask("GET", clients).body["items"], Json::array());
  const Reply audit = Ask("GET", "/admin/v1/audit?org_id=" + org + "&action=oauth_client.create");
  ASSERT_EQ(audit.body["items"].size(), 1U);
  EXPECT_EQ(audit.body["items"][0]["reason"], "asked for");
  EXPECT_TRUE(audit.body["items"][0]["principal_id"].is_null());
  EXPECT_EQ(Ask("GET", "/admin/v1/audit?org_id=" + NewOrganisation("Other")).body["items"].size(),
            1U);
}

TEST_F(AdminCredentials, WhatIsWrongWithAClientIsNamed) {
  EXPECT_EQ(Ask("POST", clients, Json::object()).status, 422);
  EXPECT_EQ(
      Ask("POST", clients, Json{{"name", "x"}, {"jwks_uri", "http://x.example"}}).body["error"],
      "invalid_jwks_uri");
  EXPECT_EQ(
      Ask("POST", clients, Json{{"name", "x"}, {"team_id", base::Uuid::V4().ToString()}}).status,
      404);
  const std::string none = "/admin/v1/orgs/" + base::Uuid::V4().ToString() + "/oauth-clients";
  EXPECT_EQ(Ask("GET", none).status, 404);
  EXPECT_EQ(Ask("POST", none, Json{{"name", "x"}}).status, 404);
  EXPECT_EQ(Ask("PATCH", clients + "/" + base::Uuid::V4().ToString(), Json{{"name", "y"}}).status,
            404);
  const Reply leaked = Ask("POST", clients + "/" + base::Uuid::V4().ToString() + "/keys",
                           Json{{"public_key_pem", PrivatePem("P-256")}});
  EXPECT_THAT(leaked.raw.body, HasSubstr("leaked"));
}

TEST_F(AdminCredentials, TheOperatorValidatesTheKeysThatAClientPublishes) {
  const std::string url = "https://client.example/jwks.json";
  const std::string id =
      Ask("POST", clients, Json{{"name", "billing"}, {"jwks_uri", url}}).body["id"];
  const std::string validation = clients + "/" + id + "/validate-jwks";
  key_fetcher.outcome = {rest::KeyFetcher::Outcome::Kind::kCame,
                         R"({"keys":[{"kty":"oct","k":"AAAA","kid":"o"}]})"};
  for (int i = 1; i <= 2; ++i) {
    const Reply reply = Ask("POST", validation, Json{{"reason", "ticket 7"}});
    ASSERT_EQ(reply.status, 200) << reply.raw.body;
    EXPECT_EQ(reply.body["valid"], false);
    EXPECT_EQ(reply.body["keys"][0]["kid"], "o");
    EXPECT_EQ(reply.body["keys"][0]["usable"], false);
    EXPECT_EQ(reply.body["error"], "no key of the set can be used");
    EXPECT_EQ(key_fetcher.fetches, i) << "it is fetched now, whenever the last fetch was";
  }
  EXPECT_EQ(key_fetcher.last_url, url);
  EXPECT_EQ(key_fetcher.last_org.ToString(), org);
  key_fetcher.outcome = {rest::KeyFetcher::Outcome::Kind::kFailed, "connect: nobody listens"};
  EXPECT_EQ(Ask("POST", validation).body["error"], "connect: nobody listens");
  EXPECT_EQ(Ask("GET", clients + "/" + id).body["jwks_last_error"], "connect: nobody listens");
  key_fetcher.outcome = {rest::KeyFetcher::Outcome::Kind::kBusy, "too many fetches"};
  EXPECT_EQ(Ask("POST", validation).status, 503);
  EXPECT_EQ(Sql("select count(*) || max(reason) from audit where action = "
                "'oauth_client.validate_keys' and target = '" +
                id + "' and org_id = '" + org + "'"),
            "4ticket 7");
  const std::string uploads = Ask("POST", clients, Json{{"name", "u"}}).body["id"];
  EXPECT_EQ(Ask("POST", clients + "/" + uploads + "/validate-jwks").body["error"],
            "client_has_no_jwks_uri");
  const std::string other = "/admin/v1/orgs/" + NewOrganisation("Other");
  EXPECT_EQ(Ask("POST", other + "/oauth-clients/" + id + "/validate-jwks").status, 404);
  EXPECT_EQ(key_fetcher.fetches, 4);
}

TEST_F(AdminCredentials, LiveSessionsAreListedNewestFirstByPageAndByUser) {
  const auto open = [&](const char* user) {
    return Ask("POST", path + "/sessions", Json{{"user_id", user}}).body["id"].get<std::string>();
  };
  const std::string first = open("ada");
  const std::string second = open("bob");
  const std::string third = open("ada");
  const Reply page = Ask("GET", path + "/sessions?limit=2");
  ASSERT_EQ(page.body["items"].size(), 2U) << page.raw.body;
  EXPECT_EQ(page.body["items"][0]["id"], third);
  EXPECT_EQ(page.body["items"][0]["user_id"], "ada");
  EXPECT_TRUE(page.body["items"][0]["team_id"].is_null());
  EXPECT_TRUE(page.body["items"][0]["expires_at"].is_string());
  EXPECT_EQ(page.raw.body.find("vd_ses_"), std::string::npos) << "no token is shown again";
  EXPECT_EQ(page.body["items"][1]["id"], second);
  const std::string cursor = page.body["next_cursor"];
  const Reply rest = Ask("GET", path + "/sessions?limit=2&cursor=" + cursor);
  ASSERT_EQ(rest.body["items"].size(), 1U);
  EXPECT_EQ(rest.body["items"][0]["id"], first);
  EXPECT_FALSE(rest.body.contains("next_cursor"));
  EXPECT_EQ(Ask("GET", path + "/sessions?user_id=bob").body["items"].size(), 1U);
  EXPECT_EQ(Ask("GET", path + "/sessions?user_id=eve").body["items"], Json::array());
  EXPECT_EQ(Ask("DELETE", path + "/sessions/" + third, Json{{"reason", "left"}}).status, 204);
  Sql("update access_token set expires_at = now() where id = '" + second + "'");
  const Reply live = Ask("GET", path + "/sessions");
  ASSERT_EQ(live.body["items"].size(), 1U) << "what has ended or expired is gone";
  EXPECT_EQ(live.body["items"][0]["id"], first);
  const std::string other = "/admin/v1/orgs/" + NewOrganisation("Other");
  EXPECT_EQ(Ask("GET", other + "/sessions").body["items"], Json::array());
  EXPECT_EQ(Ask("GET", other + "/sessions?cursor=" + cursor).status, 400);
  EXPECT_EQ(Ask("GET", "/admin/v1/orgs/" + base::Uuid::V4().ToString() + "/sessions").status, 404);
  EXPECT_EQ(Sql("select reason from audit where action = 'session.end'"), "left");
}

TEST_F(AdminCredentials, AnOrganisationHasOneNameAtTheIdentityProviderAndNoOtherHasIt) {
  EXPECT_TRUE(Ask("GET", path).body["external_id"].is_null());
  EXPECT_EQ(Ask("PATCH", path, Json{{"external_id", "tenant-7"}}).body["external_id"], "tenant-7");
  EXPECT_EQ(Ask("PATCH", path, Json{{"external_id", "tenant-7"}}).status, 200) << "it is its own";
  const std::string other = "/admin/v1/orgs/" + NewOrganisation("Other");
  const Reply taken = Ask("PATCH", other, Json{{"external_id", "tenant-7"}});
  EXPECT_EQ(taken.status, 409);
  EXPECT_EQ(taken.body["error"], "external_id_taken");
  EXPECT_EQ(Ask("PATCH", path, Json{{"external_id", "x"}, {"locked", true}}).status, 422);
  EXPECT_EQ(Ask("GET", "/admin/v1/orgs?q=TENANT-7").body["items"][0]["id"], org);
  EXPECT_TRUE(Ask("PATCH", path, Json{{"external_id", nullptr}}).body["external_id"].is_null());
  EXPECT_EQ(Ask("PATCH", other, Json{{"external_id", "tenant-7"}}).status, 200);
}

TEST_F(AdminCredentials, WhatIsReservedIsShownByWhatHoldsIt) {
  const std::string reservations = path + "/reservations";
  EXPECT_EQ(Ask("GET", reservations).body, (Json{{"reserved", 0},
                                                 {"checks", Json::array()},
                                                 {"jobs", Json::array()},
                                                 {"job_count", 0},
                                                 {"jobs_reserved", 0}}));
  Sql("insert into chunk (id, org_id, tier, available_at, monitor_ids, tick_ids, firsts, ends, "
      "due_at, row_count, reserved_mc, price_mc, month) values (gen_random_uuid(), '" +
      org + "', 2, now(), '{}', '{}', '{}', '{}', now(), 1, 750, 750, '2026-11-01')");
  const Reply held = Ask("GET", reservations);
  EXPECT_EQ(held.body["checks"], Json::array({Json{{"tier", "medium"}, {"reserved", 0.75}}}));
  EXPECT_EQ(held.body["reserved"], Ask("GET", path).body["reserved"]);
  const std::string nobody = "/admin/v1/orgs/" + base::Uuid::V4().ToString();
  EXPECT_EQ(Ask("GET", nobody + "/reservations").status, 404);
}

TEST_F(AdminCredentials, TheLedgerIsThatOfTheApi) {
  EXPECT_EQ(Ask("POST", path + "/credits", Json{{"amount", 10}, {"reason", "=trial"}}).status, 200);
  EXPECT_EQ(Ask("GET", path + "/ledger").body["lines"], Json::array()) << "it is too young";
  Sql("update credit_entry set created_at = '2026-10-05T00:00:00Z'");
  const Reply page = Ask("GET", path + "/ledger?month=2026-10");
  EXPECT_EQ(page.body["lines"][0]["reason"], "=trial");
  EXPECT_EQ(page.body["closing"], Ask("GET", path).body["balance"]);
  const Reply csv = Ask("GET", path + "/ledger?month=2026-10&format=csv");
  EXPECT_THAT(csv.raw.body, HasSubstr(",booking,10,10,0,,,,'=trial\r\n"));
  EXPECT_EQ(Ask("GET", path + "/ledger?limit=x").status, 422);
  EXPECT_EQ(Ask("GET", "/admin/v1/orgs/" + base::Uuid::V4().ToString() + "/ledger").status, 404);
}

}  // namespace
}  // namespace vedette::test
