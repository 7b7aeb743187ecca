#include "domain/monitor/chunk_plan.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "domain/text/limits.h"

namespace vedette::domain {
namespace {

// The end of the chunk that begins at `first`: a multiple of whole blocks, or a divisor of one,
// counted from position 0, so that the same rows fall into the same chunks tick after tick.
int ChunkEnd(int first, int end, int chunk_rows_max) {
  int step = chunk_rows_max;
  if (step >= kBlockRows) {
    step -= step % kBlockRows;
  } else {
    while (kBlockRows % step != 0) --step;
  }
  return std::min(end, (first / step + 1) * step);
}

// A chunk that is full by the durations of its ticks' checks: chunk_rows rows of a monitor fill
// one.
constexpr std::int64_t kFullChunk = 1'000'000'000'000;

ChunkPlan EmptyPlan(const TickRows& tick) {
  ChunkPlan plan;
  plan.org_id = tick.org_id;
  plan.team_id = tick.team_id;
  plan.tier = tick.tier;
  plan.due_at = tick.due_at;
  return plan;
}

}  // namespace

int ChunkRowsFor(std::chrono::milliseconds check, std::chrono::milliseconds target, int rows_max) {
  if (check.count() <= 0) return rows_max;
  return static_cast<int>(std::clamp<std::int64_t>(target / check, 1, rows_max));
}

bool PaceMoved(int known_ms, int took_ms) {
  const int known = std::max(known_ms, kPaceFloorMs);
  const int took = std::max(took_ms, kPaceFloorMs);
  return took_ms > 0 && (took >= 2 * known || 2 * took <= known);
}

std::vector<ChunkPlan> PlanChunks(const std::vector<TickRows>& ticks, int rows_max) {
  std::vector<ChunkPlan> plans;
  // The chunk that still takes whole ticks, by what they must have in common: its index in plans,
  // and how much of it is full.
  struct Open {
    std::size_t index = 0;
    std::int64_t full = 0;
  };
  std::map<std::tuple<base::Uuid, std::optional<base::Uuid>, Tier>, Open> open;
  for (const TickRows& tick : ticks) {
    const int rows = tick.part.end - tick.part.first;
    if (rows <= 0) continue;
    const int chunk_rows = tick.chunk_rows > 0 ? std::min(tick.chunk_rows, rows_max) : rows_max;
    if (tick.large) {
      for (int first = tick.part.first; first < tick.part.end;) {
        const int end = ChunkEnd(first, tick.part.end, chunk_rows);
        ChunkPlan& plan = plans.emplace_back(EmptyPlan(tick));
        plan.large_monitor_id = tick.part.monitor_id;
        plan.parts.push_back({tick.part.monitor_id, tick.part.tick_id, first, end});
        plan.row_count = end - first;
        plan.last_turn = tick.last_turn;
        first = end;
      }
      continue;
    }
    const std::int64_t fills = rows * (kFullChunk / chunk_rows);
    const auto key = std::make_tuple(tick.org_id, tick.team_id, tick.tier);
    auto it = open.find(key);
    if (it == open.end() || plans[it->second.index].row_count + rows > rows_max ||
        it->second.full + fills > kFullChunk) {
      it = open.insert_or_assign(key, Open{plans.size(), 0}).first;
      plans.push_back(EmptyPlan(tick));
    }
    it->second.full += fills;
    ChunkPlan& plan = plans[it->second.index];
    plan.parts.push_back(tick.part);
    plan.row_count += rows;
    plan.due_at = std::min(plan.due_at, tick.due_at);
  }
  return plans;
}

}  // namespace vedette::domain
