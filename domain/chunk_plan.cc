#include "domain/chunk_plan.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "domain/limits.h"

namespace vedette::domain {
namespace {

// Where the chunk that begins at `first` ends: at a multiple of whole blocks, or at a divisor of
// one, counted from position 0, so that the same rows fall into the same chunks tick after tick.
int ChunkEnd(int first, int end, int chunk_rows_max) {
  int step = chunk_rows_max;
  if (step >= kBlockRows) {
    step -= step % kBlockRows;
  } else {
    while (kBlockRows % step != 0) --step;
  }
  return std::min(end, (first / step + 1) * step);
}

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

std::vector<ChunkPlan> PlanChunks(const std::vector<TickRows>& ticks, const ChunkSizes& sizes) {
  std::vector<ChunkPlan> plans;
  // The chunk that still takes whole ticks, by what they must have in common: an index into plans.
  std::map<std::tuple<base::Uuid, std::optional<base::Uuid>, Tier>, std::size_t> open;
  for (const TickRows& tick : ticks) {
    const int rows = tick.part.end - tick.part.first;
    if (rows <= 0) continue;
    const int chunk_rows_max = sizes[tick.tier];
    if (tick.large) {
      for (int first = tick.part.first; first < tick.part.end;) {
        const int end = ChunkEnd(first, tick.part.end, chunk_rows_max);
        ChunkPlan& plan = plans.emplace_back(EmptyPlan(tick));
        plan.large_monitor_id = tick.part.monitor_id;
        plan.parts.push_back({tick.part.monitor_id, tick.part.tick_id, first, end});
        plan.row_count = end - first;
        first = end;
      }
      continue;
    }
    const auto key = std::make_tuple(tick.org_id, tick.team_id, tick.tier);
    const auto it = open.find(key);
    std::size_t index;
    if (it != open.end() && plans[it->second].row_count + rows <= chunk_rows_max) {
      index = it->second;
    } else {
      index = plans.size();
      plans.push_back(EmptyPlan(tick));
      open.insert_or_assign(key, index);
    }
    ChunkPlan& plan = plans[index];
    plan.parts.push_back(tick.part);
    plan.row_count += rows;
    plan.due_at = std::min(plan.due_at, tick.due_at);
  }
  return plans;
}

}  // namespace vedette::domain
