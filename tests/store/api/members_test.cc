// Members sign in at the dashboard: by an invitation once, then by address and password; a session
// is a cookie that may do what its member's role may.
#include <gmock/gmock.h>

#include <string>
#include <thread>
#include <vector>

#include "api/tenant/authenticate.h"
#include "api/tenant/credentials.h"
#include "base/crypto.h"
#include "config/auth_config.h"
#include "store/accounts/access_tokens.h"
#include "store/accounts/members.h"
#include "store/async.h"
#include "store/session.h"
#include "tests/store/support/member_routes.h"
#include "tests/store/support/tenant_routes.h"
#include "tests/store/support/tenant_support.h"

namespace vedette::test {
namespace {

using base::Json;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

TEST_F(ApiMembers, AnInvitationLetsItsHolderInOnceAndThenThePasswordDoes) {
  const std::string token = Invite("Ada@Example.com", "owner");
  const Reply shown = Post("/dashboard/invitation", Json{{"token", token}});
  EXPECT_EQ(shown.body["email"], "ada@example.com");
  EXPECT_EQ(shown.body["has_password"], false);
  const Reply taken = Take(token);
  ASSERT_EQ(taken.status, 200) << taken.raw.body;
  EXPECT_EQ(taken.body["role"], "owner");
  EXPECT_THAT(taken.Header("Set-Cookie"), HasSubstr("; HttpOnly; Secure; SameSite=Strict"));
  EXPECT_EQ(Take(token).status, 404) << "once";
  EXPECT_EQ(Post("/dashboard/invitation", Json{{"token", token}}).status, 404);
  EXPECT_EQ(SignIn("ADA@example.com").status, 200);
  // Its own organisation sees who did it, and from where.
  const Json entries = Ask("GET", "/account/audit").body["audit"];
  EXPECT_EQ(entries[0]["action"], "session.create");
  EXPECT_EQ(entries[0]["actor"], "user ada@example.com");
  EXPECT_EQ(entries[2]["action"], "invitation.accept");
  EXPECT_EQ(entries[2]["actor"], "user ada@example.com");
  EXPECT_EQ(Sql("select password like '$argon2id$%' from member_password"), "t");
}

TEST_F(ApiMembers, AnInvitationIsNotTakenWhereTheAddressGotAnotherPasswordMeanwhile) {
  Take(Invite("ada@example.com", "owner"));
  // She is a member elsewhere by then: what lets in nowhere would be replaced.
  Sql("update org_user set org_id = '" + NewTenant("other").org_id + "' returning 1");
  const std::string second = Invite("ada@example.com", "owner");
  store::Session session(config.database, {.name = "test"}, clock, metrics, log);
  store::HolderShows shows;
  shows.password = "what another one chose";
  EXPECT_EQ(store::AcceptInvitation(session, clock, base::Sha256(second), shows, {}),
            store::Acceptance::kGone);
  EXPECT_EQ(Sql("select count(*) from org_user where org_id = '" + acme.org_id + "'"), "0");
  EXPECT_EQ(Take(second).status, 200) << "who has the password comes in by the same link";
}

TEST_F(ApiMembers, AnInvitationEndsAfterThreeDaysOrWhenItIsWithdrawn) {
  const std::string late = Invite("ada@example.com", "viewer");
  Sql("update invitation set expires_at = now() returning 1");
  EXPECT_EQ(Take(late).status, 404);
  const std::string withdrawn = Invite("bob@example.com", "viewer");
  const Json waiting = Ask("GET", "/account/invitations").body["invitations"];
  ASSERT_EQ(waiting.size(), 1U);
  EXPECT_EQ(Ask("DELETE", "/account/invitations/" + waiting[0]["id"].get<std::string>()).status,
            200);
  EXPECT_EQ(Take(withdrawn).status, 404);
}

TEST_F(ApiMembers, NothingTellsWhetherAnAddressExists) {
  Take(Invite("ada@example.com", "owner"));
  const Reply wrong = SignIn("ada@example.com", "another password");
  const Reply nobody = SignIn("nobody@example.com", "another password");
  EXPECT_EQ(wrong.status, 401);
  EXPECT_EQ(nobody.status, 401);
  EXPECT_EQ(wrong.raw.body, nobody.raw.body);
}

TEST_F(ApiMembers, NoAnswerShowsAPassword) {
  const std::string token = Invite("ada@example.com", "owner");
  const std::string secret = "correct horse";
  std::string far_too_long;
  for (int i = 0; i < 20; ++i) far_too_long += secret;
  for (const Json& password : {Json(12345678), Json(far_too_long), Json::array({secret})}) {
    for (const auto& [path, body] :
         {std::pair("/dashboard/sign-in", Json{{"email", "ada@example.com"}}),
          std::pair("/dashboard/invitation/take", Json{{"token", token}}),
          std::pair("/dashboard/reset/take", Json{{"token", token}})}) {
      Json asked = body;
      asked["password"] = password;
      asked["passwort"] = secret;
      const Reply reply = Post(path, asked);
      EXPECT_EQ(reply.status, 422) << path << reply.raw.body;
      EXPECT_THAT(reply.raw.body, Not(AnyOf(HasSubstr("correct"), HasSubstr("12345678")))) << path;
      EXPECT_EQ(reply.body["detail"].size(), 2U) << path << reply.raw.body;
    }
  }
}

TEST_F(ApiMembers, TriesAreCountedByAddressWhoeverItIsOf) {
  for (const char* email : {"ada@example.com", "nobody@example.com"}) {
    // A minute may begin meanwhile, so that two of them have room for twice the limit.
    int tries = 0;
    while (tries <= 20 && SignIn(email, "wrong").status != 429) ++tries;
    EXPECT_GE(tries, 10) << email;
    EXPECT_LE(tries, 20) << email;
  }
}

TEST_F(ApiMembers, AChangeWithTheCookieNeedsItsCsrfToken) {
  const Reply ada = Take(Invite("ada@example.com", "owner"));
  const std::string key = R"({"name":"k"})";
  EXPECT_EQ(With("GET", "/monitors", Reads(ada)).status, 200);
  EXPECT_EQ(With("POST", "/account/api-keys", Reads(ada), key).error(), "csrf_token_missing");
  Headers forged = Reads(ada);
  forged.emplace_back("x-csrf-token", std::string(64, '0'));
  EXPECT_EQ(With("POST", "/account/api-keys", forged, key).error(), "csrf_token_missing");
  EXPECT_EQ(With("POST", "/account/api-keys", Changes(ada), key).status, 201);
}

TEST_F(ApiMembers, ARoleMayDoWhatIsItsOwnAndAChangeHoldsAtOnce) {
  Take(Invite("ada@example.com", "owner"));
  const Reply bob = Take(Invite("bob@example.com", "viewer"));
  EXPECT_EQ(With("GET", "/monitors", Reads(bob)).status, 200);
  const std::string body = GoodBody().dump();
  EXPECT_EQ(With("POST", "/monitors", Changes(bob), body).error(), "insufficient_scope");
  EXPECT_EQ(With("GET", "/account/members", Reads(bob)).error(), "insufficient_scope");
  const std::string path = "/account/members/bob%40example.com";
  const std::string as_written = "/account/members/Bob%40EXAMPLE.com";  // which an invitation takes
  EXPECT_EQ(Ask("POST", as_written + "/update", Json{{"role", "member"}}).status, 200);
  EXPECT_EQ(With("POST", "/monitors", Changes(bob), body).status, 200);
  EXPECT_EQ(With("GET", "/account/usage", Reads(bob)).error(), "insufficient_scope");
  EXPECT_EQ(Ask("DELETE", path).status, 200);
  EXPECT_EQ(With("GET", "/monitors", Reads(bob)).status, 401);
}

TEST_F(ApiMembers, RolesHoldOnEveryRouteOfTheTable) {
  using domain::KeyScope;
  const std::pair<const char*, domain::KeyScopes> roles[] = {
      {"viewer", {KeyScope::kRead}},
      {"member",
       {KeyScope::kRead, KeyScope::kMonitors, KeyScope::kLookups, KeyScope::kWorkflows,
        KeyScope::kSearch}},
      {"owner", domain::KeyScopes()}};
  for (const auto& [role, scopes] : roles) {
    const Reply member = Take(Invite(std::string(role) + "@example.com", role));
    for (const api::Route* route : CredentialRoutes()) {
      // Signing out is everybody's, and ends what is tried here.
      if (route->method == "DELETE" && route->pattern.starts_with("/dashboard")) continue;
      net::ServerRequest request = BareRequest(*route);
      request.headers = Changes(member);
      const bool may = api::MayUse(scopes, route->method, route->pattern);
      EXPECT_EQ(AskRaw(std::move(request)).error() != "insufficient_scope", may)
          << role << " " << route->method << " " << route->pattern;
    }
  }
}

TEST_F(ApiMembers, AnOrganisationKeepsAnOwner) {
  Take(Invite("ada@example.com", "owner"));
  const std::string path = "/account/members/ada%40example.com";
  EXPECT_EQ(Ask("DELETE", path).error(), "last_owner");
  EXPECT_EQ(Ask("POST", path + "/update", Json{{"role", "viewer"}}).error(), "last_owner");
  const Reply viewer =
      Ask("POST", "/account/invitations", Json{{"email", "ada@example.com"}, {"role", "viewer"}});
  EXPECT_EQ(viewer.status, 409);
  EXPECT_EQ(viewer.error(), "last_owner") << "an invitation takes no owner away either";
  Take(Invite("bob@example.com", "owner"));
  const std::string late = Invite("ada@example.com", "viewer");
  EXPECT_EQ(Ask("DELETE", "/account/members/bob%40example.com").status, 200);
  const Reply taken = Take(late);
  EXPECT_EQ(taken.status, 409) << "she has become the last one meanwhile";
  EXPECT_EQ(taken.error(), "last_owner");
  Take(Invite("bob@example.com", "owner"));
  EXPECT_EQ(Take(late).body["role"], "viewer") << "a refusal leaves the link";
  EXPECT_EQ(Ask("DELETE", path).status, 200);
}

TEST_F(ApiMembers, OneInvitationWaitsForAnAddressHoweverManyAreMadeAtOnce) {
  const auto org_id = *base::Uuid::Parse(acme.org_id);
  std::vector<std::thread> owners;
  for (int i = 0; i < 8; ++i) {
    owners.emplace_back([&] {
      store::Session session(config.database, {.name = "test"}, clock, metrics, log);
      store::NewInvitation order;
      order.email = "ada@example.com";
      for (int n = 0; n < 5; ++n) store::Invite(session, clock, org_id, order, {});
    });
  }
  for (std::thread& owner : owners) owner.join();
  EXPECT_EQ(Sql("select count(*) from invitation"), "1");
}

TEST_F(ApiMembers, AFailureSaysNothingOfARow) {
  store::Session session(config.database, {.name = "test"}, clock, metrics, log);
  store::NewInvitation order;
  order.email = "@";  // which no route takes
  std::string message;
  try {
    store::Invite(session, clock, *base::Uuid::Parse(acme.org_id), order, {});
  } catch (...) {
    message = store::CurrentFailure().message;
  }
  EXPECT_THAT(message, HasSubstr("violates check constraint"));
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
}

TEST_F(ApiMembers, OneSeesWhoIsSignedInAndSignsOutOfALockedOrganisation) {
  const Reply one = Take(Invite("ada@example.com", "owner"));
  const Reply two = SignIn("ada@example.com");
  Sql("update organisation set locked = true");
  EXPECT_EQ(With("GET", "/credits", Reads(one)).error(), "organisation_locked");
  EXPECT_EQ(With("GET", "/dashboard/session", Reads(one)).body["csrf_token"],
            one.body["csrf_token"]);
  EXPECT_EQ(With("GET", "/dashboard/sessions", Reads(one)).status, 200);
  const Reply out = With("DELETE", "/dashboard/session", Changes(one));
  EXPECT_EQ(out.status, 200) << out.raw.body;
  EXPECT_THAT(out.Header("Set-Cookie"), HasSubstr("Max-Age=0"));
  EXPECT_EQ(With("DELETE", "/dashboard/sessions", Changes(two)).status, 200);
  EXPECT_EQ(Sql("select count(*) from access_token"), "0");
}

// What was sent first may be found long after, in a mailbox.
TEST_F(ApiMembers, AnInvitationEndsTheOthersOfItsAddress) {
  Take(Invite("bob@example.com", "owner"));
  const std::string mistaken = Invite("ada@example.com", "owner");
  const std::string meant = Invite("ada@example.com", "viewer");
  EXPECT_EQ(Ask("GET", "/account/invitations").body["invitations"].size(), 1U);
  EXPECT_EQ(Take(mistaken).status, 404);
  EXPECT_EQ(Take(meant).body["role"], "viewer");
}

TEST_F(ApiMembers, AChangeOrARemovalEndsWhatWaitsForTheAddress) {
  Take(Invite("bob@example.com", "owner"));
  Take(Invite("ada@example.com", "member"));
  const std::string path = "/account/members/ada%40example.com";
  const std::string more = Invite("ada@example.com", "owner");
  EXPECT_EQ(Ask("POST", path + "/update", Json{{"role", "viewer"}}).status, 200);
  EXPECT_EQ(Take(more).status, 404);
  const std::string again = Invite("ada@example.com", "owner");
  EXPECT_EQ(Ask("DELETE", path).status, 200);
  EXPECT_EQ(Take(again).status, 404);
  EXPECT_EQ(Take(Invite("ada@example.com", "viewer")).status, 200);
}

TEST_F(ApiMembers, WhoIsNoOwnerIsChangedAndRemovedWhereThereIsNone) {
  Take(Invite("bob@example.com", "viewer"));
  const std::string path = "/account/members/bob%40example.com";
  EXPECT_EQ(Ask("POST", path + "/update", Json{{"role", "member"}}).status, 200);
  EXPECT_EQ(Ask("DELETE", path).status, 200);
}

TEST_F(ApiMembers, WhoSignsOutIsOutAndHisOtherSessionsStay) {
  const Reply one = Take(Invite("ada@example.com", "owner"));
  const Reply two = SignIn("ada@example.com");
  EXPECT_EQ(With("GET", "/dashboard/session", Reads(one)).body["email"], "ada@example.com");
  EXPECT_EQ(With("DELETE", "/dashboard/session", Changes(one)).status, 200);
  EXPECT_EQ(With("GET", "/dashboard/session", Reads(one)).status, 401);
  EXPECT_EQ(With("GET", "/dashboard/session", Reads(two)).status, 200);
}

TEST_F(ApiMembers, SessionsAreListedAndSignedOutOfEverywhere) {
  const Reply one = Take(Invite("ada@example.com", "viewer"));
  const Reply two = SignIn("ada@example.com");
  const Reply bob = Take(Invite("bob@example.com", "owner"));
  const Json sessions = With("GET", "/dashboard/sessions", Reads(one)).body["sessions"];
  ASSERT_EQ(sessions.size(), 2U) << sessions;
  EXPECT_EQ(sessions[0]["current"], false);
  EXPECT_EQ(sessions[1]["current"], true);
  Sql("delete from audit");
  const Reply out = With("DELETE", "/dashboard/sessions", Changes(one));
  EXPECT_EQ(out.status, 200) << out.raw.body;
  EXPECT_THAT(out.Header("Set-Cookie"), HasSubstr("Max-Age=0"));
  for (const Reply& gone : {one, two}) {
    EXPECT_EQ(With("GET", "/monitors", Reads(gone)).status, 401);
  }
  EXPECT_EQ(With("GET", "/monitors", Reads(bob)).status, 200);
  EXPECT_EQ(Sql("select string_agg(action || ' ' || target || ' ' || actor, ',') from audit"),
            "session.end_all ada@example.com user ada@example.com");
}

TEST_F(ApiMembers, SigningInMakesANewSessionWhateverTheBrowserShows) {
  const Reply stranger = Take(Invite("eve@example.com", "viewer"));
  Take(Invite("ada@example.com", "owner"));
  // The cookie that a stranger has put into the browser of somebody who signs in.
  net::ServerRequest request = Request("POST", "/dashboard/sign-in", {});
  request.headers = Reads(stranger);
  request.headers.emplace_back("content-type", "application/json");
  request.body = Json{{"email", "ada@example.com"}, {"password", kPassword}}.dump();
  const Reply ada = AskRaw(std::move(request));
  ASSERT_EQ(ada.status, 200) << ada.raw.body;
  EXPECT_NE(Reads(ada), Reads(stranger));
  EXPECT_EQ(With("GET", "/dashboard/session", Reads(ada)).body["email"], "ada@example.com");
  EXPECT_EQ(With("GET", "/dashboard/session", Reads(stranger)).body["email"], "eve@example.com");
}

TEST_F(ApiMembers, EveryRouteThatChangesSomethingRefusesACookieAlone) {
  const Reply ada = Take(Invite("ada@example.com", "owner"));
  int tried = 0;
  for (const api::Route* route : CredentialRoutes()) {
    if (route->method == "GET") continue;
    net::ServerRequest request = BareRequest(*route);
    request.headers = Reads(ada);
    EXPECT_EQ(AskRaw(std::move(request)).error(), "csrf_token_missing") << route->pattern;
    ++tried;
  }
  EXPECT_GT(tried, 40);
}

// A page of another site can send a form, or text, and no JSON.
TEST_F(ApiMembers, AFormOfAnotherSiteSignsNobodyIn) {
  Take(Invite("ada@example.com", "owner"));
  for (const char* type : {"text/plain", "application/x-www-form-urlencoded"}) {
    net::ServerRequest request = Request("POST", "/dashboard/sign-in", {});
    request.headers = {{"content-type", type}};
    request.body = Json{{"email", "ada@example.com"}, {"password", kPassword}}.dump();
    EXPECT_EQ(AskRaw(std::move(request)).status, 415) << type;
  }
  // A script can leave the type out; the browser says where it runs.
  const Json body{{"email", "ada@example.com"}, {"password", kPassword}};
  for (const char* from : {"cross-site", "same-site"}) {
    EXPECT_EQ(Post("/dashboard/sign-in", body, {{"sec-fetch-site", from}}).error(), "cross_site");
  }
  EXPECT_EQ(Post("/dashboard/sign-in", body, {{"sec-fetch-site", "same-origin"}}).status, 200);
}

TEST_F(ApiMembers, WhoIsNoMemberAnyMoreGetsNoSession) {
  Take(Invite("ada@example.com", "viewer"));
  Sql("delete from org_user");
  store::Session session(config.database, {.name = "test"}, clock, metrics, log);
  const auto made = store::CreateSession(session, clock, *base::Uuid::Parse(acme.org_id),
                                         {.user_id = "ada@example.com",
                                          .name = std::nullopt,
                                          .team_id = std::nullopt,
                                          .ttl = std::chrono::hours(1),
                                          .for_members = true},
                                         {});
  EXPECT_EQ(made.kind, store::SessionOutcome::Kind::kNoMember);
  EXPECT_EQ(Sql("select count(*) from org_user"), "0");
}

TEST_F(ApiMembers, NobodyUsesUpTheTriesOfOthersWithLinksThatAreNone) {
  const std::string token = Invite("ada@example.com", "viewer");
  for (int i = 0; i < 12; ++i) Post("/dashboard/invitation", Json{{"token", "vd_inv_x"}});
  EXPECT_EQ(Take(token).status, 200);
}

TEST_F(ApiMembers, ALinkDoesNotOpenTheOtherOrganisationsOfWhoHasAPassword) {
  Take(Invite("ada@example.com", "owner"));
  const Tenant other = NewTenant("other");
  const std::string token = Invite("ada@example.com", "viewer", nullptr, other.key);
  EXPECT_EQ(Take(token, "a password of theirs").status, 401);
  EXPECT_EQ(Take(token).status, 200);
  EXPECT_EQ(SignIn("ada@example.com").body["choose"].size(), 2U);
}

TEST_F(ApiMembers, WithoutTheDashboardThereIsNoneOfIt) {
  config.dashboard.enabled = false;
  EXPECT_EQ(SignIn("ada@example.com").status, 404);
  EXPECT_EQ(With("GET", "/dashboard", {}).status, 404);
}

}  // namespace
}  // namespace vedette::test
