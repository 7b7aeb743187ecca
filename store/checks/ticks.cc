#include "store/checks/ticks.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "config/config.h"
#include "domain/monitor/chunk_plan.h"
#include "domain/monitor/enums.h"
#include "domain/text/limits.h"
#include "store/checks/chunks.h"
#include "store/checks/ticks_sql.h"
#include "store/session_impl.h"
#include "store/sql.h"

namespace vedette::store {
namespace {

// Ticks that are closed at once, all rows with one outcome.
void PassTicks(Transaction& tx, const std::vector<NewTick>& ticks, domain::Outcome outcome,
               base::Timestamp at) {
  if (ticks.empty()) return;
  // `outcomes` is empty where there are many rows.
  Rows<Column<"monitor_id", base::Uuid>, Column<"tick_id", std::int64_t>,
       Column<"org_id", base::Uuid>, Column<"trigger", domain::TickTrigger>,
       Column<"due_at", base::Timestamp>, Column<"slots", std::int64_t>, Column<"row_count", int>,
       Column<"outcomes", std::optional<std::string>>>
      closed;
  Rows<Column<"monitor_id", base::Uuid>, Column<"tick_id", std::int64_t>,
       Column<"next_run_at", base::Timestamp>>
      passed;  // monitor, tick, next run
  for (const NewTick& tick : ticks) {
    const SchedRow& sched = tick.sched;
    std::optional<std::string> outcomes;
    if (sched.row_count <= domain::kBlockRows) {
      outcomes =
          Bytea(std::string(static_cast<std::size_t>(sched.row_count), static_cast<char>(outcome)));
    }
    closed.Add(sched.monitor_id, tick.tick_id, sched.org_id, tick.trigger, tick.due_at, tick.slots,
               sched.row_count, outcomes);
    passed.Add(sched.monitor_id, tick.tick_id, tick.next_run_at);
  }
  tx.ExecLater<"tick_insert_closed">(closed, "outcome"_a = outcome, "at"_a = at);
  tx.ExecLater<"sched_pass_ticks">(passed, "at"_a = at);
}

// Whether a tick is spread over a share of its period: scheduled ones of big monitors, but the
// first, which comes before the second slot that the anchor makes.
bool IsSpread(const MaterialiseLimits& limits, domain::TickTrigger trigger, base::Timestamp due_at,
              const SchedRow& sched, int rows) {
  const base::Timestamp second = sched.anchor_at + std::chrono::seconds(sched.frequency_s);
  return trigger == domain::TickTrigger::kSchedule && due_at >= second &&
         rows >= limits.spread_rows_min && rows > limits.chunk_rows_max && limits.spread > 0;
}

// A spread tick is cut into about a hundred portions; any in whole blocks.
int PortionRows(const MaterialiseLimits& limits, bool spread, int rows) {
  const int wanted =
      spread ? std::min(rows / 100, limits.rows_per_cut_max) : limits.rows_per_cut_max;
  const int blocks = std::max(1, (wanted + domain::kBlockRows - 1) / domain::kBlockRows);
  return blocks * domain::kBlockRows;
}

// Rows of a chunk of a monitor whose checks take `check_ms`.
int ChunkRows(const MaterialiseLimits& limits, int check_ms) {
  return domain::ChunkRowsFor(std::chrono::milliseconds(check_ms), limits.chunk_duration_target,
                              limits.chunk_rows_max);
}

// The chunks that there are, as far as new ones have to know.
struct Queues {
  base::Timestamp now{};
  // The turns of the first chunks of flows of each organisation that was asked for.
  std::map<base::Uuid, base::Timestamp> first_turns;
  std::set<base::Uuid> chunks;  // of those that were asked for, those that are there
};

Queues ReadQueues(Transaction& tx, const base::Clock& clock, const std::set<base::Uuid>& orgs,
                  const std::set<base::Uuid>& chunks, MaterialiseBounds* bounds) {
  using Bounds = ScanBounds<base::Uuid>;
  const auto began = clock.SinceBoot();
  const auto from = bounds ? bounds->turns.Next(began) : Bounds::From::kBeginning;
  const bool bounded = from == Bounds::From::kBounds;
  Rows<Column<"org_ids", base::Uuid>, Column<"from_at", Bounds::First>> asked;
  for (const base::Uuid& id : orgs) {
    asked.Add(id, bounded ? bounds->turns.Of(id, began) : std::nullopt);
  }
  // Behind bounds those that a lease has ended of are left out: they stand behind all turns.
  const auto rows =
      tx.Exec<"chunk_turns">(asked, "apart_s"_a = bounded ? kPlacesApart.count() : 0,
                             "chunk_ids"_a = std::vector<base::Uuid>(chunks.begin(), chunks.end()));
  const auto ended = clock.SinceBoot();
  Queues queues;
  std::vector<Bounds::Seen> seen;
  for (const auto& row : rows) {
    base::Uuid id;
    std::optional<base::Timestamp> first_turn;
    bool is_chunk = false;
    Columns(row).Into("id"_a = &id, "available_at"_a = &first_turn, "now"_a = &queues.now,
                      "is_chunk"_a = &is_chunk);
    if (is_chunk) {
      queues.chunks.insert(id);
      continue;
    }
    queues.first_turns.emplace(id, domain::FirstStart(first_turn, queues.now));
    const auto from_turn = first_turn ? Bounds::First(domain::StartFloor(*first_turn)) : first_turn;
    const base::Timestamp turns_arrive = queues.now - domain::kStartsBack;
    seen.push_back({id, from_turn, turns_arrive - kScanMargin,
                    domain::StartFloor(turns_arrive - kScanMarginShort)});
  }
  if (bounds) bounds->turns.Scanned(from, began, ended, seen);
  return queues;
}

// The chunks' turns, in their order. A flow is a large tick, or the small ones of an organisation.
std::vector<base::Timestamp> GiveTurns(const Queues& queues,
                                       const std::vector<domain::ChunkPlan>& plans) {
  std::map<std::pair<base::Uuid, std::optional<base::Uuid>>, base::Timestamp> last;
  std::vector<base::Timestamp> turns;
  turns.reserve(plans.size());
  for (const domain::ChunkPlan& plan : plans) {
    const base::Timestamp first = queues.first_turns.at(plan.org_id);
    const auto [it, begins] = last.try_emplace({plan.org_id, plan.large_monitor_id}, first);
    if (!begins) {
      it->second = domain::NextStart(it->second, queues.now);
    } else if (plan.last_turn) {
      it->second = std::max(first, domain::NextStart(*plan.last_turn, queues.now));
    }
    turns.push_back(it->second);
  }
  return turns;
}

// The parts of all chunks, one chunk's behind the other's.
class PartColumns {
 public:
  void Add(const domain::ChunkPart& part, const HeldTick& held) {
    monitors_.push_back(part.monitor_id);
    ticks_.push_back(part.tick_id);
    firsts_.push_back(part.first);
    ends_.push_back(part.end);
    due_us_.push_back(Micros(held.due_at));
    slots_.push_back(held.slots);
    longest_s_.push_back(held.longest.count());
    check_ms_.push_back(held.check_ms);
    failing_.push_back(held.failing ? 1 : 0);
  }
  std::size_t size() const { return monitors_.size(); }

