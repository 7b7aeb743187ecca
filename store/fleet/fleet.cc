#include "store/fleet/fleet.h"

#include "store/sql.h"

namespace vedette::store {

void Heartbeat(Session& session, const Member& member) {
  InTransaction(session, [&](Transaction& tx) {
    tx.Exec("member_heartbeat", member.id, member.roles, member.version, member.host, member.pid,
            member.draining, member.counters, member.lanes, member.mail_check, member.providers);
    tx.Exec("member_forget", std::chrono::seconds(kMemberShown).count());
  });
}

void Leave(Session& session, const base::Uuid& member_id) {
  InTransaction(session, [&](Transaction& tx) { tx.Exec("member_leave", member_id); });
}

Gauges ReadGauges(Session& session) {
  return InTransaction(session, [](Transaction& tx) {
    Gauges g;
    Columns(tx.Exec("gauges", Gauges::kDeliveriesCountedMax).at(0))
        .Into(&g.chunks_due, &g.chunks_leased, &g.chunks_waiting, &g.oldest_due,
              &g.deliveries_pending, &g.deliveries_dead, &g.oldest_pending, &g.receivers_failing,
              &g.monitors_failing);
    for (const auto& key : ReadEach<std::string>(tx.Exec("mail_hosts_blocked"))) {
      ++g.mail_hosts_blocked.at(static_cast<std::size_t>(domain::MailClassOfHostKey(key)));
    }
    Columns(tx.Exec("access_tokens_counted", Gauges::kTokensCountedMax).at(0))
        .Into(&g.client_tokens, &g.sessions);
    return g;
  });
}

}  // namespace vedette::store
