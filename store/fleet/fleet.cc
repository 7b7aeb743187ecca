#include "store/fleet/fleet.h"

#include "store/sql.h"

namespace vedette::store {

void Heartbeat(Session& session, const Member& member) {
  InTransaction(session, [&](Transaction& tx) {
    tx.Exec<"member_heartbeat">(
        "id"_a = member.id, "roles"_a = member.roles, "version"_a = member.version,
        "host"_a = member.host, "pid"_a = member.pid, "draining"_a = member.draining,
        "counters"_a = member.counters, "lanes"_a = member.lanes,
        "mail_check"_a = member.mail_check, "providers"_a = member.providers);
    tx.Exec<"member_forget">("member_shown_s"_a = std::chrono::seconds(kMemberShown).count());
  });
}

void Leave(Session& session, const base::Uuid& member_id) {
  InTransaction(session,
                [&](Transaction& tx) { tx.Exec<"member_leave">("member_id"_a = member_id); });
}

Gauges ReadGauges(Session& session) {
  return InTransaction(session, [](Transaction& tx) {
    Gauges g;
    Columns(tx.Exec<"gauges">("limit"_a = Gauges::kDeliveriesCountedMax).at(0))
        .Into("due"_a = &g.chunks_due, "leased"_a = &g.chunks_leased,
              "waiting"_a = &g.chunks_waiting, "oldest_due_us"_a = &g.oldest_due,
              "pending"_a = &g.deliveries_pending, "dead"_a = &g.deliveries_dead,
              "oldest_pending_us"_a = &g.oldest_pending,
              "receivers_failing"_a = &g.receivers_failing,
              "monitors_failing"_a = &g.monitors_failing);
    for (const auto& key : ReadEach<std::string>(tx.Exec<"mail_hosts_blocked">())) {
      ++g.mail_hosts_blocked.at(static_cast<std::size_t>(domain::MailClassOfHostKey(key)));
    }
    Columns(tx.Exec<"access_tokens_counted">("limit"_a = Gauges::kTokensCountedMax).at(0))
        .Into("client_tokens"_a = &g.client_tokens, "sessions"_a = &g.sessions);
    return g;
  });
}

}  // namespace vedette::store
