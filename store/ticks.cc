#include "store/ticks.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "domain/limits.h"
#include "domain/next_run_times.h"
#include "domain/outcome.h"
#include "domain/turns.h"
#include "store/ticks_sql.h"

namespace vedette::store {
namespace {

// The columns of `tick` that opening and closing at once have in common.
struct TickColumns {
  std::vector<base::Uuid> monitor_ids;
  std::vector<std::int64_t> tick_ids;
  std::vector<base::Uuid> org_ids;
  std::vector<domain::TickTrigger> triggers;
  std::vector<base::Timestamp> due_at;
  std::vector<base::Timestamp> next_run_at;
  std::vector<std::int64_t> slots;
  std::vector<int> row_counts;

  void Add(const NewTick& tick) {
    monitor_ids.push_back(tick.sched.monitor_id);
    tick_ids.push_back(tick.tick_id);
    org_ids.push_back(tick.sched.org_id);
    triggers.push_back(tick.trigger);
    due_at.push_back(tick.due_at);
    next_run_at.push_back(tick.next_run_at);
    slots.push_back(tick.slots);
    row_counts.push_back(tick.sched.row_count);
  }
};

// Ticks that are closed at once, all rows with one outcome.
void PassTicks(Transaction& tx, const std::vector<NewTick>& ticks, domain::Outcome outcome) {
  if (ticks.empty()) return;
  TickColumns c;
  std::vector<std::optional<std::string>> outcomes;
  for (const NewTick& tick : ticks) {
    c.Add(tick);
    if (tick.sched.row_count <= domain::kBlockRows) {
      outcomes.emplace_back(Bytea(
          std::string(static_cast<std::size_t>(tick.sched.row_count), static_cast<char>(outcome))));
    } else {
      outcomes.emplace_back(std::nullopt);
    }
  }
  tx.Exec("tick_insert_closed", c.monitor_ids, c.tick_ids, c.org_ids, c.triggers, c.due_at, c.slots,
          c.row_counts, outcomes, outcome);
  tx.Exec("sched_pass_ticks", c.monitor_ids, c.tick_ids, c.next_run_at);
}

// Whether a tick is spread over a share of its period: scheduled ones of big monitors, but the
// first.
bool IsSpread(const CutLimits& limits, domain::TickTrigger trigger, base::Timestamp due_at,
              base::Timestamp anchor_at, int rows) {
  return trigger == domain::TickTrigger::kSchedule && due_at != anchor_at &&
         rows >= limits.spread_rows_min && rows > limits.chunk_rows_max && limits.spread > 0;
}

// A spread tick is cut into about a hundred portions; any in whole blocks.
int PortionRows(const CutLimits& limits, bool spread, int rows) {
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
int ChunkRows(const CutLimits& limits, int check_ms) {
  return domain::ChunkRowsFor(std::chrono::milliseconds(check_ms), limits.chunk_duration_target,
                              limits.chunk_rows_max);
}

// The chunks' turns, in their order. A flow is a large tick, or the small ones of an organisation.
std::vector<base::Timestamp> GiveTurns(Transaction& tx,
                                       const std::vector<domain::ChunkPlan>& plans) {
  std::set<base::Uuid> orgs;
  for (const domain::ChunkPlan& plan : plans) orgs.insert(plan.org_id);
  std::map<base::Uuid, base::Timestamp> first_turns;
  base::Timestamp now{};
  for (const auto& row :
       tx.Exec("chunk_turns", std::vector<base::Uuid>(orgs.begin(), orgs.end()))) {
    now = ReadTime(row[2]);
    first_turns.emplace(ReadUuid(row[0]), domain::FirstTurn(ReadTimeOrNull(row[1]), now));
  }
  std::map<std::pair<base::Uuid, std::optional<base::Uuid>>, base::Timestamp> last;
  std::vector<base::Timestamp> turns;
  turns.reserve(plans.size());
  for (const domain::ChunkPlan& plan : plans) {
    const base::Timestamp first = first_turns.at(plan.org_id);
    const auto [it, begins] = last.try_emplace({plan.org_id, plan.large_monitor_id}, first);
    if (!begins) {
      it->second = domain::NextTurn(it->second, now);
    } else if (plan.last_turn) {
      it->second = std::max(first, domain::NextTurn(*plan.last_turn, now));
    }
    turns.push_back(it->second);
  }
  return turns;
}

}  // namespace

CutLimits CutLimitsOf(const config::Config& config) {
  return {config.scheduler.monitors_per_cut_max,
          config.scheduler.rows_per_cut_max,
          config.worker.chunk_rows_max,
          config.scheduler.spread_rows_min,
          config.scheduler.spread,
          config.worker.chunk_duration_target_ms};
}

SchedRow ReadSched(const pqxx::row& row) {
  SchedRow s;
  s.monitor_id = ReadUuid(row[0]);
  s.org_id = ReadUuid(row[1]);
  s.team_id = ReadUuidOrNull(row[2]);
  s.tier = static_cast<domain::Tier>(row[3].as<int>());
  s.frequency_s = row[4].as<std::int64_t>();
  s.anchor_at = ReadTime(row[5]);
  s.next_run_at = ReadTime(row[6]);
  s.row_count = row[7].as<int>();
  s.last_tick_id = row[8].as<std::int64_t>();
  if (!row[9].is_null()) s.open_tick_id = row[9].as<std::int64_t>();
  return s;
}

std::int64_t NextTickId(const SchedRow& sched, base::Timestamp now) {
  return std::max<std::int64_t>(sched.last_tick_id + 1, now.time_since_epoch().count());
}

std::map<base::Uuid, base::Timestamp> InsertChunks(Transaction& tx, const base::Clock& clock,
                                                   const std::vector<domain::ChunkPlan>& plans) {
  if (plans.empty()) return {};
  const std::vector<base::Timestamp> turns = GiveTurns(tx, plans);
  std::map<base::Uuid, base::Timestamp> last_turns;
  std::vector<base::Uuid> ids;
  std::vector<base::Uuid> org_ids;
  std::vector<std::optional<base::Uuid>> team_ids;
  std::vector<domain::Tier> tiers;
  std::vector<std::optional<base::Uuid>> large_ids;
  std::vector<base::Timestamp> due_at;
  std::vector<std::string> monitor_ids;
  std::vector<std::string> tick_ids;
  std::vector<std::string> firsts;
  std::vector<std::string> ends;
  std::vector<int> row_counts;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const domain::ChunkPlan& plan = plans[i];
    if (plan.large_monitor_id) last_turns[*plan.large_monitor_id] = turns[i];
    ids.push_back(base::Uuid::V7(clock));
    org_ids.push_back(plan.org_id);
    team_ids.push_back(plan.team_id);
    tiers.push_back(plan.tier);
    large_ids.push_back(plan.large_monitor_id);
    due_at.push_back(plan.due_at);
    row_counts.push_back(plan.row_count);
    std::vector<base::Uuid> part_monitors;
    std::vector<std::int64_t> part_ticks;
    std::vector<int> part_firsts;
    std::vector<int> part_ends;
    for (const domain::ChunkPart& part : plan.parts) {
      part_monitors.push_back(part.monitor_id);
      part_ticks.push_back(part.tick_id);
      part_firsts.push_back(part.first);
      part_ends.push_back(part.end);
    }
    monitor_ids.push_back(*Param(part_monitors).text());
    tick_ids.push_back(*Param(part_ticks).text());
    firsts.push_back(*Param(part_firsts).text());
    ends.push_back(*Param(part_ends).text());
  }
  tx.Exec("chunk_insert", ids, org_ids, team_ids, tiers, large_ids, due_at, monitor_ids, tick_ids,
          firsts, ends, row_counts, turns);
  return last_turns;
}

std::int64_t OpenTicks(Transaction& tx, const base::Clock& clock, const std::vector<NewTick>& ticks,
                       const CutLimits& limits) {
  std::vector<NewTick> passed;
  std::vector<domain::TickRows> rows;
  TickColumns opened;
  TickColumns large;
  std::vector<bool> is_large;
  std::vector<std::optional<int>> portion_positions;
  for (const NewTick& tick : ticks) {
    if (tick.sched.open_tick_id || tick.sched.row_count == 0) {
      passed.push_back(tick);
      continue;
    }
    opened.Add(tick);
    const int chunk_rows = ChunkRows(limits, tick.sched.check_ms);
    is_large.push_back(tick.sched.row_count > chunk_rows);
    if (is_large.back()) large.Add(tick);
    // A large tick is cut by CutPortions, from position 0 on, so that there is one way to do it;
    // one that fits into a single portion need not wait for that.
    const bool at_once = !tick.spread && tick.sched.row_count <= limits.rows_per_cut_max;
    portion_positions.push_back(at_once ? std::nullopt : std::optional<int>(0));
    if (!at_once) continue;
    domain::TickRows r;
    r.org_id = tick.sched.org_id;
    r.team_id = tick.sched.team_id;
    r.tier = tick.sched.tier;
    r.part = {tick.sched.monitor_id, tick.tick_id, 0, tick.sched.row_count};
    r.due_at = tick.due_at;
    r.large = is_large.back();
    r.chunk_rows = chunk_rows;
    rows.push_back(r);
  }
  // The last tick is still open, or there are no rows.
  PassTicks(tx, passed, domain::Outcome::kSkippedOverlap);
  if (opened.monitor_ids.empty()) return 0;
  tx.Exec("sched_open_ticks", opened.monitor_ids, opened.tick_ids, opened.next_run_at,
          opened.due_at, opened.slots, opened.triggers, is_large, portion_positions);
  if (!large.monitor_ids.empty()) {
    tx.Exec("tick_insert_open", large.monitor_ids, large.tick_ids, large.org_ids, large.triggers,
            large.due_at, large.slots, large.row_counts);
  }
  const auto plans = domain::PlanChunks(rows, limits.chunk_rows_max);
  InsertChunks(tx, clock, plans);
  return static_cast<std::int64_t>(plans.size());
}

NewTick DueTick(SchedRow sched, base::Timestamp now) {
  const std::chrono::seconds frequency(sched.frequency_s);
  const domain::DueSlots slots = domain::CollapseDueSlots(sched.next_run_at, frequency, now);
  NewTick tick;
  tick.tick_id = NextTickId(sched, now);
  tick.due_at = slots.due_at;
  // By the anchor, not by the slot: that may have come due under another frequency.
  tick.next_run_at = domain::FirstSlotAfter(sched.anchor_at, frequency, now);
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

CutResult CutDueTicks(Session& session, const base::Clock& clock, const CutLimits& limits) {
  return InTransaction(session, [&](Transaction& tx) {
    CutResult result;
    const auto due = tx.Exec("sched_due", limits.monitors_per_cut_max);
    if (due.empty()) return result;
    result.now = ReadTime(due[0][10]);
    result.more = static_cast<int>(due.size()) == limits.monitors_per_cut_max;
    std::vector<NewTick> ticks;
    for (const auto& row : due) {
      SchedRow sched = ReadSched(row);
      sched.check_ms = row[11].as<int>();
      NewTick tick = DueTick(std::move(sched), result.now);
      tick.spread =
          IsSpread(limits, tick.trigger, tick.due_at, tick.sched.anchor_at, tick.sched.row_count);
      if (tick.sched.open_tick_id) ++result.overlap_ticks;
      ticks.push_back(std::move(tick));
    }
    result.scheduled_ticks = static_cast<std::int64_t>(ticks.size());
    result.chunks = OpenTicks(tx, clock, ticks, limits);
    return result;
  });
}

CutResult CutPortions(Session& session, const base::Clock& clock, const CutLimits& limits) {
  return InTransaction(session, [&](Transaction& tx) {
    CutResult result;
    const auto due = tx.Exec("sched_due_portions", limits.monitors_per_cut_max);
    std::vector<base::Uuid> monitor_ids;
    std::vector<std::optional<base::Timestamp>> portion_at;
    std::vector<std::optional<int>> portion_positions;
    std::vector<domain::TickRows> rows;
    for (const auto& row : due) {
      const base::Timestamp due_at = ReadTime(row[7]);
      const base::Timestamp started_at = ReadTime(row[8]);
      const int open_rows = row[9].as<int>();
      const bool spread = IsSpread(limits, static_cast<domain::TickTrigger>(row[10].as<int>()),
                                   due_at, ReadTime(row[5]), open_rows);
      const int first = row[11].as<int>();
      const int end = std::min(open_rows, first + PortionRows(limits, spread, open_rows));
      domain::TickRows r;
      r.org_id = ReadUuid(row[1]);
      r.team_id = ReadUuidOrNull(row[2]);
      r.tier = static_cast<domain::Tier>(row[3].as<int>());
      r.part = {ReadUuid(row[0]), row[6].as<std::int64_t>(), first, end};
      r.due_at =
          PortionTime(due_at, spread, limits.spread, row[4].as<std::int64_t>(), first, open_rows);
      r.large = true;
      r.last_turn = ReadTimeOrNull(row[13]);
      r.chunk_rows = ChunkRows(limits, row[14].as<int>());
      rows.push_back(r);
      monitor_ids.push_back(r.part.monitor_id);
      if (end == open_rows) {
        portion_at.emplace_back(std::nullopt);
        portion_positions.emplace_back(std::nullopt);
      } else {
        portion_at.emplace_back(PortionTime(started_at, spread, limits.spread,
                                            row[4].as<std::int64_t>(), end, open_rows));
        portion_positions.emplace_back(end);
        result.more = result.more || !spread;
      }
    }
    if (rows.empty()) return result;
    const auto plans = domain::PlanChunks(rows, limits.chunk_rows_max);
    result.chunks = static_cast<std::int64_t>(plans.size());
    const auto last_turns = InsertChunks(tx, clock, plans);
    std::vector<std::optional<base::Timestamp>> turns;
    turns.reserve(monitor_ids.size());
    for (const base::Uuid& id : monitor_ids) turns.emplace_back(last_turns.at(id));
    tx.Exec("sched_set_portions", monitor_ids, portion_at, portion_positions, turns);
    return result;
  });
}

CutResult NextCut(Session& session) {
  return InTransaction(session, [](Transaction& tx) {
    CutResult result;
    const auto row = tx.Exec("sched_next_due")[0];
    result.now = ReadTime(row[0]);
    result.next_due = ReadTimeOrNull(row[1]);
    return result;
  });
}

int CloseLargeTicks(Session& session, int ticks_max) {
  return InTransaction(session, [&](Transaction& tx) {
    const auto closable = tx.Exec("sched_closable", ticks_max);
    for (const auto& row : closable) {
      const base::Uuid monitor_id = ReadUuid(row[0]);
      const auto tick_id = row[1].as<std::int64_t>();
      const int rows = row[2].as<int>();
      domain::OutcomeCounts counts{};
      std::int64_t check_ms_sum = 0;
      std::int64_t timed = 0;  // blocks of which it is known how long their checks took
      for (const auto& log :
           tx.Exec("check_log_of_tick", monitor_id, tick_id, rows / domain::kBlockRows)) {
        domain::CountOutcomes(ReadBytea(log[0]), &counts);
        if (log[1].is_null() || log[1].as<int>() == 0) continue;
        check_ms_sum += log[1].as<std::int64_t>();
        ++timed;
      }
      tx.Exec("tick_close_large", monitor_id, tick_id,
              std::vector<std::int64_t>(counts.begin(), counts.end()));
      tx.Exec("sched_close_large", monitor_id, tick_id, timed == 0 ? 0 : check_ms_sum / timed);
    }
    return static_cast<int>(closable.size());
  });
}

}  // namespace vedette::store