  template <typename T>
  void Insert(Transaction& tx, const T& chunks) const {
    tx.ExecLater<"chunk_insert">(chunks, "monitor_ids"_a = monitors_, "tick_ids"_a = ticks_,
                                 "firsts"_a = firsts_, "ends"_a = ends_, "due_us"_a = due_us_,
                                 "slots"_a = slots_, "longest_s"_a = longest_s_,
                                 "check_ms"_a = check_ms_, "failing"_a = failing_);
  }

 private:
  std::vector<base::Uuid> monitors_;
  std::vector<std::int64_t> ticks_;
  std::vector<int> firsts_;
  std::vector<int> ends_;
  std::vector<std::int64_t> due_us_;
  std::vector<std::int64_t> slots_;
  std::vector<std::int64_t> longest_s_;
  std::vector<int> check_ms_;
  std::vector<int> failing_;
};

InsertedChunks WriteChunks(Transaction& tx, const base::Clock& clock,
                           const std::vector<domain::ChunkPlan>& plans, const HeldOf& held_of,
                           const Queues& queues) {
  InsertedChunks inserted;
  if (plans.empty()) return inserted;
  const std::vector<base::Timestamp> turns = GiveTurns(queues, plans);
  // `monitor_id` is that of a large tick; `part_from` and `part_until` are its first and last part
  // among those of all, from 1; `started_at` is when the first tick begins that it holds.
  Rows<Column<"id", base::Uuid>, Column<"org_id", base::Uuid>,
       Column<"team_id", std::optional<base::Uuid>>, Column<"tier", domain::Tier>,
       Column<"monitor_id", std::optional<base::Uuid>>, Column<"due_at", base::Timestamp>,
       Column<"row_count", int>, Column<"turn", base::Timestamp>, Column<"part_from", std::size_t>,
       Column<"part_until", std::size_t>, Column<"started_at", std::optional<base::Timestamp>>>
      chunks;
  PartColumns parts;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const domain::ChunkPlan& plan = plans[i];
    if (plan.large_monitor_id) inserted.last_turns[*plan.large_monitor_id] = turns[i];
    const std::size_t from = parts.size() + 1;
    std::optional<base::Timestamp> started_at;
    for (const domain::ChunkPart& part : plan.parts) {
      const auto held = held_of(part);
      parts.Add(part, held.value_or(HeldTick()));
      if (held) started_at = std::min(started_at.value_or(held->started_at), held->started_at);
    }
    inserted.ids.push_back(base::Uuid::V7(clock));
    chunks.Add(inserted.ids.back(), plan.org_id, plan.team_id, plan.tier, plan.large_monitor_id,
               plan.due_at, plan.row_count, turns[i], from, parts.size(), started_at);
  }
  parts.Insert(tx, chunks);
  return inserted;
}

}  // namespace

