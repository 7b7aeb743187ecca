#include "store/checks/ticks.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
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
void PassTicks(Transaction& tx, const std::vector<NewTick>& ticks, domain::Outcome outcome) {
  if (ticks.empty()) return;
  // Monitor, tick, organisation, trigger, due, slots, rows, outcomes (empty where there are many).
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
  tx.ExecLater<"tick_insert_closed">(closed, "outcome"_a = outcome);
  tx.ExecLater<"sched_pass_ticks">(passed);
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

// When the portion that starts at `position` is due: at once, or in its place of the spread.
base::Timestamp PortionTime(base::Timestamp started_at, bool spread, double share,
                            std::int64_t frequency_s, int position, int rows) {
  if (!spread) return started_at;
  const double seconds = share * static_cast<double>(frequency_s) * position / rows;
  return started_at + std::chrono::microseconds(static_cast<std::int64_t>(seconds * 1e6));
}

// Rows of a chunk of a monitor whose checks take `check_ms`.
int ChunkRows(const MaterialiseLimits& limits, int check_ms) {
  return domain::ChunkRowsFor(std::chrono::milliseconds(check_ms), limits.chunk_duration_target,
                              limits.chunk_rows_max);
}

// The turns of the first chunks of flows of each organisation.
std::map<base::Uuid, base::Timestamp> FirstTurns(Transaction& tx, const base::Clock& clock,
                                                 const std::vector<domain::ChunkPlan>& plans,
                                                 MaterialiseBounds* bounds, base::Timestamp* now) {
  using Bounds = ScanBounds<base::Uuid>;
  std::set<base::Uuid> orgs;
  for (const domain::ChunkPlan& plan : plans) orgs.insert(plan.org_id);
  const auto began = clock.SinceBoot();
  const auto from = bounds ? bounds->turns.Next(began) : Bounds::From::kBeginning;
  const bool bounded = from == Bounds::From::kBounds;
  Rows<Column<"org_ids", base::Uuid>, Column<"from_at", Bounds::First>> asked;
  for (const base::Uuid& id : orgs) {
    asked.Add(id, bounded ? bounds->turns.Of(id, began) : std::nullopt);
  }
  // Behind bounds those that a lease has ended of are left out: they stand behind all turns.
  const auto rows = tx.Exec<"chunk_turns">(asked, "apart_s"_a = bounded ? kPlacesApart.count() : 0);
  const auto ended = clock.SinceBoot();
  std::map<base::Uuid, base::Timestamp> first_turns;
  std::vector<Bounds::Seen> seen;
  for (const auto& row : rows) {
    base::Uuid org_id;
    std::optional<base::Timestamp> first_turn;
    Columns(row).Into("id"_a = &org_id, "available_at"_a = &first_turn, "now"_a = now);
    first_turns.emplace(org_id, domain::FirstStart(first_turn, *now));
    const auto from_turn = first_turn ? Bounds::First(domain::StartFloor(*first_turn)) : first_turn;
    seen.push_back({org_id, from_turn, *now - domain::kStartsBack - kScanMargin});
  }
  if (bounds) bounds->turns.Scanned(from, began, ended, seen);
  return first_turns;
}

// The chunks' turns, in their order. A flow is a large tick, or the small ones of an organisation.
std::vector<base::Timestamp> GiveTurns(Transaction& tx, const base::Clock& clock,
                                       const std::vector<domain::ChunkPlan>& plans,
                                       MaterialiseBounds* bounds) {
  base::Timestamp now{};
  const auto first_turns = FirstTurns(tx, clock, plans, bounds, &now);
  std::map<std::pair<base::Uuid, std::optional<base::Uuid>>, base::Timestamp> last;
  std::vector<base::Timestamp> turns;
  turns.reserve(plans.size());
  for (const domain::ChunkPlan& plan : plans) {
    const base::Timestamp first = first_turns.at(plan.org_id);
    const auto [it, begins] = last.try_emplace({plan.org_id, plan.large_monitor_id}, first);
    if (!begins) {
      it->second = domain::NextStart(it->second, now);
    } else if (plan.last_turn) {
      it->second = std::max(first, domain::NextStart(*plan.last_turn, now));
    }
    turns.push_back(it->second);
  }
  return turns;
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
          "check_ms"_a = &s.check_ms, "schedule"_a = &s.schedule_json, "now"_a = now);
  return s;
}

std::int64_t NextTickId(const SchedRow& sched, base::Timestamp now) {
  return std::max<std::int64_t>(sched.last_tick_id + 1, now.time_since_epoch().count());
}

