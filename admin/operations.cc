#include <exception>
#include <utility>

#include "admin/handlers.h"
#include "admin/shapes.h"
#include "rest/cursor.h"
#include "store/audit.h"
#include "store/fleet/fleet.h"
#include "store/jobs/gauges.h"

namespace vedette::admin {
namespace {

constexpr rest::CursorOf kAuditList{'a'};

// A parameter that narrows a list; an empty one does not.
std::optional<std::string> FilledText(const rest::QueryReader& input, std::string_view name) {
  auto text = input.Text(name);
  if (text && text->empty()) text.reset();
  return text;
}

}  // namespace

rest::Reply GetHealth(const Parts&, const Call&) {
  return rest::JsonReply(200, {{"alive", true}});
}

rest::Reply GetReadiness(const Parts& parts, const Call&) {
  std::vector<std::string> reasons;
  const bool ready = parts.state.Ready(&reasons);
  base::Json body = base::Json::object();
  body["ready"] = ready;
  body["reasons"] = reasons;
  return rest::JsonReply(ready ? 200 : 503, body);
}

rest::Reply GetMetrics(const Parts& parts, const Call&) {
  return {
      200, parts.metrics.Expose(), {{"Content-Type", "text/plain; version=0.0.4; charset=utf-8"}}};
}

rest::Reply GetOverview(const Parts& parts, store::Session& session, const Call&) {
  return rest::JsonReply(200,
                         OverviewJson(store::ReadOverview(session), store::ReadJobOverview(session),
                                      parts.state.member_id()));
}

rest::Reply GetAudit(const Parts&, store::Session& session, const Call& call) {
  rest::Problems problems;
  rest::QueryReader input(call.request.query, &problems);
  const ListQuery list = ReadListQuery(&input);
  store::AuditFilter filter;
  filter.org_id = input.Id("org_id");
  filter.principal_id = input.Id("principal_id");
  filter.action = FilledText(input, "action");
  filter.actor = FilledText(input, "actor");
  filter.target = FilledText(input, "target");
  if (auto refusal = problems.Refusal()) return std::move(*refusal);
  if (list.cursor) {
    const auto place = rest::DecodeTimedCursor(kAuditList, *list.cursor);
    if (!place) return rest::InvalidCursor();
    filter.before = store::AuditPlace{place->at, place->id};
  }
  filter.limit = list.limit + 1;
  const auto page = rest::CutPage(
      store::ListAudit(session, filter), list.limit, [](const store::AuditRecord& record) {
        return rest::EncodeCursor(kAuditList, rest::TimedPlace{record.at, record.id});
      });
  return ListReply(page, AuditJson);
}

// An operator drains a process also while the database is away: the log is told either way, the
// audit where it can be.
rest::Reply PostDrain(const Parts& parts, store::Session& session, const Call& call) {
  CallBody body(parts, call);
  const auto reason = body.Reason();
  if (auto refusal = body.Refusal()) return std::move(*refusal);
  store::AuditEntry audit = AuditOf(call, "member.drain", reason);
  audit.target = parts.state.member_id().ToString();
  parts.log.Info("drain ordered through the admin port",
                 {{"actor", audit.actor}, {"remote_address", audit.remote_address}});
  bool audited = false;
  try {
    store::WriteAudit(session, parts.clock, audit);
    audited = true;
  } catch (const std::exception& e) {
    parts.log.Warn("the drain could not be written to the audit",
                   {{"actor", audit.actor}, {"error", e.what()}});
  }
  parts.state.Drain();
  return rest::JsonReply(202,
                         {{"draining", true}, {"member_id", audit.target}, {"audited", audited}});
}

}  // namespace vedette::admin