MaterialiseLimits MaterialiseLimitsOf(const config::Config& config) {
  return {config.scheduler.monitors_per_cut_max,
          config.scheduler.rows_per_cut_max,
          config.worker.chunk_rows_max,
          config.scheduler.spread_rows_min,
          config.scheduler.spread,
          config.worker.chunk_duration_target_ms};
}

SchedRow ReadSched(Columns& in, base::Timestamp* now) {
  SchedRow s;
  in.Into("monitor_id"_a = &s.monitor_id, "org_id"_a = &s.org_id, "team_id"_a = &s.team_id,
          "tier"_a = &s.tier, "frequency_s"_a = &s.frequency_s, "anchor_at"_a = &s.anchor_at,
          "next_run_at"_a = &s.next_run_at, "row_count"_a = &s.row_count,
          "last_tick_id"_a = &s.last_tick_id, "open_tick_id"_a = &s.open_tick_id,
          "chunk_id"_a = &s.chunk_id, "check_ms"_a = &s.check_ms, "failing"_a = &s.failing,
          "schedule"_a = &s.schedule_json, "longest_s"_a = &s.longest, "now"_a = now);
  return s;
}

base::Timestamp HeldStart(base::Timestamp first_at, std::int64_t due_us) {
  return std::max(first_at, base::Timestamp(std::chrono::microseconds(due_us)));
}

std::vector<HeldTick> ReadHeldTicks(Columns& in) {
  using Numbers = std::optional<std::vector<std::int64_t>>;
  std::optional<base::Timestamp> started_at;
  Numbers due_us;
  Numbers slots;
  Numbers longest_s;
  Numbers check_ms;
  Numbers failing;
  in.Into("started_at"_a = &started_at, "due_us"_a = &due_us, "slots"_a = &slots,
          "longest_s"_a = &longest_s, "check_ms"_a = &check_ms, "failing"_a = &failing);
  std::vector<HeldTick> held;
  if (!started_at) return held;
  for (std::size_t i = 0; i < due_us->size(); ++i) {
    HeldTick& tick = held.emplace_back();
    tick.due_at = base::Timestamp(std::chrono::microseconds((*due_us)[i]));
    tick.started_at = HeldStart(*started_at, (*due_us)[i]);
    tick.slots = slots->at(i);
    tick.longest = std::chrono::seconds(longest_s->at(i));
    tick.check_ms = static_cast<int>(check_ms->at(i));
    tick.failing = failing->at(i) != 0;
  }
  return held;
}

std::int64_t NextTickId(const SchedRow& sched, base::Timestamp now) {
  return std::max<std::int64_t>(sched.last_tick_id + 1, now.time_since_epoch().count());
}

InsertedChunks InsertChunks(Transaction& tx, const base::Clock& clock,
                            const std::vector<domain::ChunkPlan>& plans, const HeldOf& held_of,
                            MaterialiseBounds* bounds) {
  if (plans.empty()) return {};
  std::set<base::Uuid> orgs;
  for (const domain::ChunkPlan& plan : plans) orgs.insert(plan.org_id);
  return WriteChunks(tx, clock, plans, held_of, ReadQueues(tx, clock, orgs, {}, bounds));
}

