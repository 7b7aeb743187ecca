// Sessions of the users of the operator's dashboard, and the users.

#include <algorithm>
#include <utility>

#include "api/kit/credentials.h"
#include "api/kit/cursor.h"
#include "api/kit/published_keys.h"
#include "api/kit/sign_in.h"
#include "api/operator/admin_json.h"
#include "api/operator/handlers.h"
#include "base/crypto.h"
#include "base/json.h"
#include "base/text.h"
#include "config/auth_config.h"
#include "config/net_config.h"
#include "config/parts.h"
#include "config/security_config.h"
#include "domain/text/limits.h"
#include "net/public_address.h"
#include "store/accounts/access_tokens.h"
#include "store/accounts/accounts.h"
#include "store/accounts/members.h"
#include "store/accounts/sign_in.h"

namespace vedette::admin {
namespace {

constexpr std::size_t kUserCharsMax = 200;
constexpr int kSessionTtlMinSeconds = 60;
constexpr int kSessionTtlSeconds = 3600;  // where nothing is said

base::Json UserJson(const store::OrgUser& user) {
  return {{"user_id", user.user_id},
          {"name", TextJson(user.name)},
          {"created_at", TimeJson(user.created_at)},
          {"sessions", user.sessions}};
}

base::Json SessionJson(const store::LiveSession& live) {
  return {{"id", live.id.ToString()},
          {"user_id", live.user_id},
          {"team_id", IdJson(live.team_id)},
          {"created_at", TimeJson(live.created_at)},
          {"expires_at", TimeJson(live.expires_at)}};
}

}  // namespace

rest::Handled PostSession(Call& call) {
  CallBody body(call);
  const auto user = body.FilledText("user_id", rest::Presence::kRequired, kUserCharsMax);
  const auto name = body.FilledText("name", rest::Presence::kOptional, domain::kNameCharsMax);
  const auto ttl_max = static_cast<int>(call.parts.config.sessions.ttl_max_s.count());
  const auto ttl = body.Integer("ttl_s", rest::Presence::kOptional, kSessionTtlMinSeconds, ttl_max);
  std::optional<base::Uuid> team_id;
  if (!body.IsNull("team_id")) team_id = body.Id("team_id", rest::Presence::kOptional);
  const auto reason = body.Reason();
  body.Check();
  const std::chrono::seconds life(ttl.value_or(std::min(kSessionTtlSeconds, ttl_max)));
  const auto made =
      store::CreateSession(call.session(), call.parts.clock, call.Id(0),
                           {*user, name, team_id, life, false, call.parts.config.cell.id},
                           AuditOf(call, "session.create", reason));
  using Kind = store::SessionOutcome::Kind;
  if (made.kind == Kind::kNoOrganisation) return rest::NotFound("organisation");
  if (made.kind == Kind::kNoTeam) return rest::NotFound("team of this organisation");
  return rest::JsonReply(201, {{"id", made.id.ToString()},
                               {"token", made.token},
                               {"expires_at", TimeJson(made.expires_at)}});
}

rest::Handled GetSessions(Call& call) {
  rest::Problems problems;
  rest::QueryReader input(call.request().query, &problems);
  store::SessionQuery query;
  query.user_id = input.Text("user_id");
  const ListQuery list = ReadListQuery(&input);
  problems.Check();
  const rest::CursorOf sessions_of{'s', call.Id(0)};
  if (list.cursor) {
    query.before = rest::DecodeIdCursor(sessions_of, *list.cursor);
    if (!query.before) return rest::InvalidCursor();
  }
  query.limit = list.limit + 1;
  auto sessions = store::ListSessions(call.session(), call.Id(0), query);
  if (!sessions) return rest::NotFound("organisation");
  const auto page = rest::CutPage(
      std::move(*sessions), list.limit,
      [&](const store::LiveSession& live) { return rest::EncodeCursor(sessions_of, live.id); });
  return ListReply(page, SessionJson);
}

rest::Handled DeleteSession(Call& call) {
  CallBody body(call);
  const auto reason = body.Reason();
  body.Check();
  if (!store::EndSession(call.session(), call.parts.clock, call.Id(0), call.Id(1),
                         AuditOf(call, "session.end", reason))) {
    return rest::NotFound("session of this organisation");
  }
  return rest::Reply{204, {}};
}

namespace {

void CheckDashboard(const Call& call) {
  if (call.parts.config.dashboard.enabled) return;
  throw rest::Refusal(
      rest::Conflict("the link would lead nowhere, as [dashboard] enabled is false: set it to true "
                     "where the roles api and admin run"));
}

}  // namespace

rest::Handled PostInvitation(Call& call) {
  CallBody body(call);
  store::NewInvitation order;
  order.email = rest::ReadAddress(&body);
  const auto name = body.Text("role", rest::Presence::kRequired, 1, kUserCharsMax);
  const auto role = domain::ParseMemberRole(name.value_or(std::string()));
  if (!role) body.Refuse("role", "Input should be 'viewer', 'member' or 'owner'");
  if (!body.IsNull("team_id")) order.team_id = body.Id("team_id", rest::Presence::kOptional);
  if (order.team_id && role == domain::MemberRole::kOwner) {
    body.Refuse("team_id", "An owner is one of the whole organisation");
  }
  const auto reason = body.Reason();
  body.Check();
  CheckDashboard(call);
  order.role = *role;
  order.invited_by = "operator";
  order.cell = call.parts.config.cell.id;
  const auto made = store::Invite(call.session(), call.parts.clock, call.Id(0), order,
                                  AuditOf(call, "invitation.create", reason));
  using Kind = store::InviteOutcome::Kind;
  if (made.kind == Kind::kNoOrganisation) return rest::NotFound("organisation");
  if (made.kind == Kind::kNoTeam) return rest::NotFound("team of this organisation");
  if (made.kind == Kind::kLastOwner) {
    return rest::Conflict("the address is the last owner's: invite somebody else as owner first");
  }
  if (made.kind == Kind::kTooMany) return rest::Conflict("100 invitations are waiting already");
  return rest::JsonReply(201,
                         {{"id", made.id.ToString()},
                          {"link", rest::DashboardLink(call.parts.config.public_url, order.cell,
                                                       "#/invitation/" + made.token)},
                          {"expires_at", TimeJson(made.expires_at)}});
}

rest::Handled PostReset(Call& call) {
  CallBody body(call);
  const std::string email = base::AsciiLower(
      body.FilledText("email", rest::Presence::kRequired, kUserCharsMax).value_or(std::string()));
  const auto reason = body.Reason();
  body.Check();
  CheckDashboard(call);
  const auto link = store::MakeReset(call.session(), call.parts.clock, call.Id(0), email,
                                     {.cell = call.parts.config.cell.id},
                                     AuditOf(call, "password.reset_link", reason));
  if (link.kind == store::ResetLink::Kind::kByProvider) {
    return rest::ErrorReply(409, "by_provider",
                            "the identity provider alone lets this member in: no password of his "
                            "is needed");
  }
  if (link.kind != store::ResetLink::Kind::kDone) {
    return rest::NotFound("member of this organisation");
  }
  return rest::JsonReply(
      201, {{"link", rest::DashboardLink(call.parts.config.public_url, call.parts.config.cell.id,
                                         "#/reset/" + link.token)},
            {"expires_at", TimeJson(link.expires_at)}});
}

rest::Handled GetUsers(Call& call) {
  rest::Problems problems;
  rest::QueryReader input(call.request().query, &problems);
  const ListQuery list = ReadListQuery(&input);
  problems.Check();
  std::optional<std::string> after;
  if (list.cursor) {
    after = base::Base64UrlDecode(*list.cursor);
    if (!after || !base::IsValidUtf8(*after) || after->find('\0') != std::string::npos) {
      return rest::InvalidCursor();
    }
  }
  auto users = store::ListOrgUsers(call.session(), call.Id(0), after, list.limit + 1);
  if (!users) return rest::NotFound("organisation");
  const auto page = rest::CutPage(std::move(*users), list.limit, [](const store::OrgUser& user) {
    return base::Base64UrlEncode(user.user_id);
  });
  return ListReply(page, UserJson);
}

rest::Handled DeleteUser(Call& call) {
  CallBody body(call);
  const auto reason = body.Reason();
  body.Check();
  store::AuditEntry audit = AuditOf(call, "user.remove", reason);
  audit.target = call.Id(0).ToString();
  const auto outcome =
      store::RemoveOrgUser(call.session(), call.parts.clock, call.Id(0), call.params.at(1), audit);
  if (outcome == store::MemberOutcome::kNotFound) {
    return rest::NotFound("user of this organisation");
  }
  if (outcome == store::MemberOutcome::kLastOwner) {
    return rest::ErrorReply(409, "last_owner",
                            "an organisation needs an owner: invite another one first");
  }
  return rest::Reply{204, {}};
}

// OAuth clients of an organisation, and their keys, as the operator manages them. The shapes are
// those of the API (api/kit/credentials.h).

namespace {

rest::Reply ShowClient(const Call& call, const base::Uuid& id) {
  const auto client = store::ReadClient(call.session(), call.Id(0), id);
  return client ? rest::JsonReply(200, rest::OauthClientJson(*client)) : rest::NoClient();
}

}  // namespace

rest::Handled GetOauthClients(Call& call) {
  if (!store::ReadOrganisation(call.session(), call.Id(0))) return rest::NotFound("organisation");
  base::Json items = base::Json::array();
  for (const auto& client : store::ListClients(call.session(), call.Id(0))) {
    items.push_back(rest::OauthClientJson(client));
  }
  return rest::JsonReply(200, {{"items", std::move(items)}});
}

rest::Handled GetOauthClient(Call& call) {
  return ShowClient(call, call.Id(1));
}

rest::Handled PostOauthClient(Call& call) {
  CallBody body(call);
  auto read = rest::ReadNewClient(&body);
  const auto reason = body.Reason();
  body.Check();
  const auto order =
      rest::MakeNewClient(std::move(read), net::AddressPolicy(call.parts.config.net.allow));
  const int clients_max = call.parts.config.oauth.clients_per_org_max;
  const auto made = store::CreateClient(call.session(), call.parts.clock, call.Id(0), order,
                                        clients_max, AuditOf(call, "oauth_client.create", reason));
  if (made.kind != store::ClientOutcome::Kind::kDone) {
    return rest::ClientRefusal(made.kind, clients_max);
  }
  rest::Reply reply = ShowClient(call, made.id);
  reply.status = 201;
  return reply;
}

rest::Handled PatchOauthClient(Call& call) {
  CallBody body(call);
  const store::ClientChange change = rest::ReadClientChange(&body);
  const auto reason = body.Reason();
  body.Check();
  store::ChangeClient(call.session(), call.parts.clock, call.Id(0), call.Id(1), change,
                      AuditOf(call, "oauth_client.update", reason));
  return ShowClient(call, call.Id(1));
}

rest::Handled DeleteOauthClient(Call& call) {
  CallBody body(call);
  const auto reason = body.Reason();
  body.Check();
  if (!store::DeleteClient(call.session(), call.parts.clock, call.Id(0), call.Id(1),
                           AuditOf(call, "oauth_client.delete", reason))) {
    return rest::NoClient();
  }
  return rest::Reply{204, {}};
}

rest::Handled PostOauthClientKey(Call& call) {
  CallBody body(call);
  auto read = rest::ReadNewKey(&body);
  const auto reason = body.Reason();
  body.Check();
  const auto key = rest::MakeNewKey(std::move(read));
  const int keys_max = call.parts.config.oauth.keys_per_client_max;
  const auto outcome =
      store::AddClientKey(call.session(), call.parts.clock, call.Id(0), call.Id(1), key, keys_max,
                          AuditOf(call, "oauth_client.key.add", reason));
  if (outcome != store::KeyOutcome::kDone) return rest::KeyRefusal(outcome, keys_max);
  return ShowClient(call, call.Id(1));
}

rest::Handled DeleteOauthClientKey(Call& call) {
  CallBody body(call);
  const auto reason = body.Reason();
  body.Check();
  store::AuditEntry audit = AuditOf(call, "oauth_client.key.revoke", reason);
  audit.target = call.Id(1).ToString();
  if (!store::RevokeClientKey(call.session(), call.parts.clock, call.Id(0), call.Id(1),
                              call.params.at(2), audit)) {
    return rest::NoClientKey();
  }
  return rest::Reply{204, {}};
}

rest::Handled PostOauthTokenRevocation(Call& call) {
  CallBody body(call);
  const auto reason = body.Reason();
  body.Check();
  if (!store::VoidClientTokens(call.session(), call.parts.clock, call.Id(0), call.Id(1),
                               AuditOf(call, "oauth_client.revoke_tokens", reason))) {
    return rest::NoClient();
  }
  return ShowClient(call, call.Id(1));
}

rest::Handled PostOauthKeyValidation(Call& call) {
  CallBody body(call);
  const auto reason = body.Reason();
  body.Check();
  const auto client = store::ReadClient(call.session(), call.Id(0), call.Id(1));
  if (!client) return rest::NoClient();
  if (!client->jwks_uri) return rest::NoKeysUrl();
  const auto fence =
      store::BeginKeyFetchByHand(call.session(), call.parts.clock, client->org_id, client->id,
                                 AuditOf(call, "oauth_client.validate_keys", reason));
  if (!fence) return rest::NoClient();
  return rest::FetchKeys(
      {call.parts.pool, call.parts.key_fetcher, call.parts.config.jwks.keys_max}, call.answer,
      std::nullopt, {client->id, client->org_id, *client->jwks_uri}, *fence,
      [&clock = call.parts.clock](store::Session&, const rest::KeyReport& report) {
        return rest::KeyReportReply(report, clock.Now());
      });
}

}  // namespace vedette::admin
