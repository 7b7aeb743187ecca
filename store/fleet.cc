#include "store/fleet.h"

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

Gauges ReadGauges(Session& session) {
  return InTransaction(session, [](Transaction& tx) {
    const auto row = tx.Exec("gauges", Gauges::kDeliveriesCountedMax)[0];
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
