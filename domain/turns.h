#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/clock.h"

// Fair turns among the chunks of one organisation: start-time fair queueing, written into the one
// column by which chunks are claimed. A chunk is due when its `available_at` has come, and due
// chunks are claimed in its order; so any time in the past is a place in the queue. Each flow (a
// large tick, or the small ticks of one cut) begins at the place that the organisation's queue has
// reached, and each further chunk of it stands one step later. So a new tick is ahead of the rest
// of a large one, and two large ones alternate. Pure.
namespace vedette::domain {

// A chunk is made for about 10 s of work of one slot, whatever its checks take: one step for each.
inline constexpr std::chrono::seconds kTurnStep{1};
// The place at which the queue of an organisation that has nothing waiting begins: 2.6 million
// steps back.
inline constexpr std::chrono::hours kTurnsBack{30 * 24};
// Nothing starves: a chunk that has waited this much longer than its steps goes before all later
// ones.
inline constexpr std::chrono::hours kTurnAgeing{1};

inline base::Timestamp TurnFloor(base::Timestamp turn) {
  return std::chrono::floor<std::chrono::seconds>(turn);
}

// The turn of a flow's first chunk. `waiting`: the first turn among the organisation's due chunks.
// It is ahead of that one, unless that is a flow's first chunk too: those keep their order.
inline base::Timestamp FirstTurn(std::optional<base::Timestamp> waiting, base::Timestamp now) {
  const base::Timestamp reached = waiting.value_or(now - kTurnsBack);
  return TurnFloor(std::max<base::Timestamp>(reached, now - kTurnsBack - kTurnAgeing));
}

// The turn after `turn` in the same flow: a step later, in the middle between first turns. At most
// `now`, so that it is due.
inline base::Timestamp NextTurn(base::Timestamp turn, base::Timestamp now) {
  return std::min<base::Timestamp>(
      TurnFloor(turn) + kTurnStep + std::chrono::milliseconds(kTurnStep) / 2, now);
}

}  // namespace vedette::domain
