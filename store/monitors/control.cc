#include "store/monitors/control.h"

#include <utility>

#include "store/audit.h"
#include "store/checks/ticks_sql.h"
#include "store/monitors/monitors.h"
#include "store/place.h"
#include "store/sql.h"

namespace vedette::store {
namespace {

using domain::MonitorStatus;

bool IsFromFile(MonitorStatus status) {
  return status == MonitorStatus::kStarting || status == MonitorStatus::kFailed;
}

// One switch: `allowed` says from which states; `target` and `reason` are written unless the
// monitor is there already.
ControlOutcome Switch(Session& session, const base::Clock& clock, const Scope& scope,
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
    AuditIfGiven(tx, clock, monitor->org_id, audit);
    return ControlOutcome{ControlOutcome::Kind::kDone, target, reason};
  });
}

// Cancels the monitor unless it failed, and then writes what `put_away` says.
template <typename Statement>
ControlOutcome PutAway(Session& session, const base::Clock& clock, const Scope& scope,
                       const base::Uuid& monitor_id, const std::string& reason,
                       const std::optional<AuditEntry>& audit, const Statement& put_away) {
  return InTransaction(session, [&](Transaction& tx) {
    const auto monitor = LockMonitor(tx, scope, monitor_id);
    if (!monitor) return ControlOutcome{.kind = ControlOutcome::Kind::kNotFound};
    ControlOutcome outcome{ControlOutcome::Kind::kDone, monitor->status, monitor->disabled_reason};
    if (monitor->status == MonitorStatus::kStarting) {
      outcome.kind = ControlOutcome::Kind::kConflict;
      return outcome;
    }
    if (!IsFromFile(monitor->status) && monitor->status != MonitorStatus::kCancelled) {
      outcome.status = MonitorStatus::kCancelled;
      outcome.disabled_reason = reason;
      SetMonitorStatus(tx, monitor_id, outcome.status, outcome.disabled_reason);
    }
    put_away(tx);
    AuditIfGiven(tx, clock, monitor->org_id, audit);
    return outcome;
  });
}

// A row of sched_lock.
struct LockedSched {
  SchedRow sched;
  base::Timestamp now{};  // of the transaction
  bool live = false;
  base::Timestamp clock{};  // of the moment
};

LockedSched LockSched(Transaction& tx, const base::Uuid& monitor_id) {
  const auto rows = tx.Exec<"sched_lock">("monitor_id"_a = monitor_id);
  LockedSched locked;
  Columns in(rows.at(0));
  locked.sched = ReadSched(in, &locked.now);
  in.Into("live"_a = &locked.live, "clock_timestamp"_a = &locked.clock);
  return locked;
}

// Slots that came due before the stop are accounted for as skipped_paused.
void StopOrganisation(Transaction& tx, const base::Uuid& org_id) {
  std::vector<SchedRow> due;
  base::Timestamp now{};
  for (const auto& row : tx.Exec<"sched_due_of_organisation">("org_id"_a = org_id)) {
    Columns in(row);
    due.push_back(ReadSched(in, &now));
  }
  CloseDueTicks(tx, std::move(due), now, domain::Outcome::kSkippedPaused);
  tx.Exec<"sched_stop_organisation">("org_id"_a = org_id);
}

// Its active monitors go on with the first slot after now that cannot be cut yet.
void StartOrganisation(Transaction& tx, const base::Uuid& org_id) {
  Rows<Column<"monitor_id", base::Uuid>, Column<"next_run_at", base::Timestamp>> starts;
  for (const auto& row : tx.Exec<"sched_stopped_of_organisation">("org_id"_a = org_id)) {
    SchedRow sched;
    base::Timestamp now{};
    Columns(row).Into("monitor_id"_a = &sched.monitor_id, "anchor_at"_a = &sched.anchor_at,
                      "frequency_s"_a = &sched.frequency_s, "schedule"_a = &sched.schedule_json,
                      "clock_timestamp"_a = &now);
    starts.Add(sched.monitor_id, sched.timetable().FirstToCut(now));
  }
  tx.Exec<"sched_set_live">(starts, "live"_a = true);
}

}  // namespace

