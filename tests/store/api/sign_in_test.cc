// Members sign in by passkeys and by the identity provider, get new passwords, and may be limited
// to a team.
#include <gmock/gmock.h>

#include <string>

#include "base/crypto.h"
#include "config/auth_config.h"
#include "store/accounts/access_tokens.h"
#include "store/accounts/members.h"
#include "store/accounts/sign_in.h"
#include "store/session.h"
#include "tests/store/support/member_routes.h"
#include "tests/store/support/tenant_routes.h"
#include "tests/support/passkeys.h"

namespace vedette::test {
namespace {

using base::Json;
using testing::HasSubstr;

class ApiPasskeys : public ApiMembers {
 public:
  using ApiMembers::ApiMembers;

  std::string Challenge(const Json& body = Json::object()) {
    return Post("/dashboard/passkeys/challenge", body).body["challenge"];
  }
  Reply Show(const Authenticator& device, const Json& challenge_for = Json::object()) {
    return Post("/dashboard/passkeys/sign-in", device.Shown(Challenge(challenge_for)));
  }
  Reply JoinByPasskey(const std::string& token, const Authenticator& device) {
    const Json options = Post("/dashboard/invitation/passkey", Json{{"token", token}}).body;
    return Post("/dashboard/invitation/take",
                Json{{"token", token}, {"passkey", device.Made(options["challenge"])}});
  }
  Reply Add(const Reply& session, const Authenticator& device, const std::string& name) {
    const Json options = With("POST", "/dashboard/passkeys/options", Changes(session), "{}").body;
    Json made = device.Made(options["challenge"]);
    made["name"] = name;
    return With("POST", "/dashboard/passkeys", Changes(session), Json{{"passkey", made}}.dump());
  }

  // A session that the operator makes for his own dashboard; for a team, if one is given.
  Headers OfOperator(const std::string& user, const std::string& team = "") {
    store::Session session(config.database, {.name = "test"}, clock, metrics, log);
    const auto made = store::CreateSession(session, clock, *base::Uuid::Parse(acme.org_id),
                                           {.user_id = user,
                                            .name = std::nullopt,
                                            .team_id = base::Uuid::Parse(team),
                                            .ttl = std::chrono::hours(1)},
                                           {});
    return {{"authorization", "Bearer " + made.token}};
  }