namespace {

domain::TickRows RowsOf(const NewTick& tick, int chunk_rows) {
  domain::TickRows rows;
  rows.org_id = tick.sched.org_id;
  rows.team_id = tick.sched.team_id;
  rows.tier = tick.sched.tier;
  rows.part = {tick.sched.monitor_id, tick.tick_id, 0, tick.sched.row_count};
  rows.due_at = tick.due_at;
  rows.large = tick.sched.row_count > chunk_rows;
  rows.chunk_rows = chunk_rows;
  return rows;
}

// When ticks begin that are opened together: each with its slot, where that is to come. One of
// several slots of which the last is to come begins with that, and none of the others before.
class Starts {
 public:
  Starts(base::Timestamp now, const std::vector<NewTick>& ticks) : opened_at_(now) {
    for (const NewTick& tick : ticks) {
      if (tick.starts_at > tick.due_at) opened_at_ = std::max(opened_at_, tick.starts_at);
    }
  }
  base::Timestamp Of(const NewTick& tick) const { return std::max(opened_at_, tick.due_at); }

 private:
  base::Timestamp opened_at_;
};

HeldTick HeldFrom(const NewTick& tick, const Starts& starts) {
  const SchedRow& sched = tick.sched;
  return {tick.due_at, starts.Of(tick), tick.slots, sched.longest, sched.check_ms, sched.failing};
}

// Read once the monitors of the ticks are locked: the chunks that hold open ticks are asked for.
Queues QueuesOf(Transaction& tx, const base::Clock& clock, const std::vector<NewTick>& ticks,
                MaterialiseBounds* bounds) {
  std::set<base::Uuid> orgs;
  std::set<base::Uuid> chunks;
  for (const NewTick& tick : ticks) {
    orgs.insert(tick.sched.org_id);
    if (tick.sched.chunk_id) chunks.insert(*tick.sched.chunk_id);
  }
  return ReadQueues(tx, clock, orgs, chunks, bounds);
}

// Scheduled ticks that a chunk holds whole, by their monitors.
using HeldOnes = std::unordered_map<base::Uuid, const NewTick*>;

// Their schedules, which name the chunks.
void WriteHeldTicks(Transaction& tx, const HeldOnes& ticks, const Starts& starts,
                    const std::vector<domain::ChunkPlan>& plans,
                    const std::vector<base::Uuid>& chunk_ids) {
  if (ticks.empty()) return;
  Rows<Column<"place", std::string>, Column<"tick_id", std::int64_t>,
       Column<"started_at", std::int64_t>, Column<"next_run_at", std::int64_t>,
       Column<"chunk_id", base::Uuid>>
      held;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    if (plans[i].large_monitor_id) continue;
    for (const domain::ChunkPart& part : plans[i].parts) {
      const auto it = ticks.find(part.monitor_id);
      if (it == ticks.end()) continue;
      const NewTick& tick = *it->second;
      held.Add(tick.place, tick.tick_id, Micros(starts.Of(tick)), Micros(tick.next_run_at),
               chunk_ids[i]);
    }
  }
  tx.ExecLater<"sched_hold_ticks">(held);
}

// Ticks that are open by their schedules.
class ScheduledTicks {
 public:
  void Add(const NewTick& tick, base::Timestamp started_at, bool large, bool at_once) {
    const SchedRow& sched = tick.sched;
    opened_.Add(sched.monitor_id, tick.tick_id, Micros(tick.next_run_at), Micros(tick.due_at),
                Micros(started_at), tick.slots, tick.trigger, large,
                at_once ? std::nullopt : std::optional<int>(0));
    if (!large) return;
    large_.Add(sched.monitor_id, tick.tick_id, sched.org_id, tick.trigger, tick.due_at, started_at,
               tick.slots, sched.row_count);
  }
  void Write(Transaction& tx) const {
    if (!opened_.empty()) tx.ExecLater<"sched_open_ticks">(opened_);
    if (!large_.empty()) tx.ExecLater<"tick_insert_open">(large_);
  }

