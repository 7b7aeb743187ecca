#include "store/fleet.h"

#include <fmt/format.h>

#include "store/session_impl.h"
#include "store/sql.h"

namespace vedette::store {

void Heartbeat(Session& session, const Member& member) {
  InTransaction(session, [&](Transaction& tx) {
    tx.Exec("member_heartbeat", member.id, member.roles, member.version, member.host, member.pid,
            member.draining, member.counters, member.check_ms);
    tx.Exec("member_forget");
  });
}

void Leave(Session& session, const base::Uuid& member_id) {
  InTransaction(session, [&](Transaction& tx) { tx.Exec("member_leave", member_id); });
}

bool Maintain(Session& session, const config::RetentionConfig& retention) {
  return InTransaction(session, [&](Transaction& tx) {
    if (!tx.Exec("maintenance_lock")[0][0].as<bool>()) return false;
    tx.Exec("partitions_ensure");
    const std::pair<const char*, std::chrono::hours> tables[] = {
        {"event", retention.events},
        {"check_log", retention.check_log},
        {"tick", retention.check_log},
        {"delivery_attempt", retention.attempts}};
    for (const auto& [table, age] : tables) {
      for (const auto& row : tx.Exec("partitions_old", table, age.count())) {
        tx.DropTable(row[0].c_str());
      }
    }
    tx.Exec("idempotency_retire", retention.idempotency_keys.count());
    tx.Exec("rate_window_expire");
    tx.Exec("dead_expire", retention.dead.count());
    tx.Exec("audit_expire", retention.audit.count());
    return true;
  });
}

Gauges ReadGauges(Session& session) {
  return InTransaction(session, [](Transaction& tx) {
    const auto row = tx.Exec("gauges")[0];
    const auto n = [&row](const char* column) { return row[column].as<std::int64_t>(); };
    return Gauges{n("due"),
                  n("leased"),
                  n("waiting"),
                  std::chrono::microseconds(n("oldest_due_us")),
                  n("pending"),
                  n("dead"),
                  std::chrono::microseconds(n("oldest_pending_us")),
                  n("receivers_failing")};
  });
}

}  // namespace vedette::store
