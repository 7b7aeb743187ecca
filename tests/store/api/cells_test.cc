// What is given out names its cell, and a request that is for another one is told which.
#include <gmock/gmock.h>

#include "base/crypto.h"
#include "tests/store/support/tenant_credentials.h"

namespace vedette::test {
namespace {

using base::Json;
using testing::HasSubstr;
using testing::StartsWith;

const std::string kTail(43, 'a');

class AtCell : public ApiCredentials {
 public:
  AtCell()
      : ApiCredentials({{"VEDETTE_CELL_ID", "c2"},
                        {"VEDETTE_DASHBOARD_ENABLED", "true"},
                        {"VEDETTE_SECURITY_ENCRYPTION_KEY", std::string(64, 'a')}}) {}

  void LivesAt(const std::string& org_id, const std::string& cell) {
    Sql("insert into cell_directory (org_id, cell) values ('" + org_id + "', '" + cell +
        "') on conflict (org_id) do update set cell = excluded.cell");
  }
  static void ExpectElsewhere(const Reply& reply, const std::string& cell) {
    EXPECT_EQ(reply.status, 421) << reply.raw.body;
    EXPECT_EQ(reply.error(), "wrong_cell");
    EXPECT_EQ(reply.body["cell"], cell);
    EXPECT_EQ(reply.Header("X-Cell"), cell.empty() ? "-" : cell);
  }
};

TEST_F(AtCell, KeysTokensInvitationsLinksAndCursorsNameIt) {
  const Reply made = Ask("POST", "/account/api-keys", Json{{"name", "k"}});
  ASSERT_EQ(made.status, 201) << made.raw.body;
  const std::string key = made.body["key"];
  EXPECT_THAT(key, StartsWith("vd_live_c2_"));
  EXPECT_EQ(made.body["prefix"], key.substr(0, key.size() - 37));
  EXPECT_EQ(Ask("GET", "/credits", Headers{{"x-api-key", key}}).status, 200);

  const std::string token = NewToken(NewClient());
  EXPECT_THAT(token, StartsWith("vd_at_c2_"));
  EXPECT_EQ(Ask("GET", "/credits", Bearer(token)).status, 200);

  const Reply invited =
      Ask("POST", "/account/invitations", Json{{"email", "ada@example.com"}, {"role", "owner"}});
  ASSERT_EQ(invited.status, 201) << invited.raw.body;
  EXPECT_THAT(invited.body["link"].get<std::string>(),
              HasSubstr("/dashboard?cell=c2#/invitation/vd_inv_c2_"));

  for (const char* name : {"a", "b"}) NewMonitor({{"name", name}});
  const Reply page = Ask("GET", "/monitors?limit=1");
  const std::string cursor = page.body["next_cursor"];
  EXPECT_THAT(cursor, StartsWith("c2."));
  EXPECT_EQ(Ask("GET", "/monitors?limit=1&cursor=" + cursor).body["monitors"][0]["name"], "a");
}

TEST_F(AtCell, AKeyATokenASessionAndALinkOfAnotherCellAre421) {
  ExpectElsewhere(Ask("GET", "/monitors", Headers{{"x-api-key", "vd_live_c3_" + kTail}}), "c3");
  ExpectElsewhere(Ask("GET", "/monitors", Headers{{"x-api-key", "vd_live_" + kTail}}), "");
  ExpectElsewhere(Ask("GET", "/monitors", Bearer("vd_at_c3_" + kTail)), "c3");
  ExpectElsewhere(Ask("GET", "/monitors", Bearer("vd_ses_c3_" + kTail)), "c3");
  net::ServerRequest browser;
  browser.method = "GET";
  browser.path = browser.target = "/dashboard/session";
  browser.headers = {{"cookie", "__Host-vedette=vd_ses_c3_" + kTail}};
  ExpectElsewhere(AskRaw(std::move(browser)), "c3");
  const std::string id = base::Uuid::V4().ToString();
  ExpectElsewhere(Ask("GET", "/mail-addresses/" + id + "?token=x&cell=c3"), "c3");
  ExpectElsewhere(Ask("GET", "/channels/" + id + "/feed.atom?token=x&cell=c3"), "c3");
  EXPECT_EQ(Ask("GET", "/monitors?cursor=c3.AbCd").error(), "invalid_cursor")
      << "a good key is at the right cell, whatever list it asks for";
  ExpectElsewhere(Ask("GET", "/monitors", Headers{{"x-api-key", acme.key}, {"x-cell", "c3"}}),
                  "c3");
  ExpectElsewhere(Ask("POST", "/dashboard/invitation", Json{{"token", "vd_inv_c3_" + kTail}}),
                  "c3");
  // The first one has a word, which leads away from a cell whose cookie or key is shown, too.
  ExpectElsewhere(Ask("GET", "/monitors", Headers{{"x-api-key", acme.key}, {"x-cell", "-"}}), "");
  ExpectElsewhere(Ask("GET", "/mail-addresses/" + id + "?token=x&cell=-"), "");
  // What names this one and is not good is a 401, as ever.
  EXPECT_EQ(Ask("GET", "/monitors", Headers{{"x-api-key", "vd_live_c2_" + kTail}}).status, 401);
  EXPECT_EQ(Ask("GET", "/mail-addresses/" + id + "?token=x&cell=c2").status, 404);
}

TEST_F(AtCell, AnOrganisationThatHasComeHereBringsItsKeysAndCursors) {
  // acme's key is one of the first cell, and its rows are here.
  LivesAt(acme.org_id, "c2");
  EXPECT_EQ(Ask("GET", "/monitors").status, 200);
  const Tenant other = NewTenant("other");
  const std::string moved = "vd_live_c3_" + kTail;
  Sql("update api_key set key_sha256 = '\\x" + base::HexEncode(base::Sha256(moved)) +
      "', prefix = 'vd_live_c3_aaaaaa' where org_id = '" + other.org_id + "'");
  for (const char* name : {"a", "b"}) {
    Json body = GoodBody();
    body["name"] = name;
    ASSERT_EQ(Ask("POST", "/monitors", body, Headers{{"x-api-key", moved}}).status, 200);
  }
  const std::string cursor =
      Ask("GET", "/monitors?limit=1", Headers{{"x-api-key", moved}}).body["next_cursor"];
  const std::string former = "c3" + cursor.substr(2);
  EXPECT_EQ(Ask("GET", "/monitors?limit=1&cursor=" + former, Headers{{"x-api-key", moved}}).status,
            200);
}

TEST_F(AtCell, AnOrganisationThatHasGoneIsToldWhere) {
  const std::string token = NewToken(NewClient());
  const Client client = NewClient();
  // It is locked first; the directory still says that it is here.
  LivesAt(acme.org_id, "c2");
  Sql("update organisation set locked = true where id = '" + acme.org_id + "'");
  EXPECT_EQ(Ask("GET", "/monitors").status, 403);
  LivesAt(acme.org_id, "c3");
  ExpectElsewhere(Ask("GET", "/monitors"), "c3");
  ExpectElsewhere(Ask("GET", "/monitors", Bearer(token)), "c3");
  EXPECT_EQ(AskToken(Assertion(client)).status, 421);
  // Then what is left of it here is removed.
  const Tenant other = NewTenant("other");
  LivesAt(other.org_id, "c4");
  Sql("delete from api_key where org_id = '" + other.org_id + "'");
  ExpectElsewhere(Ask("GET", "/monitors", Headers{{"x-api-key", other.key}}), "");
  const std::string own = "vd_live_c2_" + kTail;
  Sql("insert into api_key (id, org_id, name, prefix, key_sha256) values (gen_random_uuid(), '" +
      other.org_id + "', 'k', 'vd_live_c2_aaaaaa', '\\x" + base::HexEncode(base::Sha256(own)) +
      "')");
  Sql("delete from api_key where org_id = '" + other.org_id + "'");
  ExpectElsewhere(Ask("GET", "/monitors", Headers{{"x-api-key", own}}), "c4");
}

TEST_F(AtCell, AClientWhoseOrganisationMovesAsksAgainWithTheSameAssertion) {
  const Client client = NewClient();
  const std::string token = NewToken(client);
  LivesAt(acme.org_id, "c2");
  Sql("update organisation set locked = true, moving_until = now() + interval '1 minute' where id "
      "= '" +
      acme.org_id + "'");
  EXPECT_EQ(Ask("GET", "/monitors", Bearer(token)).status, 200) << "it reads meanwhile";
  const std::string assertion = Assertion(client);
  const Reply refused = AskToken(assertion);
  EXPECT_EQ(refused.status, 503) << refused.raw.body;
  EXPECT_EQ(refused.error(), "organisation_moving");
  EXPECT_THAT(refused.body["error_description"].get<std::string>(), HasSubstr("before 20"));
  EXPECT_EQ(refused.Header("Retry-After"), "5");
  Sql("update organisation set locked = false, moving_until = null");
  EXPECT_EQ(AskToken(assertion).status, 200);
}

TEST_F(AtCell, AKeyThatWasRevokedOrHasExpiredHereIsNotSentBackToWhereItWasMade) {
  LivesAt(acme.org_id, "c2");
  const Headers with_cursor{{"x-api-key", acme.key}};  // one of the first cell
  Sql("update api_key set expires_at = now() - interval '1 s'");
  EXPECT_EQ(Ask("GET", "/monitors?cursor=c3.AbCd", with_cursor).status, 401);
  Sql("update api_key set expires_at = null, revoked_at = now()");
  EXPECT_EQ(Ask("GET", "/monitors").status, 401);
  const std::string session = NewSession("ada");
  Sql("update access_token set expires_at = now() - interval '1 s'");
  EXPECT_EQ(Ask("GET", "/monitors", Bearer(session)).status, 401);
}

TEST_F(AtCell, AFeedIsReadUnderTheLockOfAMoveAndLeadsToTheOtherCellAfterwards) {
  const std::string feed = Ask("POST", "/channels", Json{{"name", "f"}, {"kind", "feed"}})
                               .body["target"]["url"]
                               .get<std::string>();
  const std::string path = feed.substr(feed.find("/channels/"));
  ASSERT_THAT(path, HasSubstr("&cell=c2"));
  ASSERT_EQ(Ask("GET", path).status, 200);
  Sql("update organisation set locked = true, moving_until = now() + interval '1 minute'");
  EXPECT_EQ(Ask("GET", path).status, 200);
  for (const char* cell : {"c3", ""}) {
    Sql(std::string("update organisation set moving_until = null, lives_at = '") + cell + "'");
    const Reply gone = Ask("GET", path);
    EXPECT_EQ(gone.status, 307) << gone.raw.body;
    const std::string token = path.substr(path.find('?'), path.find("&cell") - path.find('?'));
    EXPECT_EQ(gone.Header("Location"), token + "&cell=" + (*cell ? cell : "-"));
    EXPECT_EQ(gone.body["cell"], cell);
  }
  Sql("update organisation set lives_at = null");
  EXPECT_EQ(Ask("GET", path).status, 404) << "locked by its operator";
}

// What replication brings is taken where it is newer, whatever the order.
TEST_F(AtCell, TheDirectoryTakesTheNewerRow) {
  LivesAt(acme.org_id, "c2");
  const auto brought = [&](const std::string& cell, const std::string& when) {
    return Sql("set session_replication_role = replica; insert into cell_directory values ('" +
               acme.org_id + "', '" + cell + "', now() " + when +
               "); set session_replication_role = origin; select cell from cell_directory where "
               "org_id = '" +
               acme.org_id + "'");
  };
  EXPECT_EQ(brought("c1", "- interval '1 hour'"), "c2");
  EXPECT_EQ(brought("c3", "+ interval '1 hour'"), "c3");
  EXPECT_EQ(brought("c2", "+ interval '59 minutes'"), "c3");
}

}  // namespace
}  // namespace vedette::test