 private:
  Rows<Column<"monitor_id", base::Uuid>, Column<"tick_id", std::int64_t>,
       Column<"next_run_at", std::int64_t>, Column<"due_at", std::int64_t>,
       Column<"started_at", std::int64_t>, Column<"slots", std::int64_t>,
       Column<"trigger", domain::TickTrigger>, Column<"large", bool>,
       Column<"portion_position", std::optional<int>>>
      opened_;
  Rows<Column<"monitor_id", base::Uuid>, Column<"tick_id", std::int64_t>,
       Column<"org_id", base::Uuid>, Column<"trigger", domain::TickTrigger>,
       Column<"due_at", base::Timestamp>, Column<"started_at", base::Timestamp>,
       Column<"slots", std::int64_t>, Column<"row_count", int>>
      large_;
};

}  // namespace

OpenedTicks OpenTicks(Transaction& tx, const base::Clock& clock, const std::vector<NewTick>& ticks,
                      const MaterialiseLimits& limits, MaterialiseBounds* bounds) {
  OpenedTicks result;
  std::vector<NewTick> passed;
  std::vector<domain::TickRows> rows;
  HeldOnes held;
  ScheduledTicks scheduled;
  const Queues queues = QueuesOf(tx, clock, ticks, bounds);
  const Starts starts(queues.now, ticks);
  base::Timestamp passed_at = queues.now;
  for (const NewTick& tick : ticks) {
    const SchedRow& sched = tick.sched;
    const bool open =
        sched.open_tick_id || (sched.chunk_id && queues.chunks.contains(*sched.chunk_id));
    if (open) ++result.overlaps;
    if (open || sched.row_count == 0) {
      passed.push_back(tick);
      passed_at = std::max(passed_at, starts.Of(tick));
      continue;
    }
    const domain::TickRows whole = RowsOf(tick, ChunkRows(limits, sched.check_ms));
    // A large tick is cut by MaterialisePortions, from position 0 on, so that there is one way to
    // do it; one that fits into a single portion need not wait for that.
    const bool at_once = !tick.spread && sched.row_count <= limits.rows_per_cut_max;
    if (at_once && !whole.large && tick.trigger == domain::TickTrigger::kSchedule) {
      held.emplace(sched.monitor_id, &tick);
    } else {
      scheduled.Add(tick, starts.Of(tick), whole.large, at_once);
    }
    if (at_once) rows.push_back(whole);
  }
  PassTicks(tx, passed, domain::Outcome::kSkippedOverlap, passed_at);
  scheduled.Write(tx);
  const auto plans = domain::PlanChunks(rows, limits.chunk_rows_max);
  const auto held_of = [&](const domain::ChunkPart& part) {
    const auto it = held.find(part.monitor_id);
    return it == held.end() ? std::nullopt : std::optional(HeldFrom(*it->second, starts));
  };
  const InsertedChunks chunks = WriteChunks(tx, clock, plans, held_of, queues);
  WriteHeldTicks(tx, held, starts, plans, chunks.ids);
  result.chunks = static_cast<std::int64_t>(plans.size());
  return result;
}

std::int64_t OpenManualTick(Transaction& tx, const base::Clock& clock, const NewTick& tick,
                            std::optional<base::Timestamp> first_turn,
                            const MaterialiseLimits& limits) {
  const int rows = tick.sched.row_count;
  const int rows_max = std::min(ChunkRows(limits, tick.sched.check_ms), limits.rows_per_cut_max);
  if (rows == 0 || rows > rows_max) return OpenTicks(tx, clock, {tick}, limits).chunks;
  tx.ExecLater<"tick_open_small">("monitor_id"_a = tick.sched.monitor_id,
                                  "tick_id"_a = tick.tick_id, "trigger"_a = tick.trigger,
                                  "id"_a = base::Uuid::V7(clock),
                                  "available_at"_a = domain::FirstStart(first_turn, tick.due_at));
  return 1;
}

NewTick DueTick(SchedRow sched, base::Timestamp now, std::chrono::milliseconds ahead) {
  const domain::Timetable timetable = sched.timetable();
  NewTick tick;
  tick.starts_at = std::max(now, sched.next_run_at);
  domain::DueSlots slots = timetable.CollapseDue(sched.next_run_at, tick.starts_at);
  // A tick that is late would still be open when the slot comes that is so near.
  if (slots.next_run_at <= now + ahead) {
    tick.starts_at = slots.next_run_at;
    slots = timetable.CollapseDue(sched.next_run_at, tick.starts_at);
  }
  tick.tick_id = NextTickId(sched, now);
  tick.due_at = slots.due_at;
  tick.next_run_at = slots.next_run_at;
  tick.slots = slots.slots;
  tick.sched = std::move(sched);
  return tick;
}

