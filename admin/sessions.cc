// Sessions of the users of the operator's dashboard, and the users.
#include <algorithm>
#include <utility>

#include "admin/handlers.h"
#include "admin/shapes.h"
#include "base/base64url.h"
#include "base/text.h"
#include "config/config.h"
#include "rest/cursor.h"
#include "store/accounts/access_tokens.h"

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

rest::Reply PostSession(const Parts& parts, store::Session& session, const Call& call) {
  CallBody body(parts, call);
  const auto user = body.FilledText("user_id", rest::Presence::kRequired, kUserCharsMax);
  const auto name = body.FilledText("name", rest::Presence::kOptional, kNameCharsMax);
  const auto ttl_max = static_cast<int>(parts.config.sessions.ttl_max_s.count());
  const auto ttl = body.Integer("ttl_s", rest::Presence::kOptional, kSessionTtlMinSeconds, ttl_max);
  std::optional<base::Uuid> team_id;
  if (!body.IsNull("team_id")) team_id = body.Id("team_id", rest::Presence::kOptional);
  const auto reason = body.Reason();
  if (auto refusal = body.Refusal()) return std::move(*refusal);
  const std::chrono::seconds life(ttl.value_or(std::min(kSessionTtlSeconds, ttl_max)));
  const auto made =
      store::CreateSession(session, parts.clock, call.ids[0], {*user, name, team_id, life},
                           AuditOf(call, "session.create", reason));
  using Kind = store::SessionOutcome::Kind;
  if (made.kind == Kind::kNoOrganisation) return rest::NotFound("organisation");
  if (made.kind == Kind::kNoTeam) return rest::NotFound("team of this organisation");
  return rest::JsonReply(201, {{"id", made.id.ToString()},
                               {"token", made.token},
                               {"expires_at", TimeJson(made.expires_at)}});
}

rest::Reply GetSessions(const Parts&, store::Session& session, const Call& call) {
  rest::Problems problems;
  rest::QueryReader input(call.request.query, &problems);
  store::SessionQuery query;
  query.user_id = input.Text("user_id");
  const ListQuery list = ReadListQuery(&input);
  if (auto refusal = problems.Refusal()) return std::move(*refusal);
  const rest::CursorOf sessions_of{'s', call.ids[0]};
  if (list.cursor) {
    query.before = rest::DecodeIdCursor(sessions_of, *list.cursor);
    if (!query.before) return rest::InvalidCursor();
  }
  query.limit = list.limit + 1;
  auto sessions = store::ListSessions(session, call.ids[0], query);
  if (!sessions) return rest::NotFound("organisation");
  const auto page = rest::CutPage(
      std::move(*sessions), list.limit,
      [&](const store::LiveSession& live) { return rest::EncodeCursor(sessions_of, live.id); });
  return ListReply(page, SessionJson);
}

rest::Reply DeleteSession(const Parts& parts, store::Session& session, const Call& call) {
  CallBody body(parts, call);
  const auto reason = body.Reason();
  if (auto refusal = body.Refusal()) return std::move(*refusal);
  if (!store::EndSession(session, parts.clock, call.ids[0], call.ids[1],
                         AuditOf(call, "session.end", reason))) {
    return rest::NotFound("session of this organisation");
  }
  return {204, {}};
}

rest::Reply GetUsers(const Parts&, store::Session& session, const Call& call) {
  rest::Problems problems;
  rest::QueryReader input(call.request.query, &problems);
  const ListQuery list = ReadListQuery(&input);
  if (auto refusal = problems.Refusal()) return std::move(*refusal);
  std::optional<std::string> after;
  if (list.cursor) {
    after = base::Base64UrlDecode(*list.cursor);
    if (!after || !base::IsValidUtf8(*after) || after->find('\0') != std::string::npos) {
      return rest::InvalidCursor();
    }
  }
  auto users = store::ListOrgUsers(session, call.ids[0], after, list.limit + 1);
  if (!users) return rest::NotFound("organisation");
  const auto page = rest::CutPage(std::move(*users), list.limit, [](const store::OrgUser& user) {
    return base::Base64UrlEncode(user.user_id);
  });
  return ListReply(page, UserJson);
}

rest::Reply DeleteUser(const Parts& parts, store::Session& session, const Call& call) {
  CallBody body(parts, call);
  const auto reason = body.Reason();
  if (auto refusal = body.Refusal()) return std::move(*refusal);
  if (!store::RemoveOrgUser(session, parts.clock, call.ids[0], call.name,
                            AuditOf(call, "user.remove", reason))) {
    return rest::NotFound("user of this organisation");
  }
  return {204, {}};
}

}  // namespace vedette::admin
