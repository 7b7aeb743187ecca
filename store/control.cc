#include "store/control.h"

#include <algorithm>
#include <utility>

#include "domain/next_run_times.h"
#include "store/audit_sql.h"
#include "store/control_sql.h"
#include "store/ticks_sql.h"

namespace vedette::store {
namespace {

using domain::MonitorStatus;

bool IsFromFile(MonitorStatus status) {
  return status == MonitorStatus::kStarting || status == MonitorStatus::kFailed;
}

void AuditIfGiven(Transaction& tx, const base::Clock& clock, const LockedMonitor& monitor,
                  const std::optional<AuditEntry>& audit) {
  if (!audit) return;
  AuditEntry entry = *audit;
  entry.org_id = monitor.org_id;
  InsertAudit(tx, clock, entry);
}

// One switch: `allowed` says from which states; `target` and `reason` are written unless the
// monitor is there already.
ControlOutcome Switch(Session& session, const base::Clock& clock, const MonitorScope& scope,
                      const base::Uuid& monitor_id, MonitorStatus target,
                      const std::optional<std::string>& reason, bool (*allowed)(MonitorStatus),
                      const std::optional<AuditEntry>& audit) {
  return InTransaction(session, [&](Transaction& tx) {
    const auto monitor = LockMonitor(tx, scope, monitor_id);
    if (!monitor) return ControlOutcome{.kind = ControlOutcome::Kind::kNotFound};
    if (!allowed(monitor->status)) {
      return ControlOutcome{ControlOutcome::Kind::kConflict, monitor->status,
                            monitor->disabled_reason};
    }
    if (monitor->status == target) {
      return ControlOutcome{ControlOutcome::Kind::kDone, monitor->status, monitor->disabled_reason};
    }
    SetMonitorStatus(tx, monitor_id, target, reason);
    AuditIfGiven(tx, clock, *monitor, audit);
    return ControlOutcome{ControlOutcome::Kind::kDone, target, reason};
  });
}

base::Timestamp NextSlot(const pqxx::field& anchor_at, const pqxx::field& frequency_s,
                         const pqxx::field& now) {
  return domain::FirstSlotAfter(
      ReadTime(anchor_at), std::chrono::seconds(frequency_s.as<std::int64_t>()), ReadTime(now));
}

// Slots that came due before the stop are accounted for as skipped_paused.
void StopOrganisation(Transaction& tx, const base::Uuid& org_id) {
  std::vector<SchedRow> due;
  base::Timestamp now{};
  for (const auto& row : tx.Exec("sched_due_of_organisation", org_id)) {
    due.push_back(ReadSched(row));
    now = ReadTime(row[10]);
  }
  CloseDueTicks(tx, std::move(due), now, domain::Outcome::kSkippedPaused);
  tx.Exec("sched_stop_organisation", org_id);
}

}  // namespace

std::optional<LockedMonitor> LockMonitor(Transaction& tx, const MonitorScope& scope,
                                         const base::Uuid& monitor_id) {
  const auto rows = tx.Exec("monitor_lock", monitor_id, scope.org_id, scope.team_id);
  if (rows.empty()) return std::nullopt;
  return LockedMonitor{ReadUuid(rows[0][0]), static_cast<MonitorStatus>(rows[0][1].as<int>()),
                       ReadTextOrNull(rows[0][2])};
}

void SetMonitorStatus(Transaction& tx, const base::Uuid& monitor_id, MonitorStatus status,
                      const std::optional<std::string>& disabled_reason) {
  tx.Exec("monitor_set_status", monitor_id, status, disabled_reason);
  // The organisation before monitor_sched, as ChangeOrganisation locks them.
  const bool live = status == MonitorStatus::kActive &&
                    tx.Exec("sched_live_of_monitor", monitor_id)[0][0].as<bool>();
  const auto sched = tx.Exec("sched_lock", monitor_id)[0];
  const bool was_live = sched[11].as<bool>();
  if (!live && was_live && ReadTime(sched[6]) <= ReadTime(sched[10])) {
    CloseDueTicks(tx, {ReadSched(sched)}, ReadTime(sched[10]), domain::Outcome::kSkippedPaused);
  }
  std::optional<base::Timestamp> next_run_at;
  if (live && !was_live) next_run_at = NextSlot(sched[5], sched[4], sched[13]);
  tx.Exec("sched_set_live", std::vector<base::Uuid>{monitor_id},
          std::vector<std::optional<base::Timestamp>>{next_run_at}, live);
}

ControlOutcome PauseMonitor(Session& session, const base::Clock& clock, const MonitorScope& scope,
                            const base::Uuid& monitor_id, const std::string& reason,
                            const std::optional<AuditEntry>& audit) {
  return Switch(
      session, clock, scope, monitor_id, MonitorStatus::kPaused, reason,
      [](MonitorStatus s) { return s == MonitorStatus::kActive || s == MonitorStatus::kPaused; },
      audit);
}

ControlOutcome ResumeMonitor(Session& session, const base::Clock& clock, const MonitorScope& scope,
                             const base::Uuid& monitor_id, const std::optional<AuditEntry>& audit) {
  return Switch(
      session, clock, scope, monitor_id, MonitorStatus::kActive, std::nullopt,
      [](MonitorStatus s) { return !IsFromFile(s); }, audit);
}

ControlOutcome CancelMonitor(Session& session, const base::Clock& clock, const MonitorScope& scope,
                             const base::Uuid& monitor_id, const std::string& reason,
                             const std::optional<AuditEntry>& audit) {
  return Switch(
      session, clock, scope, monitor_id, MonitorStatus::kCancelled, reason,
      [](MonitorStatus s) { return !IsFromFile(s); }, audit);
}

TriggerOutcome TriggerMonitor(Session& session, const base::Clock& clock, const MonitorScope& scope,
                              const base::Uuid& monitor_id, const CutLimits& limits,
                              const std::optional<AuditEntry>& audit) {
  return InTransaction(session, [&](Transaction& tx) {
    TriggerOutcome outcome;
    const auto monitor = LockMonitor(tx, scope, monitor_id);
    if (!monitor) {
      outcome.kind = TriggerOutcome::Kind::kNotFound;
      return outcome;
    }
    outcome.status = monitor->status;
    const auto row = tx.Exec("sched_lock", monitor_id)[0];
    if (!row[11].as<bool>()) {
      outcome.kind = TriggerOutcome::Kind::kConflict;
      outcome.organisation_stopped = monitor->status == MonitorStatus::kActive;
      return outcome;
    }
    AuditIfGiven(tx, clock, *monitor, audit);
    NewTick tick;
    tick.sched = ReadSched(row);
    tick.sched.check_ms = row[14].as<int>();
    if (tick.sched.open_tick_id) {
      outcome.joined = true;
      outcome.tick_id = *tick.sched.open_tick_id;
      outcome.rows = row[12].as<std::int64_t>();
      return outcome;
    }
    const base::Timestamp now = ReadTime(row[10]);
    tick.tick_id = NextTickId(tick.sched, now);
    tick.trigger = domain::TickTrigger::kManual;
    tick.due_at = now;
    tick.next_run_at = tick.sched.next_run_at;
    OpenTicks(tx, clock, {tick}, limits);
    outcome.tick_id = tick.tick_id;
    outcome.rows = tick.sched.row_count;
    return outcome;
  });
}

bool ChangeOrganisation(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                        const OrganisationChange& change, const std::optional<AuditEntry>& audit) {
  return InTransaction(session, [&](Transaction& tx) {
    const auto rows = tx.Exec("organisation_lock", org_id);
    if (rows.empty()) return false;
    const auto lets_run = [](bool locked, const std::vector<std::string>& features) {
      return !locked && std::find(features.begin(), features.end(), domain::kFeatureMonitors) !=
                            features.end();
    };
    const bool locked_before = rows[0][0].as<bool>();
    const auto features_before = ReadTextArray(rows[0][1]);
    const bool locked = change.locked.value_or(locked_before);
    const auto features = change.features.value_or(features_before);
    tx.Exec("organisation_set_control", org_id, locked, features);
    const bool ran = lets_run(locked_before, features_before);
    const bool runs = lets_run(locked, features);
    if (ran && !runs) StopOrganisation(tx, org_id);
    if (!ran && runs) {
      std::vector<base::Uuid> ids;
      std::vector<base::Timestamp> next_run_at;
      for (const auto& row : tx.Exec("sched_stopped_of_organisation", org_id)) {
        ids.push_back(ReadUuid(row[0]));
        next_run_at.push_back(NextSlot(row[1], row[2], row[3]));
      }
      tx.Exec("sched_set_live", ids, next_run_at, true);
    }
    if (audit) {
      AuditEntry entry = *audit;
      entry.org_id = org_id;
      InsertAudit(tx, clock, entry);
    }
    return true;
  });
}

}  // namespace vedette::store