  Authenticator phone{kOrigin, "vedette.example"};
};

TEST_F(ApiPasskeys, AnInvitationIsTakenWithAPasskeyWhichThenSignsIn) {
  const Reply joined = JoinByPasskey(Invite("ada@example.com", "owner"), phone);
  ASSERT_EQ(joined.status, 200) << joined.raw.body;
  const Reply again = Show(phone);
  ASSERT_EQ(again.status, 200) << again.raw.body;
  EXPECT_EQ(again.body["email"], "ada@example.com");
  EXPECT_EQ(With("GET", "/dashboard/session", Reads(again)).status, 200);
  EXPECT_EQ(Show(phone, Json{{"email", "ada@example.com"}}).status, 200);
  EXPECT_EQ(Show(phone, Json{{"email", "bob@example.com"}}).error(), "wrong_passkey");
  EXPECT_EQ(SignIn("ada@example.com", "anything at all").status, 401) << "there is no password";
  const Json list = With("GET", "/dashboard/passkeys", Reads(again)).body;
  ASSERT_EQ(list["passkeys"].size(), 1U) << list;
  EXPECT_FALSE(list["passkeys"][0]["last_used_at"].is_null());
  EXPECT_EQ(list["has_password"], false);
}

TEST_F(ApiPasskeys, AChallengeCountsOnceAndForWhatItWasMade) {
  const std::string token = Invite("ada@example.com", "owner");
  const Reply ada = JoinByPasskey(token, phone);
  ASSERT_EQ(ada.status, 200) << ada.raw.body;
  const std::string challenge = Challenge();
  const Json shown = phone.Shown(challenge);
  EXPECT_EQ(Post("/dashboard/passkeys/sign-in", shown).status, 200);
  EXPECT_EQ(Post("/dashboard/passkeys/sign-in", shown).error(), "wrong_passkey") << "once";
  const std::string late = Challenge();
  Sql("update one_time_secret set expires_at = now() returning 1");
  EXPECT_EQ(Post("/dashboard/passkeys/sign-in", phone.Shown(late)).error(), "wrong_passkey");
  EXPECT_EQ(
      Post("/dashboard/passkeys/sign-in", phone.Shown(base::Base64UrlEncode(std::string(32, 'x'))))
          .error(),
      "wrong_passkey")
      << "one of our own making";
  const Json options = With("POST", "/dashboard/passkeys/options", Changes(ada), "{}").body;
  EXPECT_EQ(Post("/dashboard/passkeys/sign-in", phone.Shown(options["challenge"])).error(),
            "wrong_passkey")
      << "for another purpose";
  // Another member's challenge makes no passkey of mine.
  const Reply bob = Take(Invite("bob@example.com", "viewer"));
  const Json for_bob = With("POST", "/dashboard/passkeys/options", Changes(bob), "{}").body;
  EXPECT_EQ(With("POST", "/dashboard/passkeys", Changes(ada),
                 Json{{"passkey", phone.Made(for_bob["challenge"])}}.dump())
                .status,
            422);
}

TEST_F(ApiPasskeys, ACountThatWasSeenIsRefused) {
  phone.sign_count = 5;
  ASSERT_EQ(JoinByPasskey(Invite("ada@example.com", "owner"), phone).status, 200);
  EXPECT_EQ(Show(phone).error(), "wrong_passkey");
  phone.sign_count = 6;
  EXPECT_EQ(Show(phone).status, 200);
  EXPECT_EQ(Show(phone).error(), "wrong_passkey");
}

TEST_F(ApiPasskeys, NothingTellsWhetherAnAddressHasPasskeys) {
  ASSERT_EQ(JoinByPasskey(Invite("ada@example.com", "owner"), phone).status, 200);
  Json ada = Post("/dashboard/passkeys/challenge", Json{{"email", "ada@example.com"}}).body;
  Json nobody = Post("/dashboard/passkeys/challenge", Json{{"email", "nobody@example.com"}}).body;
  EXPECT_NE(ada["challenge"], nobody["challenge"]);
  ada.erase("challenge");
  nobody.erase("challenge");
  EXPECT_EQ(ada, nobody);
  EXPECT_EQ(SignIn("ada@example.com").raw.body, SignIn("nobody@example.com").raw.body);
}

TEST_F(ApiPasskeys, TheLastWayOfSigningInStays) {
  const Reply ada = JoinByPasskey(Invite("ada@example.com", "owner"), phone);
  const std::string first =
      With("GET", "/dashboard/passkeys", Reads(ada)).body["passkeys"][0]["id"];
  EXPECT_EQ(With("DELETE", "/dashboard/passkeys/" + first, Changes(ada)).error(), "last_way_in");
  Authenticator laptop(kOrigin, "vedette.example", test::NewKey("P-256", 1));
  laptop.credential_id = std::string(20, 'l');
  EXPECT_EQ(Add(ada, laptop, "laptop").status, 201);
  EXPECT_EQ(Add(ada, laptop, "twice").error(), "too_many_passkeys");
  const Reply bob = Take(Invite("bob@example.com", "viewer"));
  EXPECT_EQ(With("DELETE", "/dashboard/passkeys/" + first, Changes(bob)).status, 404);
  EXPECT_EQ(With("DELETE", "/dashboard/passkeys/" + first, Changes(ada)).status, 200);
  EXPECT_EQ(Show(phone).error(), "wrong_passkey");
  EXPECT_EQ(Show(laptop).status, 200);
  EXPECT_EQ(
      Sql("select string_agg(action, ' ' order by id) from audit where action like 'passkey.%'"),
      "passkey.add passkey.remove");
}

TEST_F(ApiPasskeys, AnOldSessionGetsNoOtherWayOfSigningIn) {
  const Reply ada = JoinByPasskey(Invite("ada@example.com", "owner"), phone);
  Sql("update access_token set created_at = now() - interval '16 minutes' returning 1");
  EXPECT_EQ(With("POST", "/dashboard/passkeys/options", Changes(ada), "{}").error(),
            "sign_in_again");
  EXPECT_EQ(With("POST", "/dashboard/password", Changes(ada), Json{{"password", kPassword}}.dump())
                .error(),
            "sign_in_again");
}

TEST_F(ApiPasskeys, WhoHasAPasskeyJoinsAnotherOrganisationWithIt) {
  ASSERT_EQ(JoinByPasskey(Invite("ada@example.com", "owner"), phone).status, 200);
  const Tenant other = NewTenant("other");
  const std::string token = Invite("ada@example.com", "viewer", nullptr, other.key);
  EXPECT_EQ(Post("/dashboard/invitation/passkey", Json{{"token", token}}).error(), "known_already");
  EXPECT_EQ(Take(token, "a password of theirs").status, 401);
  Authenticator theirs(kOrigin, "vedette.example", test::NewKey("P-256", 1));
  EXPECT_EQ(Post("/dashboard/invitation/take",
                 Json{{"token", token}, {"own_passkey", theirs.Shown(Challenge())}})
                .error(),
            "wrong_passkey");
  EXPECT_EQ(Post("/dashboard/invitation/take",
                 Json{{"token", token}, {"own_passkey", phone.Shown(Challenge())}})
                .status,
            200);
  // A member of two chooses, once, in the browser that has shown the passkey.
  const Reply choice = Show(phone);
  ASSERT_EQ(choice.body["choose"].size(), 2U) << choice.raw.body;
  const Json chosen{{"org_id", other.org_id}};
  EXPECT_EQ(Post("/dashboard/sign-in/choose", chosen).error(), "sign_in_again");
  EXPECT_EQ(Post("/dashboard/sign-in/choose", Json::object(), Reads(choice)).body["choose"].size(),
            2U);
  const Reply entered = Post("/dashboard/sign-in/choose", chosen, Reads(choice));
  EXPECT_EQ(entered.body["org_id"], other.org_id) << entered.raw.body;
  EXPECT_EQ(Post("/dashboard/sign-in/choose", chosen, Reads(choice)).error(), "sign_in_again");
}

TEST_F(ApiPasskeys, WhoWasRemovedEverywhereIsInvitedAsOneWhoIsNew) {
  const auto remove = [&] {
    ASSERT_EQ(Ask("DELETE", "/account/members/ada%40example.com").status, 200);
  };
  ASSERT_EQ(Take(Invite("bob@example.com", "owner")).status, 200);
  ASSERT_EQ(Take(Invite("ada@example.com", "viewer")).status, 200);
  remove();
  const std::string again = Invite("ada@example.com", "viewer");
  const Json shown = Post("/dashboard/invitation", Json{{"token", again}}).body;
  EXPECT_EQ(shown["has_password"], false) << shown;
  ASSERT_EQ(JoinByPasskey(again, phone).status, 200);
  EXPECT_EQ(SignIn("ada@example.com").status, 401) << "the password of old has gone";
  remove();
  const std::string third = Invite("ada@example.com", "viewer");
  EXPECT_EQ(Post("/dashboard/invitation/passkey", Json{{"token", third}}).body["exclude"],
            Json::array());
  ASSERT_EQ(Take(third, "another one of them").status, 200);
  EXPECT_EQ(Show(phone).error(), "wrong_passkey");
  EXPECT_EQ(SignIn("ada@example.com", "another one of them").status, 200);
}

TEST_F(ApiPasskeys, AChoiceEndsWithWhatItWasMadeBy) {
  const Reply ada = Take(Invite("ada@example.com", "owner"));
  const std::string passkey = Add(ada, phone, "phone").body["id"];
  const Tenant other = NewTenant("other");
  ASSERT_EQ(Take(Invite("ada@example.com", "viewer", nullptr, other.key)).status, 200);
  const auto choose = [&](const Reply& choice) {
    return Post("/dashboard/sign-in/choose", Json{{"org_id", other.org_id}}, Reads(choice));
  };
  const Reply before = Show(phone);
  ASSERT_EQ(With("DELETE", "/dashboard/sessions", Changes(ada)).status, 200);
  EXPECT_EQ(choose(before).error(), "sign_in_again");
  const Reply again = Show(phone);
  const Reply inside =
      Post("/dashboard/sign-in",
           Json{{"email", "ada@example.com"}, {"password", kPassword}, {"org_id", acme.org_id}});
  ASSERT_EQ(With("DELETE", "/dashboard/passkeys/" + passkey, Changes(inside)).status, 200);
  EXPECT_EQ(choose(again).error(), "sign_in_again");
}

TEST_F(ApiPasskeys, PasskeysAreOfMembersAndOfPagesOfOurOwn) {
  EXPECT_EQ(Ask("GET", "/dashboard/passkeys").status, 404) << "an API key";
  for (const char* path :
       {"/dashboard/passkeys/challenge", "/dashboard/passkeys/sign-in", "/dashboard/sign-in/choose",
        "/dashboard/provider/sign-in", "/dashboard/reset/take"}) {
    config.oidc.client_id = "us";
    EXPECT_EQ(Post(path, Json::object(), {{"sec-fetch-site", "cross-site"}}).error(), "cross_site")
        << path;
  }
  config.public_url = "http://127.0.0.1:8080";
  EXPECT_EQ(Post("/dashboard/passkeys/challenge", Json::object()).error(), "no_passkeys");
}

TEST_F(ApiPasskeys, TriesAreCounted) {
  // Sixty a minute of the clock: where another minute begins meanwhile, more fall into one of two.
  int refused = 0;
  for (int i = 0; i < 125; ++i) {
    refused += Post("/dashboard/passkeys/challenge", Json::object()).status == 429 ? 1 : 0;
  }
  EXPECT_GE(refused, 1);
}

// New passwords.

TEST_F(ApiPasskeys, AChangeOfThePasswordEndsEveryOtherSession) {
  const Reply one = Take(Invite("ada@example.com", "owner"));
  const Reply two = SignIn("ada@example.com");
  const auto change = [&](const std::string& current) {
    return With("POST", "/dashboard/password", Changes(one),
                Json{{"current_password", current}, {"password", "another one of them"}}.dump());
  };
  EXPECT_EQ(change("wrong").error(), "wrong_password");
  const Reply changed = change(kPassword);
  ASSERT_EQ(changed.status, 200) << changed.raw.body;
  for (const Reply& gone : {one, two}) {
    EXPECT_EQ(With("GET", "/monitors", Reads(gone)).status, 401);
  }
  EXPECT_EQ(With("GET", "/monitors", Reads(changed)).status, 200);
  EXPECT_EQ(SignIn("ada@example.com").status, 401);
  EXPECT_EQ(SignIn("ada@example.com", "another one of them").status, 200);
}

// What was shown before a new password counts for nothing behind it, however far it had come.
TEST_F(ApiPasskeys, ANewPasswordEndsWhatIsUnderWay) {
  const std::string email = "ada@example.com";
  const Reply ada = Take(Invite(email, "owner"));
  ASSERT_EQ(Add(ada, phone, "phone").status, 201);
  store::Session session(config.database, {.name = "test"}, clock, metrics, log);
  const std::string before = *store::FindPerson(session, email).password;
  const std::string cookie = Reads(ada).front().second;
  const auto own = store::FindSession(session, cookie.substr(cookie.find('=') + 1));
  ASSERT_TRUE(own);
  ASSERT_EQ(
      With("POST", "/dashboard/password", Changes(ada),
           Json{{"current_password", kPassword}, {"password", "another good password"}}.dump())
          .status,
      200);
  const store::ShownWays by_session{.session_sha256 = own->token_sha256};
  const store::ShownWays by_password{.password = before};
  const auto org_id = *base::Uuid::Parse(acme.org_id);
  store::NewSession order;
  order.user_id = email;
  order.ttl = std::chrono::hours(1);
  order.for_members = true;
  for (const store::ShownWays& shown : {by_session, by_password}) {
    EXPECT_FALSE(store::ChangePassword(session, clock, org_id, email, "a thief's", shown, {}));
    order.shown = shown;
    EXPECT_EQ(store::CreateSession(session, clock, org_id, order, {}).kind,
              store::SessionOutcome::Kind::kNoMember);
    EXPECT_FALSE(store::OfferChoice(session, {store::OneTimePurpose::kChoice, "secret"},
                                    std::chrono::minutes(1), email, shown));
  }
  EXPECT_EQ(SignIn(email, "another good password").status, 200);
  // His passkeys go with a link to a new password, and what was begun with one.
  order.shown = {.passkey = phone.credential_id};
  EXPECT_EQ(store::CreateSession(session, clock, org_id, order, {}).kind,
            store::SessionOutcome::Kind::kDone);
  Sql("delete from passkey returning 1");
  EXPECT_EQ(store::CreateSession(session, clock, org_id, order, {}).kind,
            store::SessionOutcome::Kind::kNoMember);
}

TEST_F(ApiPasskeys, ALinkToANewPasswordWorksOnceAndSignsOutEverywhere) {
  const Reply ada = JoinByPasskey(Invite("ada@example.com", "owner"), phone);
  const auto link = [&]() -> std::string {
    const std::string text =
        Ask("POST", "/account/members/ada%40example.com/reset", Json::object()).body["link"];
    return text.substr(text.find("vd_rst_"));
  };
  const auto take = [&](const std::string& token) {
    return Post("/dashboard/reset/take", Json{{"token", token}, {"password", kPassword}}).status;
  };
  const std::string first = link();
  const std::string second = link();
  EXPECT_EQ(take(first), 404) << "another one has taken its place";
  EXPECT_EQ(Post("/dashboard/reset", Json{{"token", second}}).body["email"], "ada@example.com");
  EXPECT_EQ(take(second), 200);
  EXPECT_EQ(take(second), 404);
  EXPECT_EQ(With("GET", "/monitors", Reads(ada)).status, 401);
  EXPECT_EQ(Show(phone).error(), "wrong_passkey");
  EXPECT_EQ(SignIn("ada@example.com").status, 200);
  const std::string late = link();
  Sql("update one_time_secret set expires_at = now() returning 1");
  EXPECT_EQ(take(late), 404);
  EXPECT_EQ(Ask("POST", "/account/members/nobody%40example.com/reset", Json::object()).status, 404);
}

TEST_F(ApiPasskeys, AnOwnerDoesNotOpenTheOtherOrganisationsOfAMember) {
  Take(Invite("ada@example.com", "viewer"));
  const std::string path = "/account/members/ada%40example.com/reset";
  const std::string link = Ask("POST", path, Json::object()).body["link"];
  const Tenant other = NewTenant("other");
  Sql("insert into org_user (org_id, user_id, role) values ('" + other.org_id +
      "', 'ada@example.com', 2) returning 1");
  EXPECT_EQ(Ask("POST", path, Json::object()).error(), "member_elsewhere");
  const std::string token = link.substr(link.find("vd_rst_"));
  EXPECT_EQ(
      Post("/dashboard/reset/take", Json{{"token", token}, {"password", "another one of them"}})
          .status,
      404)
      << "one that was made before";
  EXPECT_EQ(SignIn("ada@example.com").status, 200);
}

TEST_F(ApiPasskeys, ALinkToANewPasswordOfOneWhoWasRemovedIsNotOpened) {
  Take(Invite("ada@example.com", "viewer"));
  const std::string member = "/account/members/ada%40example.com";
  const std::string link = Ask("POST", member + "/reset", Json::object()).body["link"];
  const Json token{{"token", link.substr(link.find("vd_rst_"))}};
  EXPECT_EQ(Post("/dashboard/reset", token).status, 200);
  ASSERT_EQ(Ask("DELETE", member).status, 200);
  EXPECT_EQ(Post("/dashboard/reset", token).status, 404);
}

// Members of one team.

TEST_F(ApiPasskeys, AMemberOfATeamSeesWhatIsTheTeamsAndAChangeHoldsAtOnce) {
  Take(Invite("ada@example.com", "owner"));
  const std::string team = NewTeam(acme.org_id);
  const std::string theirs = NewKey(acme.org_id, team);
  const std::string all = NewMonitor();
  const std::string own =
      Ask("POST", "/monitors", GoodBody(), Headers{{"x-api-key", theirs}}).body["id"];
  const Reply bob = Take(Invite("bob@example.com", "member", team));
  ASSERT_EQ(bob.status, 200) << bob.raw.body;
  const auto sees = [&](const std::string& id) {
    return With("GET", "/monitors/" + id, Reads(bob)).status;
  };
  EXPECT_EQ(sees(own), 200);
  EXPECT_EQ(sees(all), 404);
  EXPECT_EQ(With("GET", "/dashboard/session", Reads(bob)).body["team"].is_string(), true);
  const std::string path = "/account/members/bob%40example.com/update";
  EXPECT_EQ(Ask("POST", path, Json{{"role", "owner"}}).status, 422) << "an owner is of no team";
  EXPECT_EQ(Ask("POST", path, Json{{"role", "member"}, {"team_id", nullptr}}).status, 200);
  EXPECT_EQ(sees(all), 200);
  EXPECT_EQ(Ask("POST", path, Json{{"role", "member"}, {"team_id", team}}).status, 200);
  EXPECT_EQ(sees(all), 404);
  EXPECT_EQ(Ask("POST", path, Json{{"role", "viewer"}}).status, 200);
  EXPECT_EQ(sees(all), 404) << "he stays of his team";
  const Json members = Ask("GET", "/account/members").body;
  EXPECT_EQ(members["members"][1]["team_id"], team);
  EXPECT_EQ(members["teams"][0]["id"], team);
}

TEST_F(ApiPasskeys, ASessionThatTheOperatorMakesForATeamIsOfThatTeamWhoeverTheMemberIs) {
  const std::string team = NewTeam(acme.org_id);
  const std::string all = NewMonitor();
  Take(Invite("ada@example.com", "owner"));
  const Headers ada = OfOperator("ada@example.com", team);
  EXPECT_EQ(Ask("GET", "/monitors/" + all, ada).status, 404);
  EXPECT_EQ(Ask("GET", "/monitors/" + all, OfOperator("ada@example.com")).status, 200);
  const Json shown = Ask("GET", "/dashboard/session", ada).body;
  EXPECT_TRUE(shown["team"].is_string()) << shown;
  // A member of another team has nothing in this one.
  Take(Invite("bob@example.com", "member", NewTeam(acme.org_id)));
  EXPECT_EQ(Ask("GET", "/monitors", OfOperator("bob@example.com", team)).status, 401);
}

TEST_F(ApiPasskeys, ATeamHoldsOnEveryRouteAsItDoesForAKey) {
  const std::string team = NewTeam(acme.org_id);
  const Headers key{{"x-api-key", NewKey(acme.org_id, team)}};
  const Reply member = Take(Invite("bob@example.com", "member", team));
  for (const api::Route* route : CredentialRoutes()) {
    if (route->pattern.starts_with("/dashboard") || route->access == rest::Access::kManagement) {
      continue;
    }
    net::ServerRequest by_key = BareRequest(*route);
    by_key.headers = key;
    net::ServerRequest by_session = BareRequest(*route);
    by_session.headers = Changes(member);
    EXPECT_EQ(AskRaw(std::move(by_session)).status, AskRaw(std::move(by_key)).status)
        << route->method << " " << route->pattern;
  }
}

TEST_F(ApiPasskeys, ATeamOfAnotherOrganisationIsNotThere) {
  const std::string foreign = NewTeam(NewTenant("other").org_id);
  EXPECT_EQ(Ask("POST", "/account/invitations",
                Json{{"email", "ada@example.com"}, {"role", "viewer"}, {"team_id", foreign}})
                .status,
            404);
  Take(Invite("bob@example.com", "owner"));
  EXPECT_EQ(Ask("POST", "/account/members/bob%40example.com/update",
                Json{{"role", "viewer"}, {"team_id", foreign}})
                .status,
            404);
  const std::string team = NewTeam(acme.org_id);
  EXPECT_EQ(Ask("POST", "/account/invitations",
                Json{{"email", "ada@example.com"}, {"role", "owner"}, {"team_id", team}})
                .status,
            422);
}

// The identity provider.

class ApiProviderSignIn : public ApiPasskeys {
 public:
  ApiProviderSignIn()
      : ApiPasskeys({{"VEDETTE_OIDC_ISSUER", "https://idp.example"},
                     {"VEDETTE_OIDC_AUDIENCE", "https://api.example"},
                     {"VEDETTE_OIDC_ORG_CLAIM", "org"}}) {
    config.oidc.client_id = "dashboard";
    config.oidc.client_secret = "a secret";
    provider_keys.Publish({{"k1", std::nullopt,
                            std::get<base::PublicKey>(base::PublicKey::FromPem(key.PublicPem()))}});
    provider_keys.Fetch([] {});
    provider_keys.OfferSignIn();
  }
  struct Begun {
    std::string cookie;
    std::string state;
    std::string nonce;
    std::string challenge;
  };
  Begun Begin(const Json& body = Json::object()) {
    const Reply begun = Post("/dashboard/provider/sign-in", body);
    const std::string url = begun.body["url"].is_null() ? "" : begun.body["url"];
    const auto part = [&url](const std::string& name) {
      const auto at = url.find("&" + name + "=") + name.size() + 2;
      return url.substr(at, url.find('&', at) - at);
    };
    EXPECT_THAT(url, HasSubstr("https://idp.example/authorize?kind=code&response_type=code"));
    const std::string cookie = begun.Header("Set-Cookie");
    EXPECT_THAT(cookie, HasSubstr("; HttpOnly; Secure; SameSite=Lax"));
    return {cookie.substr(0, cookie.find(';')), part("state"), part("nonce"),
            part("code_challenge")};
  }
  // The provider sends the browser back with a code; for it there is a token with these claims.
  Reply Return(const Begun& begun, const Json& changes = Json::object()) {
    const auto now = std::chrono::floor<std::chrono::seconds>(clock.Now()).time_since_epoch();
    Json claims{
        {"iss", "https://idp.example"}, {"aud", "dashboard"},   {"sub", "x"},
        {"exp", now.count() + 300},     {"nonce", begun.nonce}, {"email", "Ada@example.com"},
        {"email_verified", true}};
    for (const auto& [name, value] : changes.items()) claims[name] = value;
    provider_keys.answer =
        Json{{"id_token", Signed(key, {{"alg", "ES256"}, {"kid", "k1"}}, claims)}}.dump();
    return Callback(begun.cookie, "code=abc&state=" + begun.state);
  }
  Reply Callback(const std::string& cookie, const std::string& query) {
    return Ask("GET", "/dashboard/provider/callback?" + query,
               Headers{{"cookie", cookie}, {"sec-fetch-site", "cross-site"}});
  }
  static std::string Place(const Reply& reply) { return reply.Header("Location"); }
  // The session's cookie is the last one that is set.
  static Headers SessionOf(const Reply& reply) {
    std::string cookie;
    for (const auto& [name, value] : reply.raw.headers) {
      if (name == "Set-Cookie" && value.starts_with("__Host-vedette=")) cookie = value;
    }
    return {{"cookie", cookie.substr(0, cookie.find(';'))}};
  }