void CloseDueTicks(Transaction& tx, std::vector<SchedRow> due, base::Timestamp now,
                   domain::Outcome outcome) {
  std::vector<NewTick> ticks;
  ticks.reserve(due.size());
  for (SchedRow& sched : due)
    ticks.push_back(DueTick(std::move(sched), now, std::chrono::milliseconds(0)));
  PassTicks(tx, ticks, outcome, now);
}

namespace {

using Schedule = MaterialiseBounds::Schedule;
using DuePlace = MaterialiseBounds::DuePlace;
using ScheduleBounds = ScanBounds<Schedule, DuePlace>;

// The place at which a scan of the schedule begins; empty: the beginning.
ScheduleBounds::First ScheduleFrom(const MaterialiseBounds* bounds, std::chrono::nanoseconds now) {
  if (!bounds || bounds->due.Next(now) == ScheduleBounds::From::kBeginning) return std::nullopt;
  return bounds->due.Of(Schedule::kDue, now);
}

// Before everything that is due at the time.
DuePlace BeginningOf(base::Timestamp at) {
  return {at, base::Uuid(), base::Uuid()};
}

}  // namespace

MaterialiseResult MaterialiseDueTicks(Session& session, const base::Clock& clock,
                                      const MaterialiseLimits& limits, MaterialiseBounds* bounds) {
  const auto body = [&](Transaction& tx) {
    MaterialiseResult result;
    const auto began = clock.SinceBoot();
    const auto bound = ScheduleFrom(bounds, began);
    const DuePlace from = bound.value_or(DuePlace());
    const auto due = tx.Exec<"sched_due">("from_at"_a = from.at, "from_org_id"_a = from.org_id,
                                          "from_monitor_id"_a = from.monitor_id,
                                          "limit"_a = limits.monitors_per_cut_max);
    if (due.empty()) return result;
    result.more = static_cast<int>(due.size()) == limits.monitors_per_cut_max;
    base::Timestamp now{};
    std::vector<NewTick> ticks;
    for (const auto& row : due) {
      Columns in(row);
      SchedRow sched = ReadSched(in, &now);
      NewTick tick = DueTick(std::move(sched), now, domain::kCutAhead);
      in.Into("place"_a = &tick.place);
      tick.spread = IsSpread(limits, tick.trigger, tick.due_at, tick.sched, tick.sched.row_count);
      ticks.push_back(std::move(tick));
    }
    if (bound) {
      const SchedRow& first = ticks.front().sched;
      const DuePlace place{first.next_run_at, first.org_id, first.monitor_id};
      bounds->due.Scanned(ScheduleBounds::From::kBounds, began, began,
                          {{Schedule::kDue, std::min(place, BeginningOf(now)),
                            BeginningOf(now - kScanMargin), BeginningOf(now - kScanMarginShort)}});
    }
    result.scheduled_ticks = static_cast<std::int64_t>(ticks.size());
    const OpenedTicks opened = OpenTicks(tx, clock, ticks, limits, bounds);
    result.chunks = opened.chunks;
    result.overlap_ticks = opened.overlaps;
    return result;
  };
  return InTransaction(session, body, Durability::kSync, Plans::kByKey);
}

