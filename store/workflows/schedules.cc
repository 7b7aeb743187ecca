#include "store/workflows/schedules.h"

#include "store/sql.h"

namespace vedette::store {
namespace {

// Reads :workflow_schedule_columns.
WorkflowSchedule ReadSchedule(Columns& in) {
  WorkflowSchedule s;
  in.Into("id"_a = &s.id, "org_id"_a = &s.org_id, "workflow_id"_a = &s.workflow_id,
          "name"_a = &s.name, "frequency"_a = &s.times.frequency, "frequency_s"_a = &s.times.period,
          "schedule"_a = &s.times.schedule_json, "anchor_at"_a = &s.times.anchor_at,
          "overlap"_a = &s.overlap, "catch_up_s"_a = &s.catch_up,
          "specs_override"_a = &s.specs_override_json, "channel_ids"_a = &s.channel_ids,
          "is_active"_a = &s.is_active, "paused_reason"_a = &s.paused_reason,
          "paused_message"_a = &s.paused_message, "next_at"_a = &s.next_at,
          "created_at"_a = &s.created_at, "updated_at"_a = &s.updated_at, "version"_a = &s.version);
  return s;
}

// The first row, with its payload.
std::optional<WorkflowSchedule> FirstSchedule(const pqxx::result& rows) {
  if (rows.empty()) return std::nullopt;
  Columns in(rows[0]);
  WorkflowSchedule schedule = ReadSchedule(in);
  in.Into("webhook_payload"_a = &schedule.webhook_payload_json);
  return schedule;
}

// The database's clock. Behind the lock of a schedule, as slots were decided about until then.
base::Timestamp ReadClock(Transaction& tx) {
  return ReadOne<base::Timestamp>(tx.Exec<"workflow_schedule_now">());
}

}  // namespace

ScheduleOutcome CreateWorkflowSchedule(Session& session, const base::Clock& clock,
                                       const NewWorkflowSchedule& schedule, AuditEntry audit) {
  using Kind = ScheduleOutcome::Kind;
  constexpr int kMax = domain::kWorkflowSchedulesMax;
  const NewWorkflowSchedule& s = schedule;
  const base::Uuid id = base::Uuid::V7(clock);
  audit.org_id = s.org_id;
  audit.target = id.ToString();
  return InTransaction(session, [&](Transaction& tx) -> ScheduleOutcome {
    tx.Exec<"workflow_schedule_lock_org">("org_id"_a = s.org_id);
    if (tx.Exec<"workflow_hold">("id"_a = s.workflow_id, "org_id"_a = s.org_id).empty())
      return {Kind::kNotFound, {}};
    const auto count =
        ReadOne<int>(tx.Exec<"workflow_schedule_count">("org_id"_a = s.org_id, "limit"_a = kMax));
    if (count >= kMax) return {Kind::kTooMany, {}};
    RunTimes times = s.times;
    times.anchor_at = ReadClock(tx);
    const base::Timestamp first = times.TimetableOf(id).FirstAfter(times.anchor_at);
    auto made = FirstSchedule(tx.Exec<"workflow_schedule_insert">(
        "id"_a = id, "org_id"_a = s.org_id, "team_id"_a = s.owner.team_id,
        "workflow_id"_a = s.workflow_id, "name"_a = s.name, "frequency"_a = s.times.frequency,
        "frequency_s"_a = s.times.period.count(), "schedule"_a = s.times.schedule_json,
        "anchor_at"_a = times.anchor_at, "overlap"_a = s.overlap,
        "catch_up_s"_a = s.catch_up.count(), "specs_override"_a = s.specs_override_json,
        "webhook_payload"_a = s.webhook_payload_json, "channel_ids"_a = s.channel_ids,
        "is_active"_a = s.is_active, "caller_kind"_a = s.owner.caller.kind,
        "caller_id"_a = s.owner.caller.id, "on_behalf_of"_a = s.owner.caller.on_behalf_of,
        "next_at"_a = first));
    InsertAudit(tx, clock, audit);
    return {Kind::kDone, std::move(*made)};
  });
}

std::vector<WorkflowSchedule> ListWorkflowSchedules(Session& session, const base::Uuid& org_id,
                                                    const base::Uuid& workflow_id) {
  return Read(session, [&](Transaction& tx) {
    std::vector<WorkflowSchedule> schedules;
    for (const auto& row :
         tx.Exec<"workflow_schedule_list">("org_id"_a = org_id, "workflow_id"_a = workflow_id)) {
      Columns in(row);
      schedules.push_back(ReadSchedule(in));
    }
    return schedules;
  });
}

std::optional<WorkflowSchedule> GetWorkflowSchedule(Session& session, const SchedulePlace& place) {
  return Read(session, [&](Transaction& tx) {
    return FirstSchedule(tx.Exec<"workflow_schedule_get">(
        "id"_a = place.id, "org_id"_a = place.org_id, "workflow_id"_a = place.workflow_id));
  });
}

namespace {

// The columns of other times; all are null where they stay.
struct TimesColumns {
  std::optional<std::string> frequency, schedule;
  std::optional<std::int64_t> period_s;
  std::optional<base::Timestamp> anchor_at, next_at;
};

TimesColumns ColumnsOf(std::optional<RunTimes> times, const base::Uuid& id, base::Timestamp now) {
  if (!times) return {};
  times->anchor_at = now;
  return {times->frequency, times->schedule_json, times->period.count(), now,
          times->TimetableOf(id).FirstAfter(now)};
}

std::optional<std::int64_t> SecondsOf(const std::optional<std::chrono::seconds>& time) {
  if (!time) return std::nullopt;
  return time->count();
}

}  // namespace

ScheduleOutcome UpdateWorkflowSchedule(Session& session, const base::Clock& clock,
                                       const SchedulePlace& place,
                                       const WorkflowScheduleChange& change, AuditEntry audit) {
  audit.org_id = place.org_id;
  audit.target = place.id.ToString();
  const domain::Principal& caller = change.owner.caller;
  return InTransaction(session, [&](Transaction& tx) -> ScheduleOutcome {
    using Kind = ScheduleOutcome::Kind;
    const auto locked = tx.Exec<"workflow_schedule_lock">(
        "id"_a = place.id, "org_id"_a = place.org_id, "workflow_id"_a = place.workflow_id);
    if (locked.empty()) return {Kind::kNotFound, {}};
    if (ReadOne<int>(locked) != change.of_version) return {Kind::kChanged, {}};
    const base::Timestamp now = ReadClock(tx);
    const TimesColumns times = ColumnsOf(change.times, place.id, now);
    auto changed = FirstSchedule(tx.Exec<"workflow_schedule_update">(
        "id"_a = place.id, "org_id"_a = place.org_id, "workflow_id"_a = place.workflow_id,
        "name"_a = change.name, "frequency"_a = times.frequency, "frequency_s"_a = times.period_s,
        "schedule"_a = times.schedule, "anchor_at"_a = times.anchor_at, "next_at"_a = times.next_at,
        "overlap"_a = change.overlap, "catch_up_s"_a = SecondsOf(change.catch_up),
        "sets_override"_a = change.specs_override_json.has_value(),
        "specs_override"_a = change.specs_override_json.value_or(std::nullopt),
        "sets_payload"_a = change.webhook_payload_json.has_value(),
        "webhook_payload"_a = change.webhook_payload_json.value_or(std::nullopt),
        "sets_channels"_a = change.channel_ids.has_value(),
        "channel_ids"_a = change.channel_ids.value_or(std::vector<base::Uuid>()),
        "is_active"_a = change.is_active, "team_id"_a = change.owner.team_id,
        "caller_kind"_a = caller.kind, "caller_id"_a = caller.id,
        "on_behalf_of"_a = caller.on_behalf_of, "now"_a = now));
    InsertAudit(tx, clock, audit);
    return {Kind::kDone, std::move(*changed)};
  });
}

bool DeleteWorkflowSchedule(Session& session, const base::Clock& clock, const SchedulePlace& place,
                            AuditEntry audit) {
  audit.org_id = place.org_id;
  audit.target = place.id.ToString();
  return InTransaction(session, [&](Transaction& tx) {
    const auto gone = tx.Exec<"workflow_schedule_delete">(
        "id"_a = place.id, "org_id"_a = place.org_id, "workflow_id"_a = place.workflow_id);
    if (gone.empty()) return false;
    InsertAudit(tx, clock, audit);
    return true;
  });
}

std::optional<WorkflowSchedule> FindWorkflowSchedule(Session& session, const base::Uuid& id) {
  return Read(session, [&](Transaction& tx) {
    return FirstSchedule(tx.Exec<"workflow_schedule_find">("id"_a = id));
  });
}

std::vector<WorkflowSchedule> ListSchedulesPage(Session& session,
                                                const SchedulePageFilter& filter) {
  return Read(session, [&](Transaction& tx) {
    std::vector<WorkflowSchedule> schedules;
    for (const auto& row : tx.Exec<"workflow_schedule_page">("org_id"_a = filter.org_id,
                           "workflow_id"_a = filter.workflow_id, "is_active"_a = filter.is_active,
                           "before"_a = filter.before, "limit"_a = filter.limit)) {
      Columns in(row);
      schedules.push_back(ReadSchedule(in));
    }
    return schedules;
  });
}

bool PauseScheduleFor(Session& session, const base::Clock& clock, const base::Uuid& id,
                      const std::string& message, const AuditEntry& audit) {
  return InTransaction(session, [&](Transaction& tx) {
    const auto paused = tx.Exec<"workflow_schedule_pause">(
        "id"_a = id, "workflow_id"_a = std::nullopt,
        "reason"_a = std::string(domain::kPausedByOperator), "message"_a = message);
    if (paused.affected_rows() == 0) return false;
    InsertAudit(tx, clock, audit);
    return true;
  });
}

Resumed ResumeSchedule(Session& session, const base::Clock& clock, const base::Uuid& id,
                       const AuditEntry& audit) {
  return InTransaction(session, [&](Transaction& tx) {
    const auto asked = tx.Exec<"workflow_schedule_resume">("id"_a = id);
    if (asked.empty()) return Resumed::kNotPaused;
    bool was_active = false;
    bool team_deleted = false;
    Columns(asked[0]).Into("is_active"_a = &was_active, "team_deleted"_a = &team_deleted);
    if (was_active) return Resumed::kNotPaused;
    if (team_deleted) return Resumed::kTeamDeleted;
    InsertAudit(tx, clock, audit);
    return Resumed::kDone;
  });
}

std::vector<WorkflowSlot> ListWorkflowSlots(Session& session, const base::Uuid& schedule_id) {
  return Read(session, [&](Transaction& tx) {
    std::vector<WorkflowSlot> slots;
    for (const auto& row : tx.Exec<"workflow_slot_list">("schedule_id"_a = schedule_id,
                           "limit"_a = domain::kSlotsKept)) {
      WorkflowSlot& slot = slots.emplace_back();
      Columns(row).Into("slot"_a = &slot.slot, "state"_a = &slot.state, "reason"_a = &slot.reason,
                        "slots"_a = &slot.slots, "run_id"_a = &slot.run_id,
                        "decided_at"_a = &slot.decided_at);
    }
    return slots;
  });
}

}  // namespace vedette::store