void AuditIfGiven(Transaction& tx, const base::Clock& clock, const base::Uuid& org_id,
                  const std::optional<AuditEntry>& audit) {
  if (!audit) return;
  AuditEntry entry = *audit;
  entry.org_id = org_id;
  InsertAudit(tx, clock, entry);
}

std::optional<LockedMonitor> LockMonitor(Transaction& tx, const Scope& scope,
                                         const base::Uuid& monitor_id) {
  const auto rows = tx.Exec<"monitor_lock">("monitor_id"_a = monitor_id, "org_id"_a = scope.org_id,
                                            "team_id"_a = scope.team_id);
  if (rows.empty()) return std::nullopt;
  LockedMonitor locked;
  Columns(rows.at(0))
      .Into("org_id"_a = &locked.org_id, "status"_a = &locked.status,
            "disabled_reason"_a = &locked.disabled_reason,
            "struct_version"_a = &locked.struct_version, "updated_at"_a = &locked.updated_at);
  return locked;
}

void SetMonitorStatus(Transaction& tx, const base::Uuid& monitor_id, MonitorStatus status,
                      const std::optional<std::string>& disabled_reason) {
  tx.Exec<"monitor_set_status">("monitor_id"_a = monitor_id, "status"_a = status,
                                "disabled_reason"_a = disabled_reason);
  // The organisation before monitor_sched, as ChangeOrganisation locks them.
  const bool live = status == MonitorStatus::kActive &&
                    ReadOne<bool>(tx.Exec<"sched_live_of_monitor">("monitor_id"_a = monitor_id));
  const LockedSched locked = LockSched(tx, monitor_id);
  const SchedRow& sched = locked.sched;
  if (!live && locked.live && sched.next_run_at <= locked.now) {
    CloseDueTicks(tx, {sched}, locked.now, domain::Outcome::kSkippedPaused);
  }
  std::optional<base::Timestamp> next_run_at;
  if (live && !locked.live) {
    next_run_at = sched.timetable().FirstToCut(locked.clock);
  }
  Rows<Column<"monitor_id", base::Uuid>, Column<"next_run_at", std::optional<base::Timestamp>>> set;
  set.Add(monitor_id, next_run_at);
  tx.Exec<"sched_set_live">(set, "live"_a = live);
}

ControlOutcome PauseMonitor(Session& session, const base::Clock& clock, const Scope& scope,
                            const base::Uuid& monitor_id, const std::string& reason,
                            const std::optional<AuditEntry>& audit) {
  return Switch(
      session, clock, scope, monitor_id, MonitorStatus::kPaused, reason,
      [](MonitorStatus s) { return s == MonitorStatus::kActive || s == MonitorStatus::kPaused; },
      audit);
}

ControlOutcome ResumeMonitor(Session& session, const base::Clock& clock, const Scope& scope,
                             const base::Uuid& monitor_id, const std::optional<AuditEntry>& audit) {
  return Switch(
      session, clock, scope, monitor_id, MonitorStatus::kActive, std::nullopt,
      [](MonitorStatus s) { return !IsFromFile(s); }, audit);
}

ControlOutcome CancelMonitor(Session& session, const base::Clock& clock, const Scope& scope,
                             const base::Uuid& monitor_id, const std::string& reason,
                             const std::optional<AuditEntry>& audit) {
  return Switch(
      session, clock, scope, monitor_id, MonitorStatus::kCancelled, reason,
      [](MonitorStatus s) { return !IsFromFile(s); }, audit);
}

ControlOutcome ArchiveMonitor(Session& session, const base::Clock& clock, const Scope& scope,
                              const base::Uuid& monitor_id, const std::string& reason,
                              const std::optional<AuditEntry>& audit) {
  return PutAway(session, clock, scope, monitor_id, reason, audit,
                 [&](Transaction& tx) { tx.Exec<"monitor_archive">("monitor_id"_a = monitor_id); });
}