namespace {

// A row of sched_due_portions: where an open large tick goes on.
struct DuePortion {
  SchedRow sched;
  std::int64_t tick_id = 0;
  base::Timestamp due_at{};
  base::Timestamp started_at{};
  int open_rows = 0;
  domain::TickTrigger trigger = domain::TickTrigger::kSchedule;
  base::Timestamp at{};
  int first = 0;  // position
  std::optional<base::Timestamp> last_turn;
};

DuePortion ReadPortion(const pqxx::row& row) {
  DuePortion p;
  SchedRow& s = p.sched;
  Columns(row).Into("monitor_id"_a = &s.monitor_id, "org_id"_a = &s.org_id,
                    "team_id"_a = &s.team_id, "tier"_a = &s.tier, "frequency_s"_a = &s.frequency_s,
                    "anchor_at"_a = &s.anchor_at, "open_tick_id"_a = &p.tick_id,
                    "open_due_at"_a = &p.due_at, "open_started_at"_a = &p.started_at,
                    "open_rows"_a = &p.open_rows, "open_trigger"_a = &p.trigger,
                    "portion_at"_a = &p.at, "portion_position"_a = &p.first,
                    "portion_turn"_a = &p.last_turn, "check_ms"_a = &s.check_ms);
  return p;
}

// How much later a row's place is than the one's before it: nothing where the tick comes at once.
// An open tick keeps the pace that its first portion had, whatever becomes of the frequency.
using Pace = std::chrono::duration<double, std::micro>;

Pace PaceOf(const DuePortion& portion, const MaterialiseLimits& limits) {
  if (portion.first > 0) return Pace(portion.at - portion.started_at) / portion.first;
  const SchedRow& sched = portion.sched;
  const int rows = portion.open_rows;
  if (!IsSpread(limits, portion.trigger, portion.due_at, sched, rows)) return {};
  return limits.spread * Pace(std::chrono::seconds(sched.frequency_s)) / rows;
}

domain::TickRows RowsOf(const DuePortion& portion, int end, base::Timestamp due_at,
                        int chunk_rows) {
  domain::TickRows rows;
  rows.org_id = portion.sched.org_id;
  rows.team_id = portion.sched.team_id;
  rows.tier = portion.sched.tier;
  rows.part = {portion.sched.monitor_id, portion.tick_id, portion.first, end};
  rows.due_at = due_at;
  rows.large = true;
  rows.last_turn = portion.last_turn;
  rows.chunk_rows = chunk_rows;
  return rows;
}

// When and at which position the tick's next portion begins; empty after the last.
struct NextPortion {
  std::optional<base::Timestamp> at;
  std::optional<int> position;
};

}  // namespace

MaterialiseResult MaterialisePortions(Session& session, const base::Clock& clock,
                                      const MaterialiseLimits& limits, MaterialiseBounds* bounds) {
  return InTransaction(session, [&](Transaction& tx) {
    MaterialiseResult result;
    std::vector<domain::TickRows> rows;
    std::vector<NextPortion> nexts;  // of each
    for (const auto& row : tx.Exec<"sched_due_portions">("limit"_a = limits.monitors_per_cut_max)) {
      const DuePortion portion = ReadPortion(row);
      const SchedRow& sched = portion.sched;
      const int total = portion.open_rows;
      const Pace pace = PaceOf(portion, limits);
      const bool spread = pace > Pace::zero();
      const int end = std::min(total, portion.first + PortionRows(limits, spread, total));
      const auto time_of = [pace](base::Timestamp start, int position) {
        return start + std::chrono::round<base::Timestamp::duration>(pace * position);
      };
      rows.push_back(RowsOf(portion, end, time_of(portion.due_at, portion.first),
                            ChunkRows(limits, sched.check_ms)));
      NextPortion& next = nexts.emplace_back();
      if (end == total) continue;
      next = {time_of(portion.started_at, end), end};
      result.more = result.more || !spread;
    }
    if (rows.empty()) return result;
    const auto plans = domain::PlanChunks(rows, limits.chunk_rows_max);
    result.chunks = static_cast<std::int64_t>(plans.size());
    const auto last_turns = InsertChunks(
                                tx, clock, plans, [](const auto&) { return std::nullopt; }, bounds)
                                .last_turns;
    Rows<Column<"monitor_id", base::Uuid>, Column<"portion_at", std::optional<base::Timestamp>>,
         Column<"portion_position", std::optional<int>>, Column<"portion_turn", base::Timestamp>>
        portions;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const base::Uuid& monitor_id = rows[i].part.monitor_id;
      portions.Add(monitor_id, nexts[i].at, nexts[i].position, last_turns.at(monitor_id));
    }
    tx.Exec<"sched_set_portions">(portions);
    return result;
  });
}

bool MaterialiseBounds::Bounded(const base::Clock& clock) const {
  return due.Next(clock.SinceBoot()) == ScheduleBounds::From::kBounds;
}

