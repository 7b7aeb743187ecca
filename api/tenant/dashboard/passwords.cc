// Another password: for one who is signed in, and by a link for one who has forgotten his.
#include <utility>

#include "api/kit/credentials.h"
#include "api/tenant/dashboard/dashboard.h"
#include "api/tenant/handlers.h"
#include "base/crypto.h"
#include "base/json.h"
#include "config/parts.h"
#include "config/security_config.h"

namespace vedette::api {
rest::Handled ChangeOwnPassword(Call& call) {
  const store::OwnSession own = FindOwnMember(call);
  rest::BodyReader body(call.request(), BodyRulesOf(call), rest::Nulls::kAbsent);
  const auto current = ReadPassword(&body, "current_password", rest::Presence::kOptional);
  const auto password = ReadPassword(&body, "password", rest::Presence::kRequired);
  body.Check();
  CheckWays(own);
  CheckNewPassword(*password);
  const auto person = store::FindPerson(call.session(), own.user_id);
  if (person.password) {
    CountTry(call, own.user_id);
    if (!IsPasswordOf(person.password, current.value_or(""))) {
      return rest::ErrorReply(403, "wrong_password", "the present password is not right");
    }
  } else {
    CheckFresh(own);
  }
  const std::string stored = base::HashPassword(*password);
  if (!store::ChangePassword(call.session(), call.parts.clock, call.caller.org_id, own.user_id,
                             stored,
                             {.password = person.password, .session_sha256 = own.token_sha256},
                             AuditOf(call, "password.change"))) {
    return SessionEnded();
  }
  const store::Membership here{call.caller.org_id, own.organisation, *own.role, false};
  return OpenSession(call, own.user_id, here, {.password = stored});
}

rest::Handled CreateReset(Call& call) {
  using Kind = store::ResetLink::Kind;
  CheckDashboard(call);
  if (!NamesAMember(call)) return rest::NotFound("member");
  CheckEmptyBody(call);
  const std::string email = MemberAddress(call);
  const auto link = store::MakeReset(call.session(), call.parts.clock, call.caller.org_id, email,
                                     {.by_owner = true, .cell = call.parts.config.cell.id},
                                     AuditOf(call, "password.reset_link"));
  if (link.kind == Kind::kNotFound) return rest::NotFound("member");
  if (link.kind == Kind::kByProvider) return ByProvider("no password of his is needed");
  if (link.kind == Kind::kElsewhere) {
    return rest::ErrorReply(409, "member_elsewhere",
                            "the member is one of another organisation, too, which the link would "
                            "open: ask the operator for it");
  }
  return rest::JsonReply(
      201, {{"email", email},
            {"link", rest::DashboardLink(call.parts.config.public_url, call.parts.config.cell.id,
                                         "#/reset/" + link.token)},
            {"expires_at", base::FormatTimestamp(link.expires_at)}});
}

rest::Handled ShowReset(Call& call) {
  CheckDashboard(call);
  rest::BodyReader body(call.request(), BodyRulesOf(call), rest::Nulls::kWrong);
  const std::string token = ReadLinkToken(&body);
  body.Check();
  CountTry(call);
  const auto email = store::FindReset(call.session(), token);
  if (!email) return NoLink(call, token, store::kResetPrefix);
  return rest::JsonReply(200, {{"email", *email}});
}

rest::Handled TakeReset(Call& call) {
  CheckDashboard(call);
  CheckSameSite(call);
  rest::BodyReader body(call.request(), BodyRulesOf(call), rest::Nulls::kWrong);
  const std::string token = ReadLinkToken(&body);
  const auto password = ReadPassword(&body, "password", rest::Presence::kRequired);
  body.Check();
  CheckNewPassword(*password);
  CountTry(call);
  const auto email = store::FindReset(call.session(), token);
  if (!email) return NoLink(call, token, store::kResetPrefix);
  // The organisation is that of the link.
  const auto audit = AuditOfMember(call, base::Uuid{}, *email, "password.reset");
  if (!store::TakeReset(call.session(), call.parts.clock, token, base::HashPassword(*password),
                        audit)) {
    return NoLink(call, token, store::kResetPrefix);
  }
  return rest::JsonReply(200, {{"email", *email}, {"reset", true}});
}

}  // namespace vedette::api