std::map<base::Uuid, base::Timestamp> InsertChunks(Transaction& tx, const base::Clock& clock,
                                                   const std::vector<domain::ChunkPlan>& plans,
                                                   MaterialiseBounds* bounds) {
  if (plans.empty()) return {};
  const std::vector<base::Timestamp> turns = GiveTurns(tx, clock, plans, bounds);
  std::map<base::Uuid, base::Timestamp> last_turns;
  // Id, organisation, team, tier, large tick's monitor, due, rows, turn; its first and last part
  // among those of all, from 1.
  Rows<Column<"id", base::Uuid>, Column<"org_id", base::Uuid>,
       Column<"team_id", std::optional<base::Uuid>>, Column<"tier", domain::Tier>,
       Column<"monitor_id", std::optional<base::Uuid>>, Column<"due_at", base::Timestamp>,
       Column<"row_count", int>, Column<"turn", base::Timestamp>, Column<"part_from", std::size_t>,
       Column<"part_until", std::size_t>>
      chunks;
  std::vector<base::Uuid> monitors;
  std::vector<std::int64_t> ticks;
  std::vector<int> firsts;
  std::vector<int> ends;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const domain::ChunkPlan& plan = plans[i];
    if (plan.large_monitor_id) last_turns[*plan.large_monitor_id] = turns[i];
    for (const domain::ChunkPart& part : plan.parts) {
      monitors.push_back(part.monitor_id);
      ticks.push_back(part.tick_id);
      firsts.push_back(part.first);
      ends.push_back(part.end);
    }
    chunks.Add(base::Uuid::V7(clock), plan.org_id, plan.team_id, plan.tier, plan.large_monitor_id,
               plan.due_at, plan.row_count, turns[i], monitors.size() - plan.parts.size() + 1,
               monitors.size());
  }
  tx.ExecLater<"chunk_insert">(chunks, "monitor_ids"_a = monitors, "tick_ids"_a = ticks,
                               "firsts"_a = firsts, "ends"_a = ends);
  return last_turns;
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

}  // namespace

std::int64_t OpenTicks(Transaction& tx, const base::Clock& clock, const std::vector<NewTick>& ticks,
                       const MaterialiseLimits& limits, MaterialiseBounds* bounds) {
  std::vector<NewTick> passed;
  std::vector<domain::TickRows> rows;
  // Monitor, tick, next run, due, slots, trigger, large, next position.
  Rows<Column<"monitor_id", base::Uuid>, Column<"tick_id", std::int64_t>,
       Column<"next_run_at", std::int64_t>, Column<"due_at", std::int64_t>,
       Column<"slots", std::int64_t>, Column<"trigger", domain::TickTrigger>, Column<"large", bool>,
       Column<"portion_position", std::optional<int>>>
      opened;
  // Monitor, tick, organisation, trigger, due, slots, rows.
  Rows<Column<"monitor_id", base::Uuid>, Column<"tick_id", std::int64_t>,
       Column<"org_id", base::Uuid>, Column<"trigger", domain::TickTrigger>,
       Column<"due_at", base::Timestamp>, Column<"slots", std::int64_t>, Column<"row_count", int>>
      large;
  for (const NewTick& tick : ticks) {
    const SchedRow& sched = tick.sched;
    if (sched.open_tick_id || sched.row_count == 0) {
      passed.push_back(tick);
      continue;
    }
    const domain::TickRows whole = RowsOf(tick, ChunkRows(limits, sched.check_ms));
    // A large tick is cut by MaterialisePortions, from position 0 on, so that there is one way to
    // do it; one that fits into a single portion need not wait for that.
    const bool at_once = !tick.spread && sched.row_count <= limits.rows_per_cut_max;
    opened.Add(sched.monitor_id, tick.tick_id, Micros(tick.next_run_at), Micros(tick.due_at),
               tick.slots, tick.trigger, whole.large,
               at_once ? std::nullopt : std::optional<int>(0));
    if (whole.large) {
      large.Add(sched.monitor_id, tick.tick_id, sched.org_id, tick.trigger, tick.due_at, tick.slots,
                sched.row_count);
    }
    if (at_once) rows.push_back(whole);
  }
  // The last tick is still open, or there are no rows.
  PassTicks(tx, passed, domain::Outcome::kSkippedOverlap);
  if (opened.empty()) return 0;
  tx.ExecLater<"sched_open_ticks">(opened);
  if (!large.empty()) tx.ExecLater<"tick_insert_open">(large);
  const auto plans = domain::PlanChunks(rows, limits.chunk_rows_max);
  InsertChunks(tx, clock, plans, bounds);
  return static_cast<std::int64_t>(plans.size());
}

std::int64_t OpenManualTick(Transaction& tx, const base::Clock& clock, const NewTick& tick,
                            std::optional<base::Timestamp> first_turn,
                            const MaterialiseLimits& limits) {
  const int rows = tick.sched.row_count;
  const int rows_max = std::min(ChunkRows(limits, tick.sched.check_ms), limits.rows_per_cut_max);
  if (rows == 0 || rows > rows_max) return OpenTicks(tx, clock, {tick}, limits);
  tx.ExecLater<"tick_open_small">("monitor_id"_a = tick.sched.monitor_id,
                                  "tick_id"_a = tick.tick_id, "trigger"_a = tick.trigger,
                                  "id"_a = base::Uuid::V7(clock),
                                  "available_at"_a = domain::FirstStart(first_turn, tick.due_at));
  return 1;
}

