#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "domain/monitor/enums.h"

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
  // The turn of the tick's chunk before these, if there was one: its virtual start.
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

// Whether checks that took `took_ms` are worth a note beside `known_ms`, by which the chunks of
// their monitor are cut (0 = not known, or none was made): twice as long, or half as long. Shorter
// ones than kPaceFloorMs fill no chunk by their durations.
inline constexpr int kPaceFloorMs = 8;
bool PaceMoved(int known_ms, int took_ms);

// A tick of up to its chunk_rows goes whole into one chunk, together with others of the same
// organisation, team and tier that fit, in the order given: what fits is as many rows as
// `rows_max`, and as much work as one tick's chunk_rows are. A large tick's rows are cut so that a
// chunk is whole blocks (kBlockRows) or a part of one. Requires rows_max of at least 1.
std::vector<ChunkPlan> PlanChunks(const std::vector<TickRows>& ticks, int rows_max);

// Fair turns among the chunks of one organisation: start-time fair queueing, written into the one
// column by which chunks are claimed. A chunk is due when its `available_at` has come, and due
// chunks are claimed in its order; so any time in the past is a place in the queue. Each flow (a
// large tick, or the small ticks of one cut) begins at the place that the organisation's queue has
// reached, and each further chunk of it stands one step later. So a new tick is ahead of the rest
// of a large one, and two large ones alternate. Pure.

// A chunk is made for about 10 s of work of one slot, whatever its checks take: one step for each.
inline constexpr std::chrono::seconds kStartStep{1};
// The place at which the queue of an organisation that has nothing waiting begins: 2.6 million
// steps back.
inline constexpr std::chrono::hours kStartsBack{30 * 24};
// Nothing starves: a chunk that has waited this much longer than its steps goes before all later
// ones.
inline constexpr std::chrono::hours kStartAgeing{1};

inline base::Timestamp StartFloor(base::Timestamp turn) {
  return std::chrono::floor<std::chrono::seconds>(turn);
}

// The turn of a flow's first chunk. `waiting`: the first turn among the organisation's due chunks.
// It is ahead of that one, unless that is a flow's first chunk too: those keep their order.
inline base::Timestamp FirstStart(std::optional<base::Timestamp> waiting, base::Timestamp now) {
  const base::Timestamp reached = waiting.value_or(now - kStartsBack);
  return StartFloor(std::max<base::Timestamp>(reached, now - kStartsBack - kStartAgeing));
}

// The turn after `turn` in the same flow: a step later, in the middle between first turns. At most
// `now`, so that it is due.
inline base::Timestamp NextStart(base::Timestamp turn, base::Timestamp now) {
  return std::min<base::Timestamp>(
      StartFloor(turn) + kStartStep + std::chrono::milliseconds(kStartStep) / 2, now);
}

}  // namespace vedette::domain