ControlOutcome DeleteMonitor(Session& session, const base::Clock& clock, const Scope& scope,
                             const base::Uuid& monitor_id, const std::string& reason,
                             const std::optional<AuditEntry>& audit) {
  return PutAway(session, clock, scope, monitor_id, reason, audit, [&](Transaction& tx) {
    tx.Exec<"monitor_delete">("monitor_id"_a = monitor_id);
    SetLogin(tx, {}, monitor_id, std::nullopt);
  });
}

TriggerOutcome TriggerMonitor(Session& session, const base::Clock& clock, const Scope& scope,
                              const base::Uuid& monitor_id, const MaterialiseLimits& limits,
                              const std::optional<AuditEntry>& audit) {
  const auto body = [&](Transaction& tx) {
    TriggerOutcome outcome;
    const auto rows = tx.Exec<"trigger_lock">(
        "monitor_id"_a = monitor_id, "org_id"_a = scope.org_id, "team_id"_a = scope.team_id);
    if (rows.empty()) {
      outcome.kind = TriggerOutcome::Kind::kNotFound;
      return outcome;
    }
    NewTick tick;
    bool live = false;
    std::optional<int> open_rows;
    std::optional<std::int64_t> held_tick_id;
    std::optional<int> held_rows;
    std::optional<base::Timestamp> first_turn;
    base::Timestamp now{};
    Columns in(rows.at(0));
    in.Into("status"_a = &outcome.status, "live"_a = &live, "open_rows"_a = &open_rows,
            "available_at"_a = &first_turn, "held_tick_id"_a = &held_tick_id,
            "held_rows"_a = &held_rows);
    tick.sched = ReadSched(in, &now);
    if (!live) {
      outcome.kind = TriggerOutcome::Kind::kConflict;
      outcome.organisation_stopped = outcome.status == MonitorStatus::kActive;
      return outcome;
    }
    AuditIfGiven(tx, clock, tick.sched.org_id, audit);
    if (tick.sched.open_tick_id || held_tick_id) {
      outcome.joined = true;
      outcome.tick_id = tick.sched.open_tick_id ? *tick.sched.open_tick_id : *held_tick_id;
      outcome.rows = tick.sched.open_tick_id ? open_rows.value() : held_rows.value();
      return outcome;
    }
    tick.tick_id = NextTickId(tick.sched, now);
    tick.trigger = domain::TickTrigger::kManual;
    tick.due_at = now;
    tick.next_run_at = tick.sched.next_run_at;
    const std::int64_t chunks = OpenManualTick(tx, clock, tick, first_turn, limits);
    outcome.tick_id = tick.tick_id;
    outcome.rows = tick.sched.row_count;
    outcome.raise = chunks > 0 ? Signal::kChunk : Signal::kDue;
    return outcome;
  };
  return InTransaction(session, body, Durability::kAsync);
}

void ConfirmTrigger(Session& session) {
  WaitForCommits(session);
}

bool ChangeOrganisation(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                        const OrganisationChange& change, const std::optional<AuditEntry>& audit) {
  return InTransaction(session, [&](Transaction& tx) {
    const auto rows = tx.Exec<"organisation_lock">("org_id"_a = org_id);
    if (rows.empty()) return false;
    bool locked_before = false;
    std::vector<std::string> features_before;
    bool ran = false;
    OrganisationPlace place;
    Columns(rows.at(0))
        .Into("locked"_a = &locked_before, "features"_a = &features_before, "monitors_run"_a = &ran,
              "lives_at"_a = &place.lives_at, "moving_until"_a = &place.moving_until);
    CheckIsHere(place);
    const bool runs = ReadOne<bool>(tx.Exec<"organisation_set_control">(
        "org_id"_a = org_id, "locked"_a = change.locked.value_or(locked_before),
        "features"_a = change.features.value_or(features_before)));
    if (ran && !runs) StopOrganisation(tx, org_id);
    if (!ran && runs) StartOrganisation(tx, org_id);
    if (audit) {
      AuditEntry entry = *audit;
      entry.org_id = org_id;
      InsertAudit(tx, clock, entry);
    }
    return true;
  });
}

}  // namespace vedette::store
