#include <map>
#include <string>
#include <thread>

#include "base/crypto.h"
#include "config/auth_config.h"
#include "config/security_config.h"
#include "store/accounts/auth.h"
#include "store/accounts/signing_secrets.h"
#include "tests/store/support/neighbour.h"
#include "tests/store/support/operator_support.h"

// Organisations, credits, teams, keys and secrets through the admin port.
namespace vedette::test {
namespace {

using Accounts = AdminTest;
using base::Json;

TEST_F(Accounts, AnOrganisationIsMadeWithAnEmptyAccountAndShown) {
  const Reply made = Ask("POST", "/admin/v1/orgs",
                         Object({{"name", "Acme"}, {"features", {"high_tier", "monitors"}}}));
  ASSERT_EQ(made.status, 201) << made.raw.body;
  EXPECT_FALSE(made.body.contains("warnings"));
  const auto id = made.body["id"].get<std::string>();
  const Reply shown = Ask("GET", "/admin/v1/orgs/" + id);
  EXPECT_EQ(shown.status, 200);
  EXPECT_EQ(shown.body["id"], id);
  EXPECT_EQ(shown.body["name"], "Acme");
  EXPECT_EQ(shown.body["locked"], false);
  EXPECT_EQ(shown.body["features"], Json::array({"high_tier", "monitors"}));
  for (const char* money : {"balance", "reserved", "charged"}) EXPECT_EQ(shown.body[money], 0);
  EXPECT_EQ(shown.body["teams"], Json::array());
}

TEST_F(Accounts, FeaturesDefaultToNone) {
  const Reply made = Ask("POST", "/admin/v1/orgs", Object({{"name", "Acme"}}));
  EXPECT_EQ(made.body["warnings"].size(), 1U) << "it can make no monitor";
  const Reply shown = Ask("GET", "/admin/v1/orgs/" + made.body["id"].get<std::string>());
  EXPECT_EQ(shown.body["features"], Json::array());
}

TEST_F(Accounts, OrganisationsAreListedNewestFirstByPagesAndFoundByNameAndId) {
  std::vector<std::string> ids;
  for (const char* name : {"Alpha", "Beta 50%", "Gamma"}) {
    ids.push_back(NewOrganisation(name));
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // ids sort by the millisecond
  }
  const Reply first = Ask("GET", "/admin/v1/orgs?limit=2");
  ASSERT_EQ(first.body["items"].size(), 2U);
  EXPECT_EQ(first.body["items"][0]["id"], ids[2]);
  EXPECT_EQ(first.body["items"][1]["id"], ids[1]);
  const Reply second =
      Ask("GET", "/admin/v1/orgs?limit=2&cursor=" + first.body["next_cursor"].get<std::string>());
  ASSERT_EQ(second.body["items"].size(), 1U);
  EXPECT_EQ(second.body["items"][0]["id"], ids[0]);
  EXPECT_FALSE(second.body.contains("next_cursor"));

  EXPECT_EQ(Ask("GET", "/admin/v1/orgs?q=gAm").body["items"][0]["id"], ids[2]);
  EXPECT_EQ(Ask("GET", "/admin/v1/orgs?q=50%25").body["items"].size(), 1U);
  EXPECT_EQ(Ask("GET", "/admin/v1/orgs?q=%25").body["items"].size(), 1U);
  EXPECT_EQ(Ask("GET", "/admin/v1/orgs?q=" + ids[0]).body["items"][0]["id"], ids[0]);
  EXPECT_EQ(Ask("GET", "/admin/v1/orgs?cursor=zz").status, 400);
}

TEST_F(Accounts, CreditsChangeBalanceAndLedgerTogether_G4) {
  const std::string org = NewOrganisation();
  const std::string path = "/admin/v1/orgs/" + org + "/credits";
  const Reply added = Ask("POST", path, Object({{"amount", 10.5}, {"reason", "invoice 7"}}));
  EXPECT_EQ(added.status, 200);
  EXPECT_EQ(base::DumpJson(added.body), R"({"balance":10.5})");
  const Reply taken = Ask("POST", path, Object({{"amount", -0.501}, {"reason", "correction"}}));
  EXPECT_EQ(taken.body["balance"], 9.999);
  EXPECT_EQ(Sql("select sum(amount_mc) - (select balance_mc from account) from credit_entry"), "0");
  EXPECT_EQ(Sql("select string_agg(reason, ', ' order by id) from credit_entry"),
            "invoice 7, correction");
}

TEST_F(Accounts, ABalanceNeverBecomesNegative_G4) {
  const std::string org = NewOrganisation();
  const std::string path = "/admin/v1/orgs/" + org + "/credits";
  Ask("POST", path, Object({{"amount", 1}, {"reason", "r"}}));
  const Reply refused = Ask("POST", path, Object({{"amount", -1.001}, {"reason", "r"}}));
  EXPECT_EQ(refused.status, 409);
  EXPECT_EQ(refused.body["error"], "insufficient_balance");
  EXPECT_EQ(Ask("GET", "/admin/v1/orgs/" + org).body["balance"], 1);
  EXPECT_EQ(Sql("select count(*) from credit_entry"), "1");
  EXPECT_EQ(Sql("select count(*) from audit where action = 'org.credits'"), "1");
}

TEST_F(Accounts, WithdrawalsAtTheSameTimeDoNotOverdraw_G4) {
  const std::string org = NewOrganisation();
  const std::string path = "/admin/v1/orgs/" + org + "/credits";
  Ask("POST", path, Object({{"amount", 5}, {"reason", "r"}}));
  std::atomic<int> done{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 10; ++i) {
    threads.emplace_back([&] {
      const Reply reply = Ask("POST", path, Object({{"amount", -1}, {"reason", "r"}}));
      if (reply.status == 200) ++done;
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(done, 5);
  EXPECT_EQ(Sql("select balance_mc from account"), "0");
  EXPECT_EQ(Sql("select sum(amount_mc) from credit_entry"), "0");
}

// `charged` is what was booked less what is left, which is the sum of the charges because money
// adds up (G4).
TEST_F(Accounts, ReservedAndChargedComeFromChunksAndTheLedger) {
  const std::string org = NewOrganisation();
  Sql("insert into credit_entry (org_id, amount_mc, reason) values ('" + org + "', 10000, 'x')");
  Sql("update account set balance_mc = 10000 - 3000 - 500 - 2500 where org_id = '" + org + "'");
  Sql("insert into chunk (id, org_id, tier, available_at, monitor_ids, tick_ids, firsts, ends, "
      "due_at,"
      " row_count, reserved_mc, price_mc, month) values (gen_random_uuid(), '" +
      org + "', 1, now(), '{}', '{}', '{}', '{}', now(), 3, 2500, 1000, '2026-11-01')");
  Sql("insert into credit_entry (org_id, amount_mc, checks, tier) values ('" + org +
      "', -3000, 3, 1)");
  Sql("insert into credit_entry (org_id, amount_mc, reason) values ('" + org + "', -500, 'x')");
  const Reply shown = Ask("GET", "/admin/v1/orgs/" + org);
  EXPECT_EQ(shown.body["reserved"], 2.5);
  EXPECT_EQ(shown.body["charged"], 3);
}

TEST_F(Accounts, TeamsAreMadeChangedAndShownWithWhatTheySpentThisMonth) {
  const std::string org = NewOrganisation();
  const std::string path = "/admin/v1/orgs/" + org + "/teams";
  const Reply made = Ask("POST", path, Object({{"name", "red"}, {"spend_limit", 2.5}}));
  ASSERT_EQ(made.status, 201);
  const auto team = made.body["id"].get<std::string>();
  Sql("insert into team_spend values ('" + team +
      "', date_trunc('month', now() at time zone 'UTC')::date, 1250),"
      " ('" +
      team + "', '2020-01-01', 99000)");
  Json shown = Ask("GET", "/admin/v1/orgs/" + org).body["teams"][0];
  EXPECT_EQ(base::DumpJson(shown),
            "{\"id\":\"" + team + "\",\"name\":\"red\",\"spend_limit\":2.5,\"spent\":1.25}");

  const Reply renamed = Ask("PATCH", path + "/" + team, Object({{"name", "blue"}}));
  EXPECT_EQ(renamed.status, 200);
  EXPECT_EQ(renamed.body["name"], "blue");
  EXPECT_EQ(renamed.body["spend_limit"], 2.5) << "absent means unchanged";
  const Reply lifted = Ask("PATCH", path + "/" + team, Object({{"spend_limit", nullptr}}));
  EXPECT_EQ(lifted.body["spend_limit"], nullptr);
  EXPECT_EQ(Ask("PATCH", path + "/" + team, Json::object()).status, 422);
}

TEST_F(Accounts, ATeamOfAnotherOrganisationIsNotFound_G8) {
  const std::string org = NewOrganisation();
  const std::string other = NewOrganisation();
  const Reply made = Ask("POST", "/admin/v1/orgs/" + org + "/teams", Object({{"name", "red"}}));
  const auto team = made.body["id"].get<std::string>();
  EXPECT_EQ(
      Ask("PATCH", "/admin/v1/orgs/" + other + "/teams/" + team, Object({{"name", "x"}})).status,
      404);
  EXPECT_EQ(Ask("POST", "/admin/v1/orgs/" + other + "/api-keys",
                Object({{"name", "k"}, {"team_id", team}}))
                .status,
            404);
  EXPECT_EQ(Sql("select count(*) from api_key"), "0");
}

TEST_F(Accounts, AnInvitationIsForAnAddressThatCanSignIn) {
  const std::string path = "/admin/v1/orgs/" + NewOrganisation() + "/invitations";
  for (const char* email : {" ada@example.com", "Ada <ada@x.example>", "<ada@x.example>",
                            "ada@example.com\n", "@", "a@", "@example.com", "ada"}) {
    EXPECT_EQ(Ask("POST", path, Object({{"email", email}, {"role", "owner"}})).status, 422)
        << email;
  }
}

TEST_F(Accounts, ATeamIsDeletedOnceNothingOfItLives) {
  const std::string org = NewOrganisation();
  const std::string path = "/admin/v1/orgs/" + org;
  const auto team = Ask("POST", path + "/teams", Object({{"name", "red"}})).body["id"];
  const std::string at = path + "/teams/" + team.get<std::string>();
  const Reply key = Ask("POST", path + "/api-keys", Object({{"name", "k"}, {"team_id", team}}));
  const std::string other = NewOrganisation();
  EXPECT_EQ(Ask("DELETE", "/admin/v1/orgs/" + other + "/teams/" + team.get<std::string>()).status,
            404);
  EXPECT_EQ(Ask("DELETE", at).status, 409) << "its key could make nothing any more";
  EXPECT_EQ(Ask("GET", path).body["teams"].size(), 1U);
  EXPECT_EQ(Ask("DELETE", path + "/api-keys/" + key.body["id"].get<std::string>()).status, 204);
  const std::string of_team = "'" + org + "', '" + team.get<std::string>() + "'";
  Sql("insert into org_user (user_id, org_id, team_id) values ('ann', " + of_team + ")");
  const Reply member = Ask("DELETE", at);
  EXPECT_EQ(member.status, 409) << "ann would be nowhere";
  EXPECT_NE(member.raw.body.find("members, invitations"), std::string::npos) << member.raw.body;
  Sql("delete from org_user");
  EXPECT_EQ(Ask("DELETE", at).status, 204);
  EXPECT_EQ(Ask("GET", path).body["teams"], Json::array());
  EXPECT_EQ(Ask("DELETE", at).status, 404);
  EXPECT_EQ(Ask("PATCH", at, Object({{"name", "x"}})).status, 404);
  EXPECT_EQ(Ask("POST", path + "/api-keys", Object({{"name", "k"}, {"team_id", team}})).status,
            404);
  EXPECT_EQ(Sql("select count(*) from audit where action = 'team.delete'"), "1");
}

TEST_F(Accounts, NothingIsMadeForATeamThatIsBeingDeleted) {
  config.dashboard.enabled = true;
  const std::string path = "/admin/v1/orgs/" + NewOrganisation();
  const std::map<std::string, Json> made{
      {"/api-keys", Object({{"name", "k"}})},
      {"/sessions", Object({{"user_id", "ada"}})},
      {"/invitations", Object({{"email", "ada@example.com"}, {"role", "member"}})}};
  for (const auto& [route, what] : made) {
    const auto team = Ask("POST", path + "/teams", Object({{"name", route}})).body["id"];
    Json body = what;
    body["team_id"] = team;
    const Reply refused = CallBeside(
        database.url(),
        "update team set deleted_at = now() where id = '" + team.get<std::string>() + "'",
        [&] { return Ask("POST", path + route, body); });
    EXPECT_EQ(refused.status, 404) << route << refused.raw.body;
    body["team_id"] = Ask("POST", path + "/teams", Object({{"name", route}})).body["id"];
    EXPECT_EQ(Ask("POST", path + route, body).status, 201) << route;
  }
}

TEST_F(Accounts, ATeamForWhichSomethingIsBeingMadeIsNotDeleted) {
  const std::string org = NewOrganisation();
  const auto team = Ask("POST", "/admin/v1/orgs/" + org + "/teams", Object({{"name", "red"}}))
                        .body["id"]
                        .get<std::string>();
  const Reply refused = CallBeside(
      database.url(),
      "select from team for share; insert into api_key (id, org_id, team_id, name, prefix, "
      "key_sha256) values (gen_random_uuid(), '" +
          org + "', '" + team + "', 'k', 'p', sha256(''))",
      [&] { return Ask("DELETE", "/admin/v1/orgs/" + org + "/teams/" + team); });
  EXPECT_EQ(refused.status, 409);
  EXPECT_EQ(Sql("select count(*) from team where deleted_at is not null"), "0");
}

TEST_F(Accounts, AnApiKeyShowsWhenItWasLastUsedAndWritesThatOnceAnHour) {
  const std::string path = "/admin/v1/orgs/" + NewOrganisation() + "/api-keys";
  const auto key = Ask("POST", path, Object({{"name", "ci"}})).body["key"].get<std::string>();
  EXPECT_EQ(Ask("GET", path).body["items"][0]["last_used_at"], nullptr);
  store::Session session(config.database, {.name = "test"}, clock, metrics, log);
  ASSERT_TRUE(store::Authenticate(session, {.credential = key, .forwarded_user = {}}));
  EXPECT_TRUE(Ask("GET", path).body["items"][0]["last_used_at"].is_string());
  const std::string written = Sql("select xmin from api_key");
  ASSERT_TRUE(
      store::Authenticate(session, {.credential = key, .forwarded_user = {}, .count = true}));
  EXPECT_EQ(Sql("select xmin from api_key"), written);
  Sql("update api_key set last_used_at = now() - interval '61 minutes'");
  ASSERT_TRUE(store::Authenticate(session, {.credential = key, .forwarded_user = {}}));
  EXPECT_EQ(Sql("select last_used_at > now() - interval '1 minute' from api_key"), "t");
}

TEST_F(Accounts, AnApiKeyIsShownOnceAndStoredAsItsHash) {
  const std::string org = NewOrganisation();
  const std::string path = "/admin/v1/orgs/" + org + "/api-keys";
  const Reply made = Ask("POST", path, Object({{"name", "ci"}}));
  ASSERT_EQ(made.status, 201);
  const auto key = made.body["key"].get<std::string>();
  EXPECT_EQ(key.size(), 51U);
  EXPECT_TRUE(key.starts_with("vd_live_"));
  EXPECT_EQ(Sql("select encode(key_sha256, 'hex') from api_key"),
            base::HexEncode(base::Sha256(key)));

  const Reply listed = Ask("GET", path);
  ASSERT_EQ(listed.body["items"].size(), 1U);
  Json item = listed.body["items"][0];
  EXPECT_EQ(item["id"], made.body["id"]);
  EXPECT_EQ(item["name"], "ci");
  EXPECT_EQ(item["prefix"], key.substr(0, 14));
  EXPECT_EQ(item["team_id"], nullptr);
  EXPECT_EQ(listed.raw.body.find(key), std::string::npos);
}

TEST_F(Accounts, ARevokedKeyIsGoneFromTheListAndCannotBeRevokedAgain) {
  const std::string org = NewOrganisation();
  const std::string path = "/admin/v1/orgs/" + org + "/api-keys";
  const auto id = Ask("POST", path, Object({{"name", "ci"}})).body["id"].get<std::string>();
  const std::string other = NewOrganisation();
  EXPECT_EQ(Ask("DELETE", "/admin/v1/orgs/" + other + "/api-keys/" + id).status, 404);
  const Reply gone = Ask("DELETE", path + "/" + id);
  EXPECT_EQ(gone.status, 204);
  EXPECT_TRUE(gone.raw.body.empty());
  EXPECT_EQ(Sql("select revoked_at is not null from api_key"), "t");
  EXPECT_EQ(Ask("GET", path).body["items"].size(), 0U);
  EXPECT_EQ(Ask("DELETE", path + "/" + id).status, 404);
}

class Sessions : public AdminTest {
 protected:
  std::string LiveTokens() { return Sql("select count(*) from access_token"); }
};

TEST_F(Sessions, OneIsOfAUserWhoBecomesAMemberAndItsTokenIsStoredNowhere) {
  const std::string path = "/admin/v1/orgs/" + NewOrganisation();
  const Reply made = Ask("POST", path + "/sessions", Object({{"user_id", "ada"}, {"name", "Ada"}}));
  ASSERT_EQ(made.status, 201) << made.raw.body;
  const std::string token = made.body["token"];
  EXPECT_TRUE(token.starts_with("vd_ses_"));
  EXPECT_EQ(token.size(), 7U + 43U);
  EXPECT_EQ(Sql("select round(extract(epoch from expires_at - created_at)) from access_token"),
            "3600");
  EXPECT_EQ(Sql("select token_sha256 = sha256('" + token + "'::bytea) from access_token"), "t");
  const Reply users = Ask("GET", path + "/users");
  ASSERT_EQ(users.body["items"].size(), 1U);
  EXPECT_EQ(users.body["items"][0]["user_id"], "ada");
  EXPECT_EQ(users.body["items"][0]["name"], "Ada");
  EXPECT_EQ(users.body["items"][0]["sessions"], 1);
  EXPECT_EQ(Sql("select count(*) from audit where action = 'session.create'"), "1");
}

TEST_F(Sessions, TheyEndOneByOneAndWithTheirUserAndNotFromAnotherOrganisation) {
  const std::string path = "/admin/v1/orgs/" + NewOrganisation();
  const std::string other = "/admin/v1/orgs/" + NewOrganisation();
  const auto open = [&](const char* user) {
    return Ask("POST", path + "/sessions", Object({{"user_id", user}}))
        .body["id"]
        .get<std::string>();
  };
  const std::string first = open("ada");
  open("ada");
  open("bob");
  EXPECT_EQ(Ask("DELETE", other + "/sessions/" + first).status, 404);
  EXPECT_EQ(Ask("DELETE", path + "/sessions/" + first).status, 204);
  EXPECT_EQ(Ask("DELETE", path + "/sessions/" + first).status, 404);
  EXPECT_EQ(LiveTokens(), "2");
  EXPECT_EQ(Ask("DELETE", other + "/users/ada").status, 404);
  EXPECT_EQ(Ask("DELETE", path + "/users/ada").status, 204);
  EXPECT_EQ(LiveTokens(), "1");
  EXPECT_EQ(Ask("GET", path + "/users?limit=1").body["items"][0]["user_id"], "bob");
}

TEST_F(Sessions, TheLastOwnerStays) {
  const std::string id = NewOrganisation();
  const std::string users = "/admin/v1/orgs/" + id + "/users/";
  Sql("insert into org_user (org_id, user_id, role) values ('" + id +
      "', 'eve@example.com', 2), ('" + id + "', 'bob@example.com', 1) returning 1");
  EXPECT_EQ(Ask("DELETE", users + "eve%40example.com").body["error"], "last_owner");
  EXPECT_EQ(Ask("DELETE", users + "bob%40example.com").status, 204);
  Sql("update org_user set role = 1 returning 1");
  EXPECT_EQ(Ask("DELETE", users + "eve%40example.com").status, 204);
}

TEST_F(Sessions, TheirLengthTeamAndUserAreChecked) {
  const std::string org = NewOrganisation();
  const std::string path = "/admin/v1/orgs/" + org + "/sessions";
  for (const Json& bad :
       {Object({}), Object({{"user_id", " "}}), Object({{"user_id", std::string(201, 'u')}}),
        Object({{"user_id", "a"}, {"ttl_s", 59}}), Object({{"user_id", "a"}, {"ttl_s", 86401}})}) {
    EXPECT_EQ(Ask("POST", path, bad).status, 422) << bad;
  }
  const Json foreign = Object({{"user_id", "a"}, {"team_id", base::Uuid::V4().ToString()}});
  EXPECT_EQ(Ask("POST", path, foreign).status, 404);
  const std::string nobody = "/admin/v1/orgs/" + base::Uuid::V4().ToString();
  EXPECT_EQ(Ask("POST", nobody + "/sessions", Object({{"user_id", "a"}})).status, 404);
  EXPECT_EQ(Ask("GET", nobody + "/users").status, 404);
  EXPECT_EQ(LiveTokens(), "0");
}

class Secrets : public AdminTest {
 protected:
  std::string Rotate(const std::string& org, const Json& overlap_hours) {
    const Reply reply = Ask("POST", "/admin/v1/orgs/" + org + "/signing-secrets/rotate",
                            Object({{"overlap_hours", overlap_hours}}));
    EXPECT_EQ(reply.status, 200) << reply.raw.body;
    return reply.body["secret"].get<std::string>();
  }

  store::OrgSecrets Read(const std::string& org, const config::SecurityConfig& security) {
    store::Session session(config.database, {.name = "test"}, clock, metrics, log);
    const auto id = *base::Uuid::Parse(org);
    return store::ReadSigningSecrets(session, {id}, security).at(id);
  }
  store::OrgSecrets Read(const std::string& org) { return Read(org, config.security); }
};

TEST_F(Secrets, AnOrganisationWithoutASecretIsNotConfigured) {
  const store::OrgSecrets found = Read(NewOrganisation());
  EXPECT_FALSE(found.configured);
  EXPECT_TRUE(found.secrets.empty());
}

TEST_F(Secrets, RotationKeepsTheFormerOnesForTheOverlapNewestFirst) {
  const std::string org = NewOrganisation();
  const std::string first = Rotate(org, 0);
  EXPECT_EQ(first.size(), 9U + 64U);
  EXPECT_TRUE(first.starts_with("sk_whsec_"));
  const std::string second = Rotate(org, 24);
  const store::OrgSecrets found = Read(org);
  EXPECT_TRUE(found.configured);
  EXPECT_TRUE(found.readable);
  EXPECT_EQ(found.secrets, (std::vector<std::string>{second, first}));
  EXPECT_EQ(
      Sql("select count(*) from signing_secret where position('sk_whsec'::bytea in sealed) > 0"),
      "0");
}

TEST_F(Secrets, AnOverlapOfZeroRetiresEveryFormerOneAtOnce) {
  const std::string org = NewOrganisation();
  Rotate(org, 0);
  Rotate(org, 24);
  const std::string last = Rotate(org, 0);
  EXPECT_EQ(Read(org).secrets, std::vector<std::string>{last});
}

TEST_F(Secrets, ALaterRotationDoesNotProlongAnEarlierEnd) {
  const std::string org = NewOrganisation();
  Rotate(org, 0);
  Rotate(org, 1);
  const std::string before = Sql("select min(retires_at) from signing_secret");
  Rotate(org, 48);
  EXPECT_EQ(Sql("select min(retires_at) from signing_secret"), before);
}

TEST_F(Secrets, OfMoreThanFiveTheOldestRetires) {
  const std::string org = NewOrganisation();
  std::vector<std::string> newest_first;
  for (int i = 0; i < 7; ++i) newest_first.insert(newest_first.begin(), Rotate(org, 24));
  newest_first.resize(5);
  EXPECT_EQ(Read(org).secrets, newest_first);
}

TEST_F(Secrets, RotationsAtTheSameTimeLeaveOneCurrentSecret) {
  const std::string org = NewOrganisation();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&] { Rotate(org, 24); });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(Sql("select count(*) from signing_secret where retires_at is null"), "1");
  EXPECT_EQ(Read(org).secrets.size(), 4U);
}

TEST_F(Secrets, ASecretSealedUnderAFormerKeyIsReadAndUnderALostOneFailsClosed) {
  const std::string org = NewOrganisation();
  const std::string secret = Rotate(org, 0);
  config::SecurityConfig rotated{std::string(32, 'n'), {config.security.encryption_key}};
  EXPECT_EQ(Read(org, rotated).secrets, std::vector<std::string>{secret});
  rotated.encryption_keys_old.clear();
  const store::OrgSecrets lost = Read(org, rotated);
  EXPECT_TRUE(lost.configured);
  EXPECT_FALSE(lost.readable);
}

TEST_F(Secrets, TheyAreListedMaskedNewestFirst) {
  const std::string org = NewOrganisation();
  const std::string path = "/admin/v1/orgs/" + org + "/signing-secrets";
  EXPECT_EQ(Ask("GET", path).body["items"], Json::array());
  const std::string first = Rotate(org, 0);
  const std::string second = Rotate(org, 24);
  const Reply listed = Ask("GET", path);
  ASSERT_EQ(listed.body["items"].size(), 2U) << listed.raw.body;
  const Json& current = listed.body["items"][0];
  EXPECT_EQ(current["preview"], "sk_whsec_" + std::string(60, '.') + second.substr(69));
  EXPECT_EQ(current["retires_at"], nullptr);
  EXPECT_EQ(current["live"], true);
  EXPECT_EQ(current["encryption_key_id"], store::EncryptionKeyId(config.security.encryption_key));
  EXPECT_TRUE(listed.body["items"][1]["retires_at"].is_string());
  EXPECT_EQ(listed.raw.body.find(first), std::string::npos);
  Sql("update signing_secret set encryption_key_id = 'another'");
  EXPECT_EQ(Ask("GET", path).body["items"][0]["preview"], nullptr);
  EXPECT_EQ(Ask("GET", "/admin/v1/orgs/" + base::Uuid::V4().ToString() + "/signing-secrets").status,
            404);
}

TEST_F(Secrets, KeysOfLiveSecretsAreCountedAndSayWhetherTheyAreThere) {
  const std::string org = NewOrganisation();
  Rotate(org, 0);
  Rotate(org, 24);
  const std::string present = store::EncryptionKeyId(config.security.encryption_key);
  const auto keys = [this] { return Ask("GET", "/admin/v1/signing-secrets/keys").body["items"]; };
  ASSERT_EQ(keys().size(), 1U);
  EXPECT_EQ(keys()[0]["id"], present);
  EXPECT_EQ(keys()[0]["place"], "encryption_key");
  EXPECT_EQ(keys()[0]["live_secrets"], 2);
  EXPECT_EQ(keys()[0]["organisations"], 1);
  Sql("update signing_secret set encryption_key_id = 'lost' where retires_at is null");
  ASSERT_EQ(keys().size(), 2U);
  EXPECT_EQ(keys()[1]["place"], "not configured here");
  EXPECT_EQ(keys()[1]["live_secrets"], 1);
}

TEST_F(Secrets, ResealedOnesAreTheSameUnderTheNewKeyAlone) {
  const std::string org = NewOrganisation();
  const std::string first = Rotate(org, 0);
  const std::string second = Rotate(org, 24);
  const config::SecurityConfig both{std::string(32, 'n'), {config.security.encryption_key}};
  const config::SecurityConfig after{both.encryption_key, {}};
  store::Session session(config.database, {.name = "test"}, clock, metrics, log);
  const store::AuditEntry audit{.actor = "t", .action = "signing_secrets.reseal"};
  const auto done = store::ResealSigningSecrets(session, clock, both, audit);
  EXPECT_EQ(done.resealed, 2);
  EXPECT_EQ(done.unreadable, 0);
  EXPECT_TRUE(done.done);
  EXPECT_EQ(Read(org, after).secrets, (std::vector<std::string>{second, first}));
  EXPECT_EQ(store::ResealSigningSecrets(session, clock, both, audit).resealed, 0) << "done once";
  EXPECT_EQ(Sql("select count(*) from audit where action = 'signing_secrets.reseal'"), "1");
}

TEST_F(Secrets, ASecretThatCannotBeOpenedIsCountedAndLeftAlone) {
  const std::string org = NewOrganisation();
  Rotate(org, 0);
  Sql("update signing_secret set sealed = sealed || 'x'::bytea");
  const std::string before = Sql("select md5(sealed) from signing_secret");
  const config::SecurityConfig both{std::string(32, 'n'), {config.security.encryption_key}};
  store::Session session(config.database, {.name = "test"}, clock, metrics, log);
  const auto done =
      store::ResealSigningSecrets(session, clock, both, {.actor = "t", .action = "r"});
  EXPECT_EQ(done.resealed, 0);
  EXPECT_EQ(done.unreadable, 1);
  EXPECT_TRUE(done.done);
  EXPECT_EQ(Sql("select md5(sealed) from signing_secret"), before);
}

TEST_F(Secrets, WhatIsLiveUnderAKeyThatIsNotThereIsCountedAndLeavesWorkToDo) {
  Rotate(NewOrganisation(), 0);
  const auto reseal = [this] {
    return Ask("POST", "/admin/v1/signing-secrets/reseal", Object({{"reason", "r"}})).body;
  };
  EXPECT_EQ(reseal(), (base::Json{{"resealed", 0}, {"unreadable", 0}, {"done", true}}));
  Sql("update signing_secret set encryption_key_id = 'another'");
  EXPECT_EQ(reseal(), (base::Json{{"resealed", 0}, {"unreadable", 1}, {"done", false}}));
}

TEST_F(Secrets, RequestHeadersOfMonitorsAreCountedAndResealedToo) {
  const std::string org = NewOrganisation();
  const auto org_id = *base::Uuid::Parse(org);
  const std::string bound_to = store::RequestHeadersBinding(org_id);
  const auto sealed = store::Seal(config.security, R"({"Cookie":"a=b"})", bound_to);
  Sql("insert into monitor (id, org_id, name, frequency, tier, subject_type, status, key_columns, "
      "struct, request_headers, request_headers_key_id, request_header_names) values "
      "(gen_random_uuid(), '" +
      org + "', 'n', '1d', 1, 0, 2, '{k}', '{}', '\\x" + base::HexEncode(sealed.bytes) + "', '" +
      sealed.key_id + "', '{Cookie}')");
  EXPECT_EQ(Ask("GET", "/admin/v1/signing-secrets/keys").body["items"][0]["monitors"], 1);
  const config::SecurityConfig both{std::string(32, 'n'), {config.security.encryption_key}};
  store::Session session(config.database, {.name = "test"}, clock, metrics, log);
  const store::AuditEntry audit{.actor = "t", .action = "signing_secrets.reseal"};
  EXPECT_EQ(store::ResealSigningSecrets(session, clock, both, audit).resealed, 1);
  const store::Sealed now{
      base::HexDecode(Sql("select encode(request_headers, 'hex') from monitor")).value(),
      Sql("select request_headers_key_id from monitor")};
  EXPECT_EQ(now.key_id, store::EncryptionKeyId(both.encryption_key));
  EXPECT_EQ(store::OpenSealed(store::NamedKeys({both.encryption_key, {}}), now, bound_to),
            R"({"Cookie":"a=b"})");
  EXPECT_FALSE(store::OpenSealed(store::NamedKeys(both), now, "request_headers of another"));
}

TEST_F(Secrets, SecretsOfStepsAreCountedAndResealedToo) {
  const std::string org = NewOrganisation();
  const std::string bound_to = store::ProbeSecretsBinding(*base::Uuid::Parse(org));
  const auto sealed = store::Seal(config.security, R"({"pw":"a"})", bound_to);
  Sql("with made as (insert into monitor (id, org_id, name, frequency, tier, subject_type, status, "
      "key_columns, struct) values (gen_random_uuid(), '" +
      org + "', 'n', '1d', 1, 0, 2, '{k}', '{}') returning id) " +
      "insert into monitor_login (monitor_id, org_id, secrets, secrets_key_id) select id, '" + org +
      "', '\\x" + base::HexEncode(sealed.bytes) + "', '" + sealed.key_id + "' from made");
  EXPECT_EQ(Ask("GET", "/admin/v1/signing-secrets/keys").body["items"][0]["monitors"], 1);
  const config::SecurityConfig both{std::string(32, 'n'), {config.security.encryption_key}};
  store::Session session(config.database, {.name = "test"}, clock, metrics, log);
  const store::AuditEntry audit{.actor = "t", .action = "signing_secrets.reseal"};
  EXPECT_EQ(store::ResealSigningSecrets(session, clock, both, audit).resealed, 1);
  const store::Sealed now{
      base::HexDecode(Sql("select encode(secrets, 'hex') from monitor_login")).value(),
      Sql("select secrets_key_id from monitor_login")};
  EXPECT_EQ(store::OpenSealed(store::NamedKeys({both.encryption_key, {}}), now, bound_to),
            R"({"pw":"a"})");
}

TEST_F(Secrets, NothingIsResealedWithoutAFormerKey) {
  Rotate(NewOrganisation(), 0);
  const Reply reply = Ask("POST", "/admin/v1/signing-secrets/reseal", Object({{"reason", "r"}}));
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body["resealed"], 0);
  EXPECT_EQ(reply.body["done"], true);
}

TEST_F(Secrets, ASecretMovedToAnotherRowIsNotOpened) {
  const std::string org = NewOrganisation();
  Rotate(org, 0);
  Sql("update signing_secret set id = gen_random_uuid()");
  EXPECT_FALSE(Read(org).readable);
}

TEST_F(Accounts, LockingStopsAndUnlockingRestores) {
  const std::string org = NewOrganisation();
  const Reply locked =
      Ask("PATCH", "/admin/v1/orgs/" + org, Object({{"locked", true}, {"reason", "unpaid"}}));
  EXPECT_EQ(locked.status, 200);
  EXPECT_EQ(locked.body["locked"], true);
  EXPECT_EQ(locked.body["features"], Json::array({"monitors"})) << "absent means unchanged";
  const Reply changed = Ask("PATCH", "/admin/v1/orgs/" + org,
                            Object({{"locked", false}, {"features", Json::array()}}));
  EXPECT_EQ(changed.body["locked"], false);
  EXPECT_EQ(changed.body["features"], Json::array());
}

// What is wrong with a body is said before anything happens.
TEST_F(Accounts, BadInputIsRefusedAndChangesNothing) {
  const std::string org = NewOrganisation();
  const std::string base = "/admin/v1/orgs/" + org;
  const std::string long_name(201, 'x');
  struct Case {
    std::string method;
    std::string path;
    Json body;
    int status;
  };
  const std::vector<Case> cases = {
      {"POST", "/admin/v1/orgs", Json::object(), 422},
      {"POST", "/admin/v1/orgs", Object({{"name", ""}}), 422},
      {"POST", "/admin/v1/orgs", Object({{"name", long_name}}), 422},
      {"POST", "/admin/v1/orgs", Object({{"name", nullptr}}), 422},
      {"POST", "/admin/v1/orgs", Object({{"name", "a"}, {"features", {"root"}}}), 422},
      {"POST", "/admin/v1/orgs", Object({{"name", "a"}, {"features", "monitors"}}), 422},
      {"POST", "/admin/v1/orgs", Object({{"name", "a"}, {"features", {nullptr}}}), 422},
      {"POST", "/admin/v1/orgs", Object({{"name", "a"}, {"actor", "root"}}), 422},
      {"POST", "/admin/v1/orgs", Json::array(), 400},
      {"PATCH", base, Json::object(), 422},
      {"PATCH", base, Object({{"locked", "yes"}}), 422},
      {"PATCH", base, Object({{"locked", nullptr}}), 422},
      {"PATCH", base, Object({{"name", "renamed"}, {"locked", true}}), 422},
      {"POST", base + "/credits", Object({{"amount", 0}, {"reason", "r"}}), 422},
      {"POST", base + "/credits", Object({{"amount", 0.0001}, {"reason", "r"}}), 422},
      {"POST", base + "/credits", Object({{"amount", 1e15}, {"reason", "r"}}), 422},
      {"POST", base + "/credits", Object({{"amount", "1"}, {"reason", "r"}}), 422},
      {"POST", base + "/credits", Object({{"amount", 1}}), 422},
      {"POST", base + "/credits", Object({{"amount", 1}, {"reason", std::string(501, 'r')}}), 422},
      {"POST", base + "/teams", Object({{"name", "t"}, {"spend_limit", -1}}), 422},
      {"POST", base + "/teams", Object({{"name", "t"}, {"spend_limit", "1"}}), 422},
      {"POST", base + "/api-keys", Object({{"name", "k"}, {"team_id", "x"}}), 422},
      {"POST", base + "/api-keys", Object({{"name", "k"}, {"team_id", 7}}), 422},
      {"POST", base + "/signing-secrets/rotate", Json::object(), 422},
      {"POST", base + "/signing-secrets/rotate", Object({{"overlap_hours", -1}}), 422},
      {"POST", base + "/signing-secrets/rotate", Object({{"overlap_hours", 1e9}}), 422},
      {"POST", base + "/signing-secrets/rotate", Object({{"overlap_hours", "0"}}), 422},
  };
  const std::string before = Sql("select count(*) from audit");
  for (const Case& c : cases) {
    const Reply reply = Ask(c.method, c.path, c.body);
    EXPECT_EQ(reply.status, c.status) << c.method << c.path << c.body << reply.raw.body;
  }
  EXPECT_EQ(Sql("select count(*) from audit"), before);
  EXPECT_EQ(Sql("select count(*) from organisation"), "1");
}

TEST_F(Accounts, WhatDoesNotExistIsNotFound) {
  const std::string nobody = "/admin/v1/orgs/" + base::Uuid::V4().ToString();
  EXPECT_EQ(Ask("GET", nobody).status, 404);
  EXPECT_EQ(Ask("GET", "/admin/v1/orgs/not-a-uuid").status, 404);
  EXPECT_EQ(Ask("PATCH", nobody, Object({{"locked", true}})).status, 404);
  EXPECT_EQ(Ask("POST", nobody + "/credits", Object({{"amount", 1}, {"reason", "r"}})).status, 404);
  EXPECT_EQ(Ask("POST", nobody + "/teams", Object({{"name", "t"}})).status, 404);
  EXPECT_EQ(Ask("GET", nobody + "/api-keys").status, 404);
  EXPECT_EQ(Ask("POST", nobody + "/api-keys", Object({{"name", "k"}})).status, 404);
  EXPECT_EQ(Ask("POST", nobody + "/signing-secrets/rotate", Object({{"overlap_hours", 0}})).status,
            404);
  EXPECT_EQ(Sql("select count(*) from audit"), "0");
}

}  // namespace
}  // namespace vedette::test