NewTick DueTick(SchedRow sched, base::Timestamp now) {
  const domain::DueSlots slots = sched.timetable().CollapseDue(sched.next_run_at, now);
  NewTick tick;
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
  for (SchedRow& sched : due) ticks.push_back(DueTick(std::move(sched), now));
  PassTicks(tx, ticks, outcome);
}

namespace {

using Schedule = MaterialiseBounds::Schedule;
using ScheduleBounds = ScanBounds<Schedule>;

// The place at which a scan of the schedule begins; empty: the beginning.
ScheduleBounds::First ScheduleFrom(const MaterialiseBounds* bounds, std::chrono::nanoseconds now) {
  if (!bounds || bounds->due.Next(now) == ScheduleBounds::From::kBeginning) return std::nullopt;
  return bounds->due.Of(Schedule::kDue, now);
}

}  // namespace

MaterialiseResult MaterialiseDueTicks(Session& session, const base::Clock& clock,
                                      const MaterialiseLimits& limits, MaterialiseBounds* bounds) {
  const auto body = [&](Transaction& tx) {
    MaterialiseResult result;
    const auto began = clock.SinceBoot();
    const auto from_at = ScheduleFrom(bounds, began);
    const auto due =
        tx.Exec<"sched_due">("from_at"_a = from_at, "limit"_a = limits.monitors_per_cut_max);
    if (due.empty()) return result;
    result.more = static_cast<int>(due.size()) == limits.monitors_per_cut_max;
    std::vector<NewTick> ticks;
    for (const auto& row : due) {
      Columns in(row);
      SchedRow sched = ReadSched(in, &result.now);
      NewTick tick = DueTick(std::move(sched), result.now);
      tick.spread = IsSpread(limits, tick.trigger, tick.due_at, tick.sched, tick.sched.row_count);
      if (tick.sched.open_tick_id) ++result.overlap_ticks;
      ticks.push_back(std::move(tick));
    }
    if (from_at) {
      bounds->due.Scanned(
          ScheduleBounds::From::kBounds, began, began,
          {{Schedule::kDue, ticks.front().sched.next_run_at, result.now - kScanMargin}});
    }
    result.scheduled_ticks = static_cast<std::int64_t>(ticks.size());
    result.chunks = OpenTicks(tx, clock, ticks, limits, bounds);
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
                    "portion_position"_a = &p.first, "portion_turn"_a = &p.last_turn,
                    "check_ms"_a = &s.check_ms);
  return p;
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
      const bool spread = IsSpread(limits, portion.trigger, portion.due_at, sched, total);
      const int end = std::min(total, portion.first + PortionRows(limits, spread, total));
      const auto time_of = [&](base::Timestamp start, int position) {
        return PortionTime(start, spread, limits.spread, sched.frequency_s, position, total);
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
    const auto last_turns = InsertChunks(tx, clock, plans, bounds);
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

MaterialiseResult NextMaterialisation(Session& session, MaterialiseBounds* bounds) {
  return Read(session, [&](Transaction& tx) {
    MaterialiseResult result;
    const base::Clock& clock = session.impl().clock;
    const auto began = clock.SinceBoot();
    const auto from_at = ScheduleFrom(bounds, began);
    const auto rows = tx.Exec<"sched_next_due">("from_at"_a = from_at);
    const auto ended = clock.SinceBoot();
    ScheduleBounds::First first;
    Columns(rows.at(0))
        .Into("now"_a = &result.now, "next_due"_a = &result.next_due, "first_at"_a = &first);
    if (!bounds) return result;
    // What is due later may be preceded by a monitor that is made now.
    if (first && *first > result.now) first.reset();
    bounds->due.Scanned(from_at ? ScheduleBounds::From::kBounds : bounds->due.Next(began), began,
                        ended, {{Schedule::kDue, first, result.now - kScanMargin}});
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

std::vector<HealthTurn> ReadTurns(const pqxx::result& rows) {
  std::vector<HealthTurn> turns;
  for (const auto& row : rows) {
    HealthTurn& turn = turns.emplace_back();
    Columns(row).Into("monitor_id"_a = &turn.monitor_id, "org_id"_a = &turn.org_id,
                      "fails"_a = &turn.fails);
  }
  return turns;
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
      const auto turns = ReadTurns(tx.Exec<"sched_close_large">(
          "monitor_id"_a = monitor_id, "tick_id"_a = tick_id, "check_ms"_a = end.check_ms,
          "completed"_a =
              end.Count(domain::Outcome::kChanged) + end.Count(domain::Outcome::kUnchanged) > 0,
          "failed"_a = end.Count(domain::Outcome::kFailed) > 0));
      closed.turns.insert(closed.turns.end(), turns.begin(), turns.end());
      ++closed.count;
    }
    return closed;
  });
}

}  // namespace vedette::store
