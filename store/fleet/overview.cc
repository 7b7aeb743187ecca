#include "store/fleet/overview.h"

#include <utility>

#include "store/fleet/fleet.h"
#include "store/sql.h"

namespace vedette::store {
namespace {

std::vector<MemberView> MembersOf(Transaction& tx) {
  std::vector<MemberView> members;
  const std::int64_t shown_s = std::chrono::seconds(kMemberShown).count();
  for (const auto& row : tx.Exec("overview_members", shown_s, Overview::kMembersMax)) {
    MemberView& member = members.emplace_back();
    Columns(row).Into(&member.id, &member.roles, &member.version, &member.host, &member.pid,
                      &member.started_at, &member.heartbeat_at, &member.draining, &member.counters,
                      &member.lanes, &member.heartbeat_age, &member.mail_check, &member.providers);
  }
  return members;
}

void ReadQueues(Transaction& tx, Overview* overview) {
  Columns(tx.Exec("overview_chunks").at(0))
      .Into(&overview->at, &overview->chunks_due, &overview->chunks_leased,
            &overview->chunks_waiting, &overview->checks_due, &overview->checks_leased,
            &overview->oldest_due_age);
  Columns(tx.Exec("overview_deliveries", Overview::kCountMax).at(0))
      .Into(&overview->deliveries_pending, &overview->deliveries_dead,
            &overview->delivery_oldest_pending_age);
  for (const auto& row : tx.Exec("overview_failing", Overview::kTop)) {
    FailingReceiverView& view = overview->failing.emplace_back();
    Columns(row).Into(&view.org_id, &view.address, &view.failing_since, &view.failed_at,
                      &view.failures, &overview->receivers_failing);
  }
  for (const auto& row : tx.Exec("overview_backlog", Overview::kTop)) {
    BacklogView& view = overview->backlog.emplace_back();
    Columns(row).Into(&view.org_id, &view.name, &view.chunks, &view.checks, &view.oldest_due_age);
  }
}

void ReadMonitors(Transaction& tx, Overview* overview) {
  const std::int64_t late_s = Overview::kLate.count();
  Columns(tx.Exec("overview_monitors", Overview::kCountMax, late_s).at(0))
      .Into(&overview->monitors_live, &overview->monitors_late);
  for (const auto& row : tx.Exec("overview_late", late_s, Overview::kTop)) {
    LateMonitorView& view = overview->late.emplace_back();
    Columns(row).Into(&view.id, &view.org_id, &view.name, &view.frequency, &view.last_run_at,
                      &view.next_run_at, &view.late);
  }
  for (const auto& row : tx.Exec("overview_monitors_failing", Overview::kTop)) {
    FailingMonitorView& view = overview->monitors_failing_longest.emplace_back();
    Columns(row).Into(&view.id, &view.org_id, &view.name, &view.failing_since,
                      &overview->monitors_failing);
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
