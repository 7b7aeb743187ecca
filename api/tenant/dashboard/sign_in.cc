// Signing in at the dashboard: by an invitation's link, once, and then by address and password. A
// session is a token in a cookie (api/tenant/credentials.h).
#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "api/kit/body.h"
#include "api/tenant/credentials.h"
#include "api/tenant/dashboard/dashboard.h"
#include "api/tenant/handlers.h"
#include "base/json.h"
#include "base/password.h"
#include "base/text.h"
#include "config/config.h"
#include "domain/auth/cell.h"
#include "store/accounts/access_tokens.h"
#include "store/accounts/auth.h"
#include "store/accounts/members.h"

namespace vedette::api {
namespace {

constexpr std::chrono::hours kSessionLife{12};
constexpr std::size_t kPasswordCharsMin = 12;
constexpr std::size_t kPasswordCharsMax = 200;
constexpr std::size_t kTokenCharsMax = 100;
constexpr int kSessionsShown = 100;
// Tries in a minute: for one address, also for one that nobody has, and from one remote address.
constexpr std::int64_t kTriesOfAddressMax = 10;
constexpr std::int64_t kTriesFromMax = 60;

// Counts a try before anything is looked up, so that a refusal says nothing of who exists. Without
// an address it counts for the remote address alone, so that no stranger uses up others' tries.
void CountTry(Call& call, std::string_view email = {}) {
  const base::Uuid nobody{};
  const auto count = [&](const std::string& what) {
    return store::CountRequest(call.session(), domain::UserPrincipal(nobody, what)).requests;
  };
  const auto of_address = email.empty() ? 0 : count("sign-in of " + std::string(email));
  const auto from = count("sign-in from " + call.request().remote_address);
  if (of_address <= kTriesOfAddressMax && from <= kTriesFromMax) return;
  rest::Reply reply =
      rest::ErrorReply(429, "rate_limited", "too many tries to sign in: wait for a minute");
  reply.headers.emplace_back("Retry-After", "60");
  throw rest::Refusal(std::move(reply));
}

// Another site's page must not sign its visitor in with an account of its own choice. Browsers say
// from where a request comes, and nothing else does.
void CheckSameSite(const Call& call) {
  const std::string_view from = call.request().Header("sec-fetch-site");
  if (from.empty() || from == "same-origin" || from == "none") return;
  throw rest::Refusal(403, "cross_site", "the dashboard signs in from its own pages alone");
}

rest::Reply WrongPassword() {
  return rest::ErrorReply(401, "wrong_password", "the address or the password is not right");
}
rest::Reply NoInvitation(const Call& call, std::string_view token) {
  const auto cell = domain::CellOfSecret(token, store::kInvitationPrefix, store::kTokenRandomChars);
  if (cell && *cell != CellOf(call)) return rest::WrongCell(*cell);
  return rest::ErrorReply(404, "not_found",
                          "the link was used, has expired or was withdrawn: ask for another one");
}

std::string CookieText(std::string_view value, std::chrono::seconds life) {
  return fmt::format("{}={}; Path=/; Max-Age={}; HttpOnly; Secure; SameSite=Strict", kSessionCookie,
                     value, life.count());
}

base::Json MembershipJson(const store::Membership& one) {
  return {{"org_id", one.org_id.ToString()},
          {"organisation", one.organisation},
          {"role", domain::MemberRoleName(one.role)}};
}

// The entry of something that a member does by signing in.
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

// Opens a session of a member and gives it to the browser.
rest::Reply OpenSession(Call& call, const std::string& email, const store::Membership& membership) {
  const auto made =
      store::CreateSession(call.session(), call.parts.clock, membership.org_id,
                           {.user_id = email,
                            .name = std::nullopt,
                            .team_id = std::nullopt,
                            .ttl = kSessionLife,
                            .for_members = true,
                            .cell = call.parts.config.cell.id},
                           AuditOfMember(call, membership.org_id, email, "session.create"));
  if (made.kind != store::SessionOutcome::Kind::kDone) return WrongPassword();
  base::Json body = MembershipJson(membership);
  body["email"] = email;
  body["csrf_token"] = CsrfTokenOf(made.token);
  body["expires_at"] = base::FormatTimestamp(made.expires_at);
  rest::Reply reply = rest::JsonReply(200, body);
  reply.headers.emplace_back("Set-Cookie", CookieText(made.token, kSessionLife));
  return reply;
}

// Takes as long where nobody has the address.
bool IsPasswordOf(const std::optional<store::Person>& person, const std::string& password) {
  static const std::string kNobodys = base::HashPassword("nobody's");
  const bool right = base::IsPassword(password, person ? person->password : kNobodys);
  return person && right;
}

struct Own {
  store::OwnSession session;
  std::string token;
};
// The session that a request shows.
Own FindOwn(Call& call) {
  CheckDashboard(call);
  const auto credential = FindCredential(call.request());
  const auto* shown = std::get_if<Credential>(&credential);
  auto own = shown == nullptr ? std::nullopt : store::FindSession(call.session(), shown->text);
  if (own) return {std::move(*own), std::string(shown->text)};
  throw rest::Refusal(rest::NotFound("session: this request was made with another credential"));
}

// The answer that takes the cookie away.
rest::Reply SignedOut() {
  rest::Reply reply = rest::JsonReply(200, {{"signed_out", true}});
  reply.headers.emplace_back("Set-Cookie", CookieText("", std::chrono::seconds(0)));
  return reply;
}

}  // namespace

void CheckDashboard(const Call& call) {
  if (call.parts.config.dashboard.enabled) return;
  throw rest::Refusal(rest::NoSuchPath(call.request().path, "[dashboard] enabled is false"));
}

std::string ReadAddress(rest::BodyReader* body) {
  std::string email =
      base::AsciiLower(body->FilledText("email", rest::Presence::kRequired, kAddressCharsMax)
                           .value_or(std::string()));
  const auto at = email.find('@');
  const bool good = at != std::string::npos && at > 0 && at + 1 < email.size() &&
                    email.find_first_of(" \t\r\n") == std::string::npos;
  if (!email.empty() && !good) body->Refuse("email", "Input should be an e-mail address");
  return email;
}

rest::Handled SignIn(Call& call) {
  CheckDashboard(call);
  CheckSameSite(call);
  rest::BodyReader body(call.request(), BodyRulesOf(call), rest::Nulls::kAbsent);
  const std::string email = ReadAddress(&body);
  const std::string password =
      body.Text("password", rest::Presence::kRequired, 1, kPasswordCharsMax).value_or("");
  const auto org_id = body.Id("org_id", rest::Presence::kOptional);
  body.Check();
  CountTry(call, email);
  const auto person = store::FindPerson(call.session(), email);
  if (!IsPasswordOf(person, password)) return WrongPassword();
  const auto& all = person->memberships;
  if (all.empty()) return WrongPassword();
  if (!org_id && all.size() > 1) {
    base::Json choices = base::Json::array();
    for (const auto& one : all) choices.push_back(MembershipJson(one));
    return rest::JsonReply(200, {{"choose", std::move(choices)}});
  }
  const auto chosen = std::find_if(all.begin(), all.end(), [&](const store::Membership& one) {
    return !org_id || one.org_id == *org_id;
  });
  if (chosen == all.end()) return rest::NotFound("organisation of yours");
  return OpenSession(call, email, *chosen);
}

rest::Handled ShowInvitation(Call& call) {
  CheckDashboard(call);
  rest::BodyReader body(call.request(), BodyRulesOf(call), rest::Nulls::kWrong);
  const std::string token =
      body.Text("token", rest::Presence::kRequired, 1, kTokenCharsMax).value_or("");
  body.Check();
  CountTry(call);
  const auto found = store::FindInvitation(call.session(), token);
  if (!found) return NoInvitation(call, token);
  return rest::JsonReply(200, {{"organisation", found->organisation},
                               {"email", found->email},
                               {"role", domain::MemberRoleName(found->role)},
                               {"has_password", found->password.has_value()}});
}

rest::Handled TakeInvitation(Call& call) {
  CheckDashboard(call);
  CheckSameSite(call);
  rest::BodyReader body(call.request(), BodyRulesOf(call), rest::Nulls::kWrong);
  const std::string token =
      body.Text("token", rest::Presence::kRequired, 1, kTokenCharsMax).value_or("");
  const std::string password =
      body.Text("password", rest::Presence::kRequired, 1, kPasswordCharsMax).value_or("");
  body.Check();
  const auto found = store::FindInvitation(call.session(), token);
  CountTry(call, found ? std::string_view(found->email) : std::string_view());
  if (!found) return NoInvitation(call, token);
  // A holder who has a password already shows it: a link alone does not open his other
  // organisations.
  if (found->password && !base::IsPassword(password, *found->password)) return WrongPassword();
  if (!found->password && base::CountCharacters(password) < kPasswordCharsMin) {
    return rest::ValidationReply(
        rest::BodyReader::Loc("password"), "string_too_short",
        fmt::format("A password has at least {} characters", kPasswordCharsMin));
  }
  const std::string stored = found->password ? *found->password : base::HashPassword(password);
  const auto audit = AuditOfMember(call, found->org_id, found->email, "invitation.accept");
  if (!store::AcceptInvitation(call.session(), call.parts.clock, token, stored, audit)) {
    return NoInvitation(call, token);
  }
  return OpenSession(call, found->email, {found->org_id, found->organisation, found->role});
}

rest::Handled ShowOwnSession(Call& call) {
  const auto [own, token] = FindOwn(call);
  return rest::JsonReply(
      200, {{"id", own.id.ToString()},
            {"email", own.user_id},
            {"org_id", call.caller.org_id.ToString()},
            {"organisation", own.organisation},
            {"role", domain::MemberRoleName(own.role.value_or(domain::MemberRole::kOwner))},
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
                       AuditOf(call, "session.end_all"));
  return SignedOut();
}

}  // namespace vedette::api
