#include "store/fleet/fleet.h"

#include <utility>

#include "store/sql.h"

namespace vedette::store {

void Heartbeat(Session& session, const Member& member) {
  const auto beat = [&](Transaction& tx) {
    tx.Exec<"member_heartbeat">(
        "id"_a = member.id, "roles"_a = member.roles, "version"_a = member.version,
        "host"_a = member.host, "pid"_a = member.pid, "draining"_a = member.draining,
        "counters"_a = member.counters, "lanes"_a = member.lanes,
        "mail_check"_a = member.mail_check, "providers"_a = member.providers);
    tx.Exec<"member_forget">("member_shown_s"_a = std::chrono::seconds(kMemberShown).count());
  };
  // One that a crash loses is followed by the next; and readiness waits for no standby.
  InTransaction(session, beat, Durability::kAsync);
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
              "pending"_a = &g.deliveries_pending, "deliveries_due"_a = &g.deliveries_due,
              "dead"_a = &g.deliveries_dead, "oldest_pending_us"_a = &g.oldest_pending,
              "receivers_failing"_a = &g.receivers_failing,
              "monitors_failing"_a = &g.monitors_failing);
    for (const auto& key : ReadEach<std::string>(tx.Exec<"mail_hosts_blocked">())) {
      ++g.mail_hosts_blocked.at(static_cast<std::size_t>(domain::MailClassOfHostKey(key)));
    }
    Columns(tx.Exec<"access_tokens_counted">("limit"_a = Gauges::kTokensCountedMax).at(0))
        .Into("client_tokens"_a = &g.client_tokens, "sessions"_a = &g.sessions);
    g.audit_oldest_unsealed =
        ReadOne<std::chrono::microseconds>(tx.Exec<"audit_oldest_unsealed">());
    return g;
  });
}

namespace {

std::vector<MemberView> MembersOf(Transaction& tx) {
  std::vector<MemberView> members;
  const std::int64_t shown_s = std::chrono::seconds(kMemberShown).count();
  for (const auto& row :
       tx.Exec<"overview_members">("shown_s"_a = shown_s, "limit"_a = Overview::kMembersMax)) {
    MemberView& member = members.emplace_back();
    Columns(row).Into("id"_a = &member.id, "roles"_a = &member.roles, "version"_a = &member.version,
                      "host"_a = &member.host, "pid"_a = &member.pid,
                      "started_at"_a = &member.started_at, "heartbeat_at"_a = &member.heartbeat_at,
                      "draining"_a = &member.draining, "counters"_a = &member.counters,
                      "lanes"_a = &member.lanes, "heartbeat_age_ms"_a = &member.heartbeat_age,
                      "mail_check"_a = &member.mail_check, "providers"_a = &member.providers);
  }
  return members;
}

void ReadQueues(Transaction& tx, Overview* overview) {
  Columns(tx.Exec<"overview_chunks">().at(0))
      .Into("at"_a = &overview->at, "due"_a = &overview->chunks_due,
            "leased"_a = &overview->chunks_leased, "waiting"_a = &overview->chunks_waiting,
            "checks_due"_a = &overview->checks_due, "checks_leased"_a = &overview->checks_leased,
            "oldest_due_age_ms"_a = &overview->oldest_due_age);
  Columns(tx.Exec<"overview_deliveries">("limit"_a = Overview::kCountMax).at(0))
      .Into("pending"_a = &overview->deliveries_pending, "dead"_a = &overview->deliveries_dead,
            "oldest_pending_age_ms"_a = &overview->delivery_oldest_pending_age);
  for (const auto& row : tx.Exec<"overview_failing">("limit"_a = Overview::kTop)) {
    FailingReceiverView& view = overview->failing.emplace_back();
    Columns(row).Into("org_id"_a = &view.org_id, "address"_a = &view.address,
                      "failing_since"_a = &view.failing_since, "failed_at"_a = &view.failed_at,
                      "failures"_a = &view.failures, "total"_a = &overview->receivers_failing);
  }
  for (const auto& row : tx.Exec<"overview_backlog">("limit"_a = Overview::kTop)) {
    BacklogView& view = overview->backlog.emplace_back();
    Columns(row).Into("org_id"_a = &view.org_id, "name"_a = &view.name, "chunks"_a = &view.chunks,
                      "checks"_a = &view.checks, "oldest_due_age_ms"_a = &view.oldest_due_age);
  }
}

void ReadMonitors(Transaction& tx, Overview* overview) {
  const std::int64_t late_s = Overview::kLate.count();
  Columns(tx.Exec<"overview_monitors">("limit"_a = Overview::kCountMax, "late_s"_a = late_s).at(0))
      .Into("live"_a = &overview->monitors_live, "late"_a = &overview->monitors_late);
  for (const auto& row :
       tx.Exec<"overview_late">("late_s"_a = late_s, "limit"_a = Overview::kTop)) {
    LateMonitorView& view = overview->late.emplace_back();
    Columns(row).Into("id"_a = &view.id, "org_id"_a = &view.org_id, "name"_a = &view.name,
                      "frequency"_a = &view.frequency, "last_run_at"_a = &view.last_run_at,
                      "next_run_at"_a = &view.next_run_at, "late_ms"_a = &view.late);
  }
  for (const auto& row : tx.Exec<"overview_monitors_failing">("limit"_a = Overview::kTop)) {
    FailingMonitorView& view = overview->monitors_failing_longest.emplace_back();
    Columns(row).Into("id"_a = &view.id, "org_id"_a = &view.org_id, "name"_a = &view.name,
                      "failing_since"_a = &view.failing_since,
                      "total"_a = &overview->monitors_failing);
  }
}

}  // namespace

Overview ReadOverview(Session& session) {
  return InTransaction(session, [](Transaction& tx) {
    Overview overview;
    overview.members = MembersOf(tx);
    ReadQueues(tx, &overview);
    ReadMonitors(tx, &overview);
    return overview;
  });
}

std::vector<MemberView> ReadMembers(Session& session) {
  return InTransaction(session, [](Transaction& tx) { return MembersOf(tx); });
}

}  // namespace vedette::store
