// Signing in at the dashboard: by an invitation's link, once, and then by address and password, or
// by a passkey. A session is a token in a cookie (api/tenant/credentials.h).
#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "api/kit/body.h"
#include "api/tenant/credentials.h"
#include "api/tenant/dashboard/dashboard.h"
#include "api/tenant/handlers.h"
#include "base/crypto.h"
#include "base/json.h"
#include "base/text.h"
#include "config/auth_config.h"
#include "config/parts.h"
#include "config/security_config.h"
#include "domain/auth/cell.h"
#include "store/accounts/access_tokens.h"
#include "store/accounts/auth.h"
#include "store/accounts/members.h"

namespace vedette::api {
namespace {

constexpr std::chrono::hours kSessionLife{12};
constexpr std::chrono::minutes kChoiceLife{5};
// How young a session is by which one gets other ways of signing in.
constexpr std::chrono::minutes kFreshMax{15};
constexpr std::size_t kPasswordCharsMin = 12;
constexpr std::size_t kPasswordCharsMax = 200;
constexpr int kSessionsShown = 100;
constexpr std::string_view kChoiceCookie = "__Host-vedette-choice";

base::Json MembershipJson(const store::Membership& one) {
  return {{"org_id", one.org_id.ToString()},
          {"organisation", one.organisation},
          {"role", domain::MemberRoleName(one.role)}};
}

// An organisation that has moved is shown with its cell, as which choosing it is answered too.
base::Json ChoiceJson(const store::Membership& one) {
  base::Json choice = MembershipJson(one);
  choice["cell"] = base::OrNull(one.lives_at);
  return choice;
}

// The name of the team to which the member is limited.
base::Json TeamJson(const std::optional<store::OwnSession>& own) {
  return own && own->team ? base::Json(own->team->name) : base::Json(nullptr);
}

// The answer that takes the cookie away.
rest::Reply SignedOut() {
  rest::Reply reply = rest::JsonReply(200, {{"signed_out", true}});
  reply.headers.push_back(SetCookie(kSessionCookie, "", std::chrono::seconds(0)));
  return reply;
}

// The session of the organisation that a person chose, or of the only one; else what he may choose.
std::optional<rest::Reply> EnterOne(Call& call, const std::string& email,
                                    const std::vector<store::Membership>& all,
                                    const std::optional<base::Uuid>& org_id,
                                    const store::ShownWays& shown) {
  if (!org_id && all.size() > 1) return std::nullopt;
  const auto chosen = std::find_if(all.begin(), all.end(), [&](const store::Membership& one) {
    return !org_id || one.org_id == *org_id;
  });
  if (chosen == all.end()) return rest::NotFound("organisation of yours");
  return OpenSession(call, email, *chosen, shown);
}

// What the holder of an invitation has shown, or sets.
struct TakenInvitation {
  std::string token;
  std::optional<std::string> password;
  std::optional<MadePasskey> made;
  std::optional<ShownPasskey> shown;
};
TakenInvitation ReadTakenInvitation(Call& call) {
  rest::BodyReader body(call.request(), BodyRulesOf(call), rest::Nulls::kAbsent);
  TakenInvitation taken;
  taken.token = ReadLinkToken(&body);
  taken.password = ReadPassword(&body, "password", rest::Presence::kOptional);
  taken.made = ReadMadePasskey(&body, rest::Presence::kOptional);
  taken.shown = ReadShownPasskey(&body, "own_passkey");
  // One that is there and wrong is told already.
  const auto gives = [&](std::string_view name) {
    return body.Member(name, rest::Presence::kOptional) != nullptr;
  };
  if (!gives("password") && !gives("passkey") && !gives("own_passkey")) {
    body.Refuse("password", "A password or a passkey is needed");
  }
  body.Check();
  return taken;
}

// A holder who has something to sign in with already shows it: a link alone does not open his other
// organisations. Throws a 401 where he does not.
store::HolderShows CheckHolder(Call& call, const store::Invitation& found,
                               const TakenInvitation& taken) {
  store::HolderShows shows;
  if (found.is_new()) {
    if (taken.password) CheckNewPassword(*taken.password);
    if (taken.made) shows.passkey = CheckMadePasskey(call, *taken.made, found.email);
    if (taken.password) shows.password = base::HashPassword(*taken.password);
    if (!taken.password && !taken.made) throw rest::Refusal(WrongPassword());
    return shows;
  }
  if (taken.shown) {
    CheckPasskey(call, *taken.shown, found.email);
    shows.own_passkey = taken.shown->credential_id;
    return shows;
  }
  if (!IsPasswordOf(found.password, taken.password.value_or(""))) {
    throw rest::Refusal(WrongPassword());
  }
  shows.password = found.password;
  return shows;
}

}  // namespace

void CheckDashboard(const Call& call) {
  if (call.parts.config.dashboard.enabled) return;
  throw rest::Refusal(rest::NoSuchPath(call.request().path, "[dashboard] enabled is false"));
}

void CheckSameSite(const Call& call) {
  rest::CheckSameSite(call.request(), "the dashboard");
}

void CountTry(Call& call, std::string_view email) {
  rest::CountTry(call.session(), "sign-in", call.request().remote_address, email);
}

std::string ReadLinkToken(rest::BodyReader* body) {
  return body->Secret("token", rest::Presence::kRequired, 1, kLinkTokenCharsMax).value_or("");
}

std::optional<base::Uuid> ReadTeam(rest::BodyReader* body) {
  if (body->IsNull("team_id")) return std::nullopt;
  return body->Id("team_id", rest::Presence::kOptional);
}

rest::Reply WrongPassword() {
  return rest::ErrorReply(401, "wrong_password", "the address or the password is not right");
}

rest::Reply SessionEnded() {
  return rest::ErrorReply(401, "sign_in_again",
                          "the session has ended, or the password was changed, meanwhile: sign in "
                          "again");
}

rest::Reply NoLink(const Call& call, std::string_view token, std::string_view prefix) {
  const auto cell = domain::CellOfSecret(token, prefix, store::kTokenRandomChars);
  if (cell && *cell != CellOf(call)) return rest::WrongCell(*cell);
  return rest::ErrorReply(404, "not_found",
                          "the link was used, has expired or was withdrawn: ask for another one");
}

// Takes as long where nobody has the address.
bool IsPasswordOf(const std::optional<std::string>& stored, const std::string& password) {
  static const std::string kNobodys = base::HashPassword("nobody's");
  const bool right = base::IsPassword(password, stored.value_or(kNobodys));
  return stored && right;
}

std::optional<std::string> ReadPassword(rest::BodyReader* body, std::string_view name,
                                        rest::Presence presence) {
  return body->Secret(name, presence, 1, kPasswordCharsMax);
}

void CheckNewPassword(const std::string& password) {
  if (base::CountCharacters(password) >= kPasswordCharsMin) return;
  throw rest::Refusal(rest::ValidationReply(
      rest::BodyReader::Loc("password"), "string_too_short",
      fmt::format("A password has at least {} characters", kPasswordCharsMin)));
}

store::AuditEntry AuditOfMember(const Call& call, const base::Uuid& org_id,
                                const std::string& email, std::string action) {
  store::AuditEntry audit;
  audit.actor = "user " + email;
  audit.action = std::move(action);
  audit.remote_address = call.request().remote_address;
  audit.principal = domain::Principal{
      .kind = domain::PrincipalKind::kUser,
      .id = domain::UserPrincipal(org_id, email),
      .label = audit.actor,
  };
  return audit;
}

store::SessionOutcome MakeSession(Call& call, const std::string& email, const base::Uuid& org_id,
                                  const store::ShownWays& shown) {
  return store::CreateSession(call.session(), call.parts.clock, org_id,
                              {.user_id = email,
                               .name = std::nullopt,
                               .team_id = std::nullopt,
                               .ttl = kSessionLife,
                               .for_members = true,
                               .cell = call.parts.config.cell.id,
                               .shown = shown},
                              AuditOfMember(call, org_id, email, "session.create"));
}

rest::Header SessionCookie(const std::string& token) {
  return SetCookie(kSessionCookie, token, kSessionLife);
}

rest::Reply OpenSession(Call& call, const std::string& email, const store::Membership& membership,
                        const store::ShownWays& shown) {
  const auto made = MakeSession(call, email, membership.org_id, shown);
  if (made.kind != store::SessionOutcome::Kind::kDone) return WrongPassword();
  base::Json body = MembershipJson(membership);
  body["email"] = email;
  body["team"] = TeamJson(store::FindSession(call.session(), made.token));
  body["csrf_token"] = CsrfTokenOf(made.token);
  body["expires_at"] = base::FormatTimestamp(made.expires_at);
  rest::Reply reply = rest::JsonReply(200, body);
  reply.headers.push_back(SessionCookie(made.token));
  return reply;
}

std::vector<store::Membership> OwnMemberships(const store::Person& person) {
  std::vector<store::Membership> own;
  for (const auto& one : person.memberships) {
    if (!one.by_provider) own.push_back(one);
  }
  return own;
}

std::vector<store::Membership> ProviderMemberships(const store::Person& person,
                                                   const std::optional<base::Uuid>& named) {
  std::vector<store::Membership> open;
  for (const auto& one : person.memberships) {
    if (!one.claimed || one.org_id == named) open.push_back(one);
  }
  return open;
}

base::Json ChoicesJson(const std::vector<store::Membership>& all) {
  base::Json choices = base::Json::array();
  for (const auto& one : all) choices.push_back(ChoiceJson(one));
  return {{"choose", std::move(choices)}};
}

rest::Header OfferChoice(Call& call, const std::string& email, store::OneTimePurpose purpose,
                         const store::ShownWays& shown, const std::optional<base::Uuid>& named) {
  const std::string secret = base::RandomBase62(store::kTokenRandomChars);
  if (!store::OfferChoice(call.session(), {purpose, secret}, kChoiceLife, email, shown, named)) {
    throw rest::Refusal(WrongPassword());
  }
  return SetCookie(kChoiceCookie, secret, kChoiceLife);
}

Own FindOwn(Call& call) {
  CheckDashboard(call);
  const auto credential = FindCredential(call.request());
  const auto* shown = std::get_if<Credential>(&credential);
  auto own = shown == nullptr ? std::nullopt : store::FindSession(call.session(), shown->text);
  if (own) return {std::move(*own), std::string(shown->text)};
  throw rest::Refusal(rest::NotFound("session: this request was made with another credential"));
}

rest::Reply ByProvider(std::string_view what_to_do) {
  return rest::ErrorReply(
      409, "by_provider",
      fmt::format("the identity provider has made this a membership, and alone opens it: {}",
                  what_to_do));
}

store::OwnSession FindOwnMember(Call& call) {
  store::OwnSession own = FindOwn(call).session;
  if (own.role) return own;
  throw rest::Refusal(rest::NotFound("member: this session is of a user of another dashboard"));
}

void CheckWays(const store::OwnSession& own) {
  if (own.by_provider) throw rest::Refusal(ByProvider("sign in by it"));
}

void CheckFresh(const store::OwnSession& own) {
  if (own.age <= kFreshMax) return;
  throw rest::Refusal(403, "sign_in_again",
                      "this needs a sign-in of the last 15 minutes: sign out and in again");
}

// Which ways of signing in there are beside a password.
rest::Handled ShowSignIn(Call& call) {
  CheckDashboard(call);
  const config::OidcConfig& oidc = call.parts.config.oidc;
  base::Json provider = nullptr;
  if (!oidc.client_id.empty()) provider = rest::ProviderName(oidc.issuer);
  return rest::JsonReply(200, {{"passkeys", HasPasskeys(call)}, {"provider", provider}});
}

rest::Handled SignIn(Call& call) {
  CheckDashboard(call);
  CheckSameSite(call);
  rest::BodyReader body(call.request(), BodyRulesOf(call), rest::Nulls::kAbsent);
  const std::string email = rest::ReadAddress(&body);
  const std::string password =
      ReadPassword(&body, "password", rest::Presence::kRequired).value_or("");
  const auto org_id = body.Id("org_id", rest::Presence::kOptional);
  body.Check();
  CountTry(call, email);
  const auto person = store::FindPerson(call.session(), email);
  if (!IsPasswordOf(person.password, password)) return WrongPassword();
  const auto all = OwnMemberships(person);
  if (all.empty()) return WrongPassword();
  auto entered = EnterOne(call, email, all, org_id, {.password = person.password});
  return entered ? std::move(*entered) : rest::JsonReply(200, ChoicesJson(all));
}

rest::Handled SignInByPasskey(Call& call) {
  CheckDashboard(call);
  CheckSameSite(call);
  rest::BodyReader body(call.request(), BodyRulesOf(call), rest::Nulls::kWrong);
  const ShownPasskey shown = ReadShownPasskey(&body);
  body.Check();
  CountTry(call);
  const std::string email = CheckPasskey(call, shown);
  const auto all = OwnMemberships(store::FindPerson(call.session(), email));
  if (all.empty()) return WrongPassword();
  const store::ShownWays shows{.passkey = shown.credential_id};
  if (auto entered = EnterOne(call, email, all, std::nullopt, shows)) return std::move(*entered);
  rest::Reply reply = rest::JsonReply(200, ChoicesJson(all));
  reply.headers.push_back(OfferChoice(call, email, store::OneTimePurpose::kChoice, shows));
  return reply;
}

// What one who has shown who he is may choose from; with an organisation, its session.
rest::Handled ChooseOrganisation(Call& call) {
  using Purpose = store::OneTimePurpose;
  CheckDashboard(call);
  CheckSameSite(call);
  rest::BodyReader body(call.request(), BodyRulesOf(call), rest::Nulls::kAbsent);
  const auto org_id = body.Id("org_id", rest::Presence::kOptional);
  body.Check();
  CountTry(call);
  const std::string_view secret = CookieOf(call.request(), kChoiceCookie);
  for (const auto purpose : {Purpose::kChoice, Purpose::kProviderChoice}) {
    const auto found = store::FindOneTimeSecret(call.session(), purpose, secret);
    if (!found || !found->email) continue;
    const auto person = store::FindPerson(call.session(), *found->email);
    const auto all = purpose == Purpose::kChoice ? OwnMemberships(person)
                                                 : ProviderMemberships(person, found->org_id);
    if (!org_id) return rest::JsonReply(200, ChoicesJson(all));
    const store::ShownWays shows{.choice = store::ShownWays::Choice{purpose, std::string(secret)}};
    return *EnterOne(call, *found->email, all, org_id, shows);
  }
  return rest::ErrorReply(401, "sign_in_again", "the choice took too long: sign in again");
}

rest::Handled ShowInvitation(Call& call) {
  CheckDashboard(call);
  rest::BodyReader body(call.request(), BodyRulesOf(call), rest::Nulls::kWrong);
  const std::string token = ReadLinkToken(&body);
  body.Check();
  CountTry(call);
  const auto found = store::FindInvitation(call.session(), token);
  if (!found) return NoLink(call, token, store::kInvitationPrefix);
  return rest::JsonReply(200, {{"organisation", found->organisation},
                               {"email", found->email},
                               {"role", domain::MemberRoleName(found->role)},
                               {"has_password", found->password.has_value()},
                               {"has_passkey", found->has_passkey},
                               {"by_provider", found->by_provider}});
}

rest::Handled TakeInvitation(Call& call) {
  CheckDashboard(call);
  CheckSameSite(call);
  const TakenInvitation taken = ReadTakenInvitation(call);
  const auto found = store::FindInvitation(call.session(), taken.token);
  CountTry(call, found ? std::string_view(found->email) : std::string_view());
  if (!found) return NoLink(call, taken.token, store::kInvitationPrefix);
  const store::HolderShows shows = CheckHolder(call, *found, taken);
  const auto audit = AuditOfMember(call, found->org_id, found->email, "invitation.accept");
  switch (store::AcceptInvitation(call.session(), call.parts.clock, base::Sha256(taken.token),
                                  shows, audit)) {
    case store::Acceptance::kGone:
      return NoLink(call, taken.token, store::kInvitationPrefix);
    case store::Acceptance::kLastOwner:
      return LastOwner();
    case store::Acceptance::kByProvider:
      return ByProvider("join by it, or ask an owner to remove you first");
    case store::Acceptance::kDone:
      break;
  }
  store::ShownWays ways{.password = shows.password, .passkey = shows.own_passkey};
  if (shows.passkey) ways.passkey = shows.passkey->made.credential_id;
  return OpenSession(call, found->email, {found->org_id, found->organisation, found->role, false},
                     ways);
}

rest::Handled ShowOwnSession(Call& call) {
  const auto [own, token] = FindOwn(call);
  return rest::JsonReply(
      200, {{"id", own.id.ToString()},
            {"email", own.user_id},
            {"org_id", call.caller.org_id.ToString()},
            {"organisation", own.organisation},
            {"role", domain::MemberRoleName(own.role.value_or(domain::MemberRole::kOwner))},
            {"team", TeamJson(own)},
            {"csrf_token", CsrfTokenOf(token)},
            {"expires_at", base::FormatTimestamp(own.expires_at)}});
}

rest::Handled SignOut(Call& call) {
  const store::OwnSession own = FindOwn(call).session;
  store::EndSession(call.session(), call.parts.clock, call.caller.org_id, own.id,
                    AuditOf(call, "session.end", own.id.ToString()));
  return SignedOut();
}

rest::Handled ListOwnSessions(Call& call) {
  const store::OwnSession own = FindOwn(call).session;
  const auto all = store::ListSessions(
      call.session(), call.caller.org_id,
      {.before = std::nullopt, .user_id = own.user_id, .limit = kSessionsShown});
  base::Json sessions = base::Json::array();
  for (const store::LiveSession& one : all.value_or(std::vector<store::LiveSession>())) {
    sessions.push_back({{"id", one.id.ToString()},
                        {"created_at", base::FormatTimestamp(one.created_at)},
                        {"expires_at", base::FormatTimestamp(one.expires_at)},
                        {"current", one.id == own.id}});
  }
  return rest::JsonReply(200, {{"sessions", std::move(sessions)}});
}

rest::Handled SignOutEverywhere(Call& call) {
  const store::OwnSession own = FindOwn(call).session;
  store::EndSessionsOf(call.session(), call.parts.clock, call.caller.org_id, own.user_id,
                       own.by_provider, AuditOf(call, "session.end_all"));
  return SignedOut();
}

}  // namespace vedette::api
