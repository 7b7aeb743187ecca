#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "domain/monitor/chunk_plan.h"
#include "domain/monitor/enums.h"
#include "domain/monitor/timetable.h"
#include "store/checks/ticks.h"
#include "store/sql.h"

// Internal to store/: opening ticks inside the caller's transaction, for the schedule and the
// trigger.
namespace vedette::store {

// A locked monitor_sched row, as far as opening a tick needs it.
struct SchedRow {
  base::Uuid monitor_id;
  base::Uuid org_id;
  std::optional<base::Uuid> team_id;
  domain::Tier tier = domain::Tier::kLow;
  std::int64_t frequency_s = 0;
  base::Timestamp anchor_at{};
  base::Timestamp next_run_at{};
  int row_count = 0;
  std::int64_t last_tick_id = 0;
  std::optional<std::int64_t> open_tick_id;  // unless a chunk holds it
  std::optional<base::Uuid> chunk_id;        // that its last held tick was cut into; it may be gone
  int check_ms = 0;                          // how long a check of it took; 0 = not known
  bool failing = false;
  std::optional<std::string> schedule_json;  // by the clock (domain/monitor/timetable.h)
  std::chrono::seconds longest{};            // between two slots

  domain::Timetable timetable() const {
    return {anchor_at, std::chrono::seconds(frequency_s), schedule_json, monitor_id};
  }
};

// Reads :sched_columns. `now` is the transaction's time.
SchedRow ReadSched(Columns& in, base::Timestamp* now);

// A tick to be opened, or closed at once when the monitor's last one is still open.
struct NewTick {
  SchedRow sched;
  std::int64_t tick_id = 0;
  domain::TickTrigger trigger = domain::TickTrigger::kSchedule;
  base::Timestamp due_at{};
  // Now, or with the last of its slots, where that is to come.
  base::Timestamp starts_at{};
  base::Timestamp next_run_at{};  // of the monitor from now on
  std::int64_t slots = 0;
  bool spread = false;  // cut in portions over a share of the period
  // The ctid of the schedule that was locked, where the tick is due.
  std::string place;
};

// What a tick of the schedule is besides its rows, where its chunk alone says it: that chunk holds
// the tick, which is open until the chunk is recorded.
struct HeldTick {
  base::Timestamp due_at{};
  base::Timestamp started_at{};
  std::int64_t slots = 0;
  // Its monitor's, when the tick was cut:
  std::chrono::seconds longest{};  // between two slots
  int check_ms = 0;                // that its chunks are cut by; 0 = not known
  bool failing = false;            // every check of its last ticks failed
};
// When a tick starts whose chunk says that the first of its ticks starts at `first_at`.
base::Timestamp HeldStart(base::Timestamp first_at, std::int64_t due_us);
// Reads :held_columns: the ticks of a chunk's parts, in their order, or nothing where it holds
// none.
std::vector<HeldTick> ReadHeldTicks(Columns& in);

// tick_id = greatest(the monitor's last + 1, the database clock in microseconds).
std::int64_t NextTickId(const SchedRow& sched, base::Timestamp now);

// The tick of a monitor that is due, or will be within `ahead`: missed slots and one that is so
// near collapsed, the next one by its timetable.
NewTick DueTick(SchedRow sched, base::Timestamp now, std::chrono::milliseconds ahead);

// Accounts for slots that came due and will not be cut (G7): ticks that are closed at once, all
// rows with this outcome. `due` are locked rows.
void CloseDueTicks(Transaction& tx, std::vector<SchedRow> due, base::Timestamp now,
                   domain::Outcome outcome);

// Writes the ticks, whose monitors are locked, and their first chunks; those of monitors that have
// an open one, or no rows, are closed at once. Scheduled ones that a chunk holds whole are left to
// it (HeldTick).
struct OpenedTicks {
  std::int64_t chunks = 0;
  std::int64_t overlaps = 0;  // of monitors that have an open one
};
OpenedTicks OpenTicks(Transaction& tx, const base::Clock& clock, const std::vector<NewTick>& ticks,
                      const MaterialiseLimits& limits, MaterialiseBounds* bounds = nullptr);

// The same for one manual tick of a monitor that has none open, whose organisation's first waiting
// chunk has its turn at `first_turn` (domain/monitor/chunk_plan.h). One statement where one chunk
// holds the tick.
std::int64_t OpenManualTick(Transaction& tx, const base::Clock& clock, const NewTick& tick,
                            std::optional<base::Timestamp> first_turn,
                            const MaterialiseLimits& limits);

// Reads monitor, organisation and whether it fails.
std::vector<HealthChange> ReadChanges(const pqxx::result& rows);

// What the chunk of a part is to hold: of all parts of a chunk, or of none.
using HeldOf = std::function<std::optional<HeldTick>(const domain::ChunkPart&)>;

// Gives the chunks their turns (domain/monitor/chunk_plan.h) and writes them.
struct InsertedChunks {
  std::vector<base::Uuid> ids;                       // of each
  std::map<base::Uuid, base::Timestamp> last_turns;  // of each large tick's monitor
};
InsertedChunks InsertChunks(Transaction& tx, const base::Clock& clock,
                            const std::vector<domain::ChunkPlan>& plans, const HeldOf& held_of,
                            MaterialiseBounds* bounds = nullptr);

}  // namespace vedette::store