  const base::SigningKey key = test::NewKey("P-256");
};

TEST_F(ApiProviderSignIn, AMemberComesInByAVerifiedAddress) {
  Take(Invite("ada@example.com", "viewer"));
  const Begun begun = Begin();
  const Reply back = Return(begun);
  EXPECT_EQ(back.status, 303);
  EXPECT_EQ(Place(back), "/dashboard");
  EXPECT_EQ(With("GET", "/dashboard/session", SessionOf(back)).body["email"], "ada@example.com");
  // The code went with the verifier of the challenge that was shown.
  const std::string form = provider_keys.redeemed;
  const std::string verifier = form.substr(form.find("code_verifier=") + 14, 64);
  EXPECT_EQ(base::Base64UrlEncode(base::Sha256(verifier)), begun.challenge);
  EXPECT_THAT(form, HasSubstr("client_secret=a%20secret"));
}

TEST_F(ApiProviderSignIn, NobodyIsMadeAMemberWhoWasNotInvitedOrNamed) {
  EXPECT_EQ(Place(Return(Begin())), "/dashboard#/sorry/unknown");
  EXPECT_EQ(Place(Return(Begin(), {{"org", "nobody's"}})), "/dashboard#/sorry/unknown");
  EXPECT_EQ(Sql("select count(*) from org_user"), "0");
  Sql("update organisation set external_id = 'tenant-7' where id = '" + acme.org_id +
      "' returning 1");
  const Reply named = Return(Begin(), {{"org", "tenant-7"}});
  EXPECT_EQ(Place(named), "/dashboard");
  EXPECT_EQ(With("GET", "/dashboard/session", SessionOf(named)).body["role"], "member");
  EXPECT_EQ(Ask("GET", "/account/members").body["members"][0]["by_provider"], true);
}

TEST_F(ApiProviderSignIn, ATokenWithoutTheTeamMakesNobodyAMemberOfTheWholeOrganisation) {
  config.oidc.team_claim = "team";
  const std::string team = NewTeam(acme.org_id);
  const std::string foreign = NewTeam(NewTenant("other").org_id);
  for (const Json& none : {Json(nullptr), Json(""), Json(5), Json("no id"), Json(foreign),
                           Json::array({team}), Json(std::string(256, 'x'))}) {
    EXPECT_EQ(Place(Return(Begin(), {{"org", acme.org_id}, {"team", none}})),
              "/dashboard#/sorry/unknown")
        << none;
  }
  EXPECT_EQ(Place(Return(Begin(), {{"org", acme.org_id}})), "/dashboard#/sorry/unknown");
  const Reply named = Return(Begin(), {{"org", acme.org_id}, {"team", team}});
  EXPECT_TRUE(With("GET", "/dashboard/session", SessionOf(named)).body["team"].is_string());
  EXPECT_EQ(Sql("select string_agg(team_id::text, ' ') from org_user"), team);
}

TEST_F(ApiProviderSignIn, WhomAClaimHasMadeAMemberFollowsIt) {
  config.oidc.team_claim = "team";
  const std::string one = NewTeam(acme.org_id);
  const std::string two = NewTeam(acme.org_id);
  const Tenant other = NewTenant("other");
  const Json first{{"org", acme.org_id}, {"team", one}};
  ASSERT_EQ(Place(Return(Begin(), first)), "/dashboard");
  const auto row = [&] {
    return Sql("select concat(role, ' ', team_id) from org_user where org_id = '" + acme.org_id +
               "'");
  };
  EXPECT_EQ(row(), "1 " + one);
  ASSERT_EQ(Place(Return(Begin(), {{"org", acme.org_id}, {"team", two}})), "/dashboard");
  EXPECT_EQ(row(), "1 " + two);
  EXPECT_EQ(Place(Return(Begin())), "/dashboard#/sorry/unknown") << "it names none any more";
  const Json second{{"org", other.org_id}, {"team", NewTeam(other.org_id)}};
  EXPECT_EQ(Place(Return(Begin(), second)), "/dashboard") << "it names another one alone";
  // An owner is of the whole organisation; what was invited is open without a claim.
  Sql("update org_user set role = 2, team_id = null where org_id = '" + acme.org_id +
      "' returning 1");
  ASSERT_EQ(Place(Return(Begin(), first)), "/dashboard");
  EXPECT_EQ(row(), "2 ");
  Return(Begin({{"invitation", Invite("ada@example.com", "owner")}}));
  const Reply choice = Return(Begin(), second);
  EXPECT_EQ(Place(choice), "/dashboard#/choose");
}

// What may be chosen is what the token of this sign-in has named.
TEST_F(ApiProviderSignIn, AChoiceOpensNoClaimedMembershipThatTheTokenDoesNotName) {
  const Tenant other = NewTenant("other");
  const Tenant third = NewTenant("third");
  ASSERT_EQ(Take(Invite("ada@example.com", "viewer", nullptr, third.key)).status, 200);
  Return(Begin(), {{"org", acme.org_id}});
  const Reply back = Return(Begin(), {{"org", other.org_id}});
  ASSERT_EQ(Place(back), "/dashboard#/choose");
  std::string cookie;
  for (const auto& [name, value] : back.raw.headers) {
    if (name == "Set-Cookie" && value.starts_with("__Host-vedette-choice=")) cookie = value;
  }
  const Headers chooses{{"cookie", cookie.substr(0, cookie.find(';'))}};
  EXPECT_EQ(Post("/dashboard/sign-in/choose", Json::object(), chooses).body["choose"].size(), 2U);
  EXPECT_EQ(Post("/dashboard/sign-in/choose", Json{{"org_id", acme.org_id}}, chooses).status, 404);
}

TEST_F(ApiProviderSignIn, AnInvitationIsTakenByItsOwnAddressAlone) {
  const std::string token = Invite("ada@example.com", "owner");
  EXPECT_EQ(Place(Return(Begin({{"invitation", token}}), {{"email", "eve@example.com"}})),
            "/dashboard#/sorry/invitation");
  const Reply joined = Return(Begin({{"invitation", token}}));
  EXPECT_EQ(With("GET", "/dashboard/session", SessionOf(joined)).body["role"], "owner");
  EXPECT_EQ(Place(Return(Begin({{"invitation", token}}))), "/dashboard#/sorry/invitation");
}

// Somebody has taken the address here before the provider vouched for another: he comes into
// nothing that its real owner got by the provider.
TEST_F(ApiProviderSignIn, APasswordDoesNotOpenWhatTheProviderHasOpened) {
  const Tenant other = NewTenant("other");
  ASSERT_EQ(Take(Invite("ada@example.com", "viewer", nullptr, other.key)).status, 200);
  Return(Begin({{"invitation", Invite("ada@example.com", "owner")}}));
  const Reply in = SignIn("ada@example.com");
  EXPECT_EQ(in.body["org_id"], other.org_id) << in.raw.body;
  const Json choice{{"email", "ada@example.com"}, {"password", kPassword}, {"org_id", acme.org_id}};
  EXPECT_EQ(Post("/dashboard/sign-in", choice).status, 404);
  EXPECT_EQ(Place(Return(Begin())), "/dashboard#/choose");
}

// Nor does a link that the real owner takes himself, with a passkey beside the stranger's password.
TEST_F(ApiProviderSignIn, ALinkDoesNotTakeAMembershipFromTheProvider) {
  const Tenant other = NewTenant("other");
  ASSERT_EQ(Take(Invite("ada@example.com", "viewer", nullptr, other.key)).status, 200);
  Return(Begin({{"invitation", Invite("ada@example.com", "member")}}));
  const std::string token = Invite("ada@example.com", "owner");
  EXPECT_EQ(Post("/dashboard/invitation", Json{{"token", token}}).body["by_provider"], true);
  EXPECT_EQ(Take(token).error(), "by_provider");
  EXPECT_EQ(Place(Return(Begin({{"invitation", token}}))), "/dashboard") << "the link is good";
  EXPECT_EQ(Sql("select string_agg(concat(role, by_provider), ' ' order by role) from org_user"),
            "0f 2t");
  EXPECT_EQ(SignIn("ada@example.com").body["org_id"], other.org_id);
}

TEST_F(ApiProviderSignIn, AStrangersSessionEndsNoneThatTheProviderHasOpened) {
  const Tenant other = NewTenant("other");
  ASSERT_EQ(Take(Invite("ada@example.com", "viewer", nullptr, other.key)).status, 200);
  const Headers ada =
      SessionOf(Return(Begin({{"invitation", Invite("ada@example.com", "owner")}})));
  const auto entries = [&] {
    return Sql("select count(*) from audit where org_id = '" + acme.org_id + "'");
  };
  const std::string before = entries();
  const Reply changed =
      With("POST", "/dashboard/password", Changes(SignIn("ada@example.com")),
           Json{{"current_password", kPassword}, {"password", "another one of them"}}.dump());
  ASSERT_EQ(changed.status, 200) << changed.raw.body;
  ASSERT_EQ(With("DELETE", "/dashboard/sessions", Changes(changed)).status, 200);
  const Reply mine = With("GET", "/dashboard/session", ada);
  ASSERT_EQ(mine.status, 200) << mine.raw.body;
  EXPECT_EQ(entries(), before);
  // By the provider he ends all that he has.
  const Reply theirs = SignIn("ada@example.com", "another one of them");
  Headers changes = ada;
  changes.emplace_back("x-csrf-token", mine.body["csrf_token"].get<std::string>());
  ASSERT_EQ(With("DELETE", "/dashboard/sessions", changes).status, 200);
  EXPECT_EQ(With("GET", "/dashboard/session", Reads(theirs)).status, 401);
}

// A password would renew a session after the provider has ended what it gave.
TEST_F(ApiProviderSignIn, WhomTheProviderLetsInGetsNoOtherWayInThere) {
  const Reply back = Return(Begin({{"invitation", Invite("ada@example.com", "owner")}}));
  Headers ada = SessionOf(back);
  const Json ways = With("GET", "/dashboard/passkeys", ada).body;
  EXPECT_EQ(ways["by_provider"], true) << ways;
  ada.emplace_back("x-csrf-token",
                   With("GET", "/dashboard/session", ada).body["csrf_token"].get<std::string>());
  const Json password{{"password", kPassword}};
  EXPECT_EQ(With("POST", "/dashboard/password", ada, password.dump()).error(), "by_provider");
  EXPECT_EQ(With("POST", "/dashboard/passkeys/options", ada, "{}").error(), "by_provider");
  const Json made{{"passkey", phone.Made(base::Base64UrlEncode(std::string(32, 'x')))}};
  EXPECT_EQ(With("POST", "/dashboard/passkeys", ada, made.dump()).error(), "by_provider");
  const std::string path = "/account/members/ada%40example.com/reset";
  EXPECT_EQ(Ask("POST", path, Json::object()).error(), "by_provider");
  // A link that was made before the membership became the provider's.
  Sql("update org_user set by_provider = false returning 1");
  const std::string link = Ask("POST", path, Json::object()).body["link"];
  Sql("update org_user set by_provider = true returning 1");
  const std::string token = link.substr(link.find("vd_rst_"));
  EXPECT_EQ(Post("/dashboard/reset", Json{{"token", token}}).status, 404);
}

TEST_F(ApiProviderSignIn, TheAnswerCountsOnceAndInTheBrowserThatAsked) {
  Take(Invite("ada@example.com", "viewer"));
  const Begun begun = Begin();
  const Begun other = Begin();
  EXPECT_EQ(Place(Return({other.cookie, begun.state, begun.nonce, ""})),
            "/dashboard#/sorry/expired");
  EXPECT_EQ(Place(Return({"", begun.state, begun.nonce, ""})), "/dashboard#/sorry/expired");
  EXPECT_EQ(Place(Return(begun)), "/dashboard");
  EXPECT_EQ(Place(Return(begun)), "/dashboard#/sorry/expired");
  const Begun late = Begin();
  Sql("update one_time_secret set expires_at = now() returning 1");
  EXPECT_EQ(Place(Return(late)), "/dashboard#/sorry/expired");
  const Begun mixed = Begin();
  EXPECT_EQ(Place(Callback(mixed.cookie,
                           "code=abc&state=" + mixed.state + "&iss=https%3A%2F%2Fevil.example")),
            "/dashboard#/sorry/refused");
  const Begun refused = Begin();
  EXPECT_EQ(Place(Callback(refused.cookie, "error=access_denied&state=" + refused.state)),
            "/dashboard#/sorry/refused");
}

TEST_F(ApiProviderSignIn, EachClaimThatIsNotAsItShouldBeIsRefused) {
  Take(Invite("ada@example.com", "viewer"));
  for (const Json& wrong :
       {Json{{"nonce", "another"}}, Json{{"aud", "https://api.example"}},
        Json{{"aud", Json::array({"dashboard", "another"})}}, Json{{"azp", "another"}},
        Json{{"iss", "https://evil.example"}}, Json{{"exp", 1}}, Json{{"email_verified", false}},
        Json{{"email_verified", "true"}}, Json{{"email_verified", nullptr}},
        Json{{"email", nullptr}}, Json{{"email", "ada"}}}) {
    EXPECT_EQ(Place(Return(Begin(), wrong)), "/dashboard#/sorry/refused") << wrong;
  }
  const Begun begun = Begin();
  provider_keys.answer.clear();
  EXPECT_EQ(Place(Callback(begun.cookie, "code=abc&state=" + begun.state)),
            "/dashboard#/sorry/unavailable");
}

}  // namespace
}  // namespace vedette::test
