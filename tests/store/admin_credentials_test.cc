// OAuth clients, names at the identity provider, ledger and audit through the admin port.
#include <gmock/gmock.h>

#include "tests/store/admin_support.h"
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
