#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "domain/names.h"

// How ticks become chunks. Pure.
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
  // Rows of its monitor that a chunk has at most; 0 = as many as any chunk. See ChunkRowsFor.
  int chunk_rows = 0;
  // The turn of the tick's chunk before these, if there was one. See turns.h.
  std::optional<base::Timestamp> last_turn;
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
  std::optional<base::Timestamp> last_turn;  // of a large tick's, as in TickRows
};

// Rows of a chunk whose checks take `check` each: as many as would take `target` one after the
// other, so that slow checks (minutes) spread over the fleet, but at least 1 and at most
// `rows_max`.
int ChunkRowsFor(std::chrono::milliseconds check, std::chrono::milliseconds target, int rows_max);

// A tick of up to its chunk_rows goes whole into one chunk, together with others of the same
// organisation, team and tier that fit, in the order given: what fits is as many rows as
// `rows_max`, and as much work as one tick's chunk_rows are. A large tick's rows are cut so that a
// chunk is whole blocks (kBlockRows) or a part of one. Requires rows_max of at least 1.
std::vector<ChunkPlan> PlanChunks(const std::vector<TickRows>& ticks, int rows_max);

}  // namespace vedette::domain
