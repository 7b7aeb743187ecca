#include <exception>
#include <utility>

#include "admin/handlers.h"
#include "admin/input.h"
#include "admin/shapes.h"
#include "store/audit_list.h"
#include "store/overview.h"

namespace vedette::admin {

Answer GetHealth(const Parts&, const Call&) {
  return JsonAnswer(200, {{"alive", true}});
}

Answer GetReadiness(const Parts& parts, const Call&) {
  std::vector<std::string> reasons;
  const bool ready = parts.state.Ready(&reasons);
  base::Json body = base::Json::object();
  body["ready"] = ready;
  body["reasons"] = reasons;
  return JsonAnswer(ready ? 200 : 503, body);
}

Answer GetMetrics(const Parts& parts, const Call&) {
  return {
      200, {{"Content-Type", "text/plain; version=0.0.4; charset=utf-8"}}, parts.metrics.Expose()};
}

Answer GetOverview(const Parts& parts, store::Session& session, const Call&) {
  return JsonAnswer(200, OverviewJson(store::ReadOverview(session), parts.state.member_id()));
}

Answer GetAudit(const Parts&, store::Session& session, const Call& call) {
  QueryReader input(call.request);
  const int limit = input.Limit();
  const auto cursor_text = input.Text("cursor");
  if (auto refusal = input.Refusal()) return *refusal;
  std::optional<store::AuditPlace> before;
  if (cursor_text) {
    const auto cursor = ReadCursor('a', *cursor_text);
    if (!cursor) return BadCursor();
    before = store::AuditPlace{cursor->at, cursor->id};
  }
  auto records = store::ListAudit(session, before, limit + 1);
  std::optional<std::string> next;
  if (records.size() > static_cast<std::size_t>(limit)) {
    records.resize(static_cast<std::size_t>(limit));
    next = MakeCursor('a', records.back().at, records.back().id);
  }
  base::Json items = base::Json::array();
  for (const auto& record : records) items.push_back(AuditJson(record));
  return JsonAnswer(200, ListJson(std::move(items), next));
}

// An operator drains a process also while the database is away: the log is told either way, the
// audit where it can be.
Answer PostDrain(const Parts& parts, store::Session& session, const Call& call) {
  BodyReader body(call.request);
  const auto reason = body.Text("reason", Presence::kOptional, kReasonCharsMax);
  if (auto refusal = body.Refusal()) return *refusal;
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
  return JsonAnswer(202, {{"draining", true}, {"member_id", audit.target}, {"audited", audited}});
}

}  // namespace vedette::admin
