#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "domain/names.h"

// How ticks become chunks (design 4). Pure.
namespace vedette::domain {

// Rows [first, end) of one monitor in one tick.
struct ChunkPart {
  base::Uuid monitor_id;
  std::int64_t tick_id = 0;
  int first = 0;
  int end = 0;
};

// Rows of one tick to be cut now.
struct TickRows {
  base::Uuid org_id;
  std::optional<base::Uuid> team_id;
  Tier tier = Tier::kLow;
  ChunkPart part;
  base::Timestamp due_at;
  // The tick has further rows, in other chunks, now or later.
  bool large = false;
};

struct ChunkPlan {
  base::Uuid org_id;
  std::optional<base::Uuid> team_id;
  Tier tier = Tier::kLow;
  // Set when its rows are part of a large tick: then there is one part.
  std::optional<base::Uuid> large_monitor_id;
  std::vector<ChunkPart> parts;
  base::Timestamp due_at;  // the earliest of its ticks
  int row_count = 0;
};

// A tick of up to `chunk_rows_max` rows goes whole into one chunk, together with others of the same
// organisation, team and tier that fit, in the order given. A large tick's rows are cut so that a
// chunk is whole blocks (kBlockRows) or a part of one. Requires 1 <= chunk_rows_max.
std::vector<ChunkPlan> PlanChunks(const std::vector<TickRows>& ticks, int chunk_rows_max);

}  // namespace vedette::domain
