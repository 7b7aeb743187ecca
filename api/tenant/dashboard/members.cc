// Members of the caller's organisation, and the invitations by which they become that.
#include <algorithm>
#include <utility>

#include "api/kit/body.h"
#include "api/kit/credentials.h"
#include "api/tenant/dashboard/dashboard.h"
#include "api/tenant/handlers.h"
#include "base/json.h"
#include "base/text.h"
#include "config/parts.h"
#include "config/security_config.h"
#include "store/accounts/members.h"

namespace vedette::api {
namespace {

std::optional<domain::MemberRole> ReadRole(rest::BodyReader* body) {
  const auto name = body->Text("role", rest::Presence::kRequired, 1, 20);
  if (!name) return std::nullopt;
  const auto role = domain::ParseMemberRole(*name);
  if (!role) body->Refuse("role", "Input should be 'viewer', 'member' or 'owner'");
  return role;
}

rest::Reply OwnerOfTeam() {
  return rest::ValidationReply(rest::BodyReader::Loc("team_id"), "value_error",
                               "An owner is one of the whole organisation: team_id must be null");
}

rest::Reply ReplyOf(store::MemberOutcome outcome, const base::Json& done) {
  switch (outcome) {
    case store::MemberOutcome::kNotFound:
      return rest::NotFound("member");
    case store::MemberOutcome::kNoTeam:
      return rest::NotFound("team");
    case store::MemberOutcome::kOwnerOfTeam:
      return OwnerOfTeam();
    case store::MemberOutcome::kLastOwner:
      return LastOwner();
    case store::MemberOutcome::kDone:
      break;
  }
  return rest::JsonReply(200, done);
}

}  // namespace

rest::Reply LastOwner() {
  return rest::ErrorReply(409, "last_owner",
                          "an organisation needs an owner: make somebody else one first");
}

std::string MemberAddress(const Call& call) {
  return base::AsciiLower(call.params[0]);
}

bool NamesAMember(Call& call) {
  const auto members = store::ListMembers(call.session(), call.caller.org_id);
  return std::any_of(
      members.begin(), members.end(),
      [email = MemberAddress(call)](const auto& member) { return member.email == email; });
}

rest::Handled ListMembers(Call& call) {
  base::Json members = base::Json::array();
  for (const auto& member : store::ListMembers(call.session(), call.caller.org_id)) {
    members.push_back({{"email", member.email},
                       {"role", domain::MemberRoleName(member.role)},
                       {"team_id", base::OrNull(member.team_id)},
                       {"by_provider", member.by_provider},
                       {"created_at", base::FormatTimestamp(member.created_at)},
                       {"sessions", member.sessions}});
  }
  base::Json teams = base::Json::array();
  for (const auto& team : store::ListTeams(call.session(), call.caller.org_id)) {
    teams.push_back({{"id", team.id.ToString()}, {"name", team.name}});
  }
  return rest::JsonReply(200, {{"members", std::move(members)}, {"teams", std::move(teams)}});
}

rest::Handled ChangeMember(Call& call) {
  if (!NamesAMember(call)) return rest::NotFound("member");
  rest::BodyReader body(call.request(), BodyRulesOf(call), rest::Nulls::kWrong);
  const auto role = ReadRole(&body);
  store::MemberChange change;
  change.sets_team = body.Has("team_id");
  change.team_id = ReadTeam(&body);
  body.Check();
  change.role = *role;
  const std::string email = MemberAddress(call);
  return ReplyOf(store::ChangeMember(call.session(), call.parts.clock, call.caller.org_id, email,
                                     change, AuditOf(call, "member.update")),
                 {{"email", email}, {"role", domain::MemberRoleName(*role)}});
}

rest::Handled RemoveMember(Call& call) {
  const std::string email = MemberAddress(call);
  return ReplyOf(store::RemoveMember(call.session(), call.parts.clock, call.caller.org_id, email,
                                     AuditOf(call, "member.remove")),
                 {{"email", email}, {"removed", true}});
}

rest::Handled CreateInvitation(Call& call) {
  CheckDashboard(call);
  rest::BodyReader body(call.request(), BodyRulesOf(call), rest::Nulls::kWrong);
  store::NewInvitation order;
  order.email = rest::ReadAddress(&body);
  const auto role = ReadRole(&body);
  order.team_id = ReadTeam(&body);
  body.Check();
  order.role = *role;
  if (order.team_id && *role == domain::MemberRole::kOwner) return OwnerOfTeam();
  order.invited_by = call.caller.principal.label;
  order.cell = call.parts.config.cell.id;
  const auto made = store::Invite(call.session(), call.parts.clock, call.caller.org_id, order,
                                  AuditOf(call, "invitation.create"));
  if (made.kind == store::InviteOutcome::Kind::kNoOrganisation) {
    return rest::NotFound("organisation");
  }
  if (made.kind == store::InviteOutcome::Kind::kNoTeam) return rest::NotFound("team");
  if (made.kind == store::InviteOutcome::Kind::kLastOwner) return LastOwner();
  if (made.kind == store::InviteOutcome::Kind::kTooMany) {
    return rest::ErrorReply(409, "too_many_invitations",
                            "100 invitations are waiting: withdraw some first");
  }
  return rest::JsonReply(201,
                         {{"id", made.id.ToString()},
                          {"email", order.email},
                          {"role", domain::MemberRoleName(order.role)},
                          {"team_id", base::OrNull(order.team_id)},
                          {"link", rest::DashboardLink(call.parts.config.public_url, order.cell,
                                                       "#/invitation/" + made.token)},
                          {"expires_at", base::FormatTimestamp(made.expires_at)}});
}

rest::Handled ListInvitations(Call& call) {
  base::Json invitations = base::Json::array();
  for (const auto& one : store::ListInvitations(call.session(), call.caller.org_id)) {
    invitations.push_back({{"id", one.id.ToString()},
                           {"email", one.email},
                           {"role", domain::MemberRoleName(one.role)},
                           {"team_id", base::OrNull(one.team_id)},
                           {"invited_by", one.invited_by},
                           {"created_at", base::FormatTimestamp(one.created_at)},
                           {"expires_at", base::FormatTimestamp(one.expires_at)}});
  }
  return rest::JsonReply(200, {{"invitations", std::move(invitations)}});
}

rest::Handled WithdrawInvitation(Call& call) {
  const base::Uuid id = call.Id(0, "invitation");
  if (!store::WithdrawInvitation(call.session(), call.parts.clock, call.caller.org_id, id,
                                 AuditOf(call, "invitation.withdraw"))) {
    return rest::NotFound("invitation");
  }
  return rest::JsonReply(200, {{"id", id.ToString()}, {"withdrawn", true}});
}

}  // namespace vedette::api
