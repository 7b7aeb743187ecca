#include "store/jobs/scheduled_runs.h"

#include <cstdint>
#include <utility>

#include "store/sql.h"

namespace vedette::store {

bool DecideSlot(Transaction& tx, const SlotTaken& slot, domain::SlotState state,
                const std::optional<std::string_view>& reason,
                const std::optional<base::Uuid>& run_id) {
  std::optional<std::string> text;
  if (reason) text = std::string(*reason);
  const auto decided = tx.Exec<"workflow_slot_decide">(
      "schedule_id"_a = slot.schedule_id, "version"_a = slot.version, "slot"_a = slot.slot,
      "was_waiting"_a = slot.was_waiting, "next_at"_a = slot.next_at, "slots"_a = slot.slots,
      "state"_a = state, "reason"_a = text, "run_id"_a = run_id);
  if (decided.empty()) return false;
  tx.Exec<"workflow_slots_prune">("schedule_id"_a = slot.schedule_id,
                                  "kept"_a = domain::kSlotsKept);
  return true;
}

SlotTaken DueSchedule::SlotOf(const domain::SlotStep& step) const {
  SlotTaken taken{id, version, step.slot, step.was_waiting, moment.next_at, 1};
  if (step.was_waiting) return taken;
  const bool is_late = step.reason == domain::kSlotLate;
  const domain::DueSlots due =
      timetable.CollapseDue(step.slot, is_late ? moment.LateBefore() : step.slot);
  taken.next_at = due.next_run_at;
  taken.slots = due.slots;
  return taken;
}

namespace {

DueSchedule ReadDue(const pqxx::row& row) {
  base::Uuid id, org_id, workflow_id;
  std::optional<base::Uuid> team_id;
  std::chrono::seconds period{};
  std::optional<std::string> schedule, specs_override, payload;
  base::Timestamp anchor_at{};
  domain::ScheduleMoment moment;
  domain::Principal caller;
  std::vector<std::string> features;
  bool is_active = false;
  int version = 0;
  Columns(row).Into(
      "id"_a = &id, "org_id"_a = &org_id, "team_id"_a = &team_id, "workflow_id"_a = &workflow_id,
      "frequency_s"_a = &period, "schedule"_a = &schedule, "anchor_at"_a = &anchor_at,
      "overlap"_a = &moment.overlap, "catch_up_s"_a = &moment.catch_up,
      "specs_override"_a = &specs_override, "webhook_payload"_a = &payload,
      "is_active"_a = &is_active, "caller_kind"_a = &caller.kind, "caller_id"_a = &caller.id,
      "on_behalf_of"_a = &caller.on_behalf_of, "next_at"_a = &moment.next_at,
      "waiting_slot"_a = &moment.waiting, "version"_a = &version, "features"_a = &features,
      "run_open"_a = &moment.run_open, "now"_a = &moment.now);
  moment.paused = !is_active;
  return {id,
          org_id,
          team_id,
          workflow_id,
          std::move(caller),
          std::move(features),
          std::move(specs_override),
          std::move(payload),
          version,
          moment,
          domain::Timetable::Since(anchor_at, period, schedule, id)};
}

}  // namespace

std::optional<DueSchedule> ClaimSchedule(Session& session, std::chrono::milliseconds lease) {
  const auto id = Read(session, [&](Transaction& tx) {
    return ReadFirst<base::Uuid>(tx.Exec<"workflow_schedule_claim">("lease_ms"_a = lease.count()));
  });
  if (!id) return std::nullopt;
  return Read(session, [&](Transaction& tx) -> std::optional<DueSchedule> {
    const auto found = tx.Exec<"workflow_schedule_due">("id"_a = *id);
    if (found.empty()) return std::nullopt;  // just deleted
    return ReadDue(found[0]);
  });
}

bool WaitAtSlot(Session& session, const SlotTaken& slot) {
  return InTransaction(session, [&](Transaction& tx) {
    return DecideSlot(tx, slot, domain::SlotState::kWaiting, std::nullopt, std::nullopt);
  });
}

bool SkipSlot(Session& session, const SlotTaken& slot, std::string_view reason) {
  return InTransaction(session, [&](Transaction& tx) {
    return DecideSlot(tx, slot, domain::SlotState::kSkipped, reason, std::nullopt);
  });
}

bool PauseAtSlot(Session& session, const SlotTaken& slot, const WorkflowFault& fault) {
  return InTransaction(session, [&](Transaction& tx) {
    if (!DecideSlot(tx, slot, domain::SlotState::kSkipped, fault.reason, std::nullopt))
      return false;
    tx.Exec<"workflow_schedule_pause">("id"_a = slot.schedule_id, "workflow_id"_a = std::nullopt,
                                       "reason"_a = fault.reason, "message"_a = fault.message);
    return true;
  });
}

void RestSchedule(Session& session, const DueSchedule& due, std::chrono::milliseconds wait) {
  Read(session, [&](Transaction& tx) {
    tx.Exec<"workflow_schedule_rest">("id"_a = due.id, "version"_a = due.version,
                                      "wait_ms"_a = wait.count());
  });
}

NextLook ReadNextLook(Session& session) {
  return Read(session, [](Transaction& tx) {
    NextLook look;
    Columns(tx.Exec<"workflow_schedule_next_look">().at(0))
        .Into("now"_a = &look.now, "next_look"_a = &look.next);
    return look;
  });
}

}  // namespace vedette::store
