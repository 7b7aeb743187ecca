#pragma once

#include <array>
#include <chrono>
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

// How many rows a chunk has at most, by tier.
class ChunkSizes {
 public:
  explicit(false) ChunkSizes(int rows) { rows_.fill(rows); }  // the same for every tier
  int operator[](Tier tier) const { return rows_[static_cast<std::size_t>(tier)]; }
  void Set(Tier tier, int rows) { rows_[static_cast<std::size_t>(tier)] = rows; }

 private:
  std::array<int, kTierCount> rows_{};
};

// Rows of a chunk whose checks take `check` each: as many as would take `target` one after the
// other, so that slow checks (minutes) spread over the fleet, but at least 1 and at most
// `rows_max`.
int ChunkRowsFor(std::chrono::milliseconds check, std::chrono::milliseconds target, int rows_max);

// A tick of up to its tier's chunk size goes whole into one chunk, together with others of the same
// organisation, team and tier that fit, in the order given. A large tick's rows are cut so that a
// chunk is whole blocks (kBlockRows) or a part of one. Requires sizes of at least 1.
std::vector<ChunkPlan> PlanChunks(const std::vector<TickRows>& ticks, const ChunkSizes& sizes);

}  // namespace vedette::domain