NextMaterialisation ReadNextMaterialisation(Session& session, MaterialiseBounds* bounds) {
  return Read(session, [&](Transaction& tx) {
    NextMaterialisation result;
    const base::Clock& clock = session.impl().clock;
    const auto began = clock.SinceBoot();
    const auto bound = ScheduleFrom(bounds, began);
    const DuePlace from = bound.value_or(DuePlace());
    const auto rows =
        tx.Exec<"sched_next_due">("from_at"_a = from.at, "from_org_id"_a = from.org_id,
                                  "from_monitor_id"_a = from.monitor_id);
    const auto ended = clock.SinceBoot();
    std::optional<base::Timestamp> first_at;
    std::optional<base::Uuid> org_id;
    std::optional<base::Uuid> monitor_id;
    Columns(rows.at(0))
        .Into("now"_a = &result.now, "next_due"_a = &result.next_due,
              "large_open"_a = &result.large_open, "next_run_at"_a = &first_at,
              "org_id"_a = &org_id, "monitor_id"_a = &monitor_id);
    if (!bounds) return result;
    ScheduleBounds::First first;
    // What is due later may be preceded by a monitor that is made now.
    if (first_at && *first_at <= result.now) first = DuePlace{*first_at, *org_id, *monitor_id};
    bounds->due.Scanned(bound ? ScheduleBounds::From::kBounds : bounds->due.Next(began), began,
                        ended,
                        {{Schedule::kDue, first, BeginningOf(result.now - kScanMargin),
                          BeginningOf(result.now - kScanMarginShort)}});
    return result;
  });
}

namespace {

// What the log says of a large tick that has ended.
struct TickEnd {
  domain::OutcomeCounts counts{};
  std::int64_t check_ms = 0;  // how long a check took on average; 0 = not known

  std::int64_t Count(domain::Outcome outcome) const {
    return counts[static_cast<std::size_t>(outcome)];
  }
};

TickEnd ReadTickEnd(Transaction& tx, const base::Uuid& monitor_id, std::int64_t tick_id, int rows) {
  TickEnd end;
  std::int64_t check_ms_sum = 0;
  std::int64_t timed = 0;  // blocks of which it is known how long their checks took
  for (const auto& row : tx.Exec<"check_log_of_tick">("monitor_id"_a = monitor_id,
                         "tick_id"_a = tick_id, "last_block"_a = rows / domain::kBlockRows)) {
    std::string outcomes;
    std::optional<int> check_ms;
    Columns(row).Into("outcomes"_a = BytesInto{&outcomes}, "check_ms"_a = &check_ms);
    domain::CountOutcomes(outcomes, &end.counts);
    if (check_ms.value_or(0) == 0) continue;
    check_ms_sum += *check_ms;
    ++timed;
  }
  if (timed > 0) end.check_ms = check_ms_sum / timed;
  return end;
}

}  // namespace

std::vector<HealthChange> ReadChanges(const pqxx::result& rows) {
  std::vector<HealthChange> changes;
  for (const auto& row : rows) {
    HealthChange& change = changes.emplace_back();
    Columns(row).Into("monitor_id"_a = &change.monitor_id, "org_id"_a = &change.org_id,
                      "fails"_a = &change.fails);
  }
  return changes;
}

ClosedTicks CloseLargeTicks(Session& session, int ticks_max) {
  return InTransaction(session, [&](Transaction& tx) {
    ClosedTicks closed;
    const auto closable = tx.Exec<"sched_closable">("limit"_a = ticks_max);
    for (const auto& row : closable) {
      base::Uuid monitor_id;
      std::int64_t tick_id = 0;
      int rows = 0;
      Columns(row).Into("monitor_id"_a = &monitor_id, "open_tick_id"_a = &tick_id,
                        "open_rows"_a = &rows);
      const TickEnd end = ReadTickEnd(tx, monitor_id, tick_id, rows);
      tx.Exec<"tick_close_large">(
          "monitor_id"_a = monitor_id, "tick_id"_a = tick_id,
          "counts"_a = std::vector<std::int64_t>(end.counts.begin(), end.counts.end()));
      const auto changes = ReadChanges(tx.Exec<"sched_close_large">(
          "monitor_id"_a = monitor_id, "tick_id"_a = tick_id, "check_ms"_a = end.check_ms,
          "completed"_a =
              end.Count(domain::Outcome::kChanged) + end.Count(domain::Outcome::kUnchanged) > 0,
          "failed"_a = end.Count(domain::Outcome::kFailed) > 0));
      closed.changes.insert(closed.changes.end(), changes.begin(), changes.end());
      ++closed.count;
    }
    return closed;
  });
}

}  // namespace vedette::store
