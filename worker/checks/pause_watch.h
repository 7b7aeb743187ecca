#pragma once

#include <chrono>

#include "store/checks/chunks.h"
#include "worker/checks/held_chunk.h"
#include "worker/checks/holdings.h"

namespace vedette::worker {

// How far a read of pauses looks back. It is longer than any transaction that pauses a monitor can
// take, because what such a transaction changes carries the time of its beginning.
inline constexpr std::chrono::milliseconds kPauseWindow{60000};

// Knows which monitors, rows and organisations may run, and how old that knowledge is. No check
// starts on knowledge of `age_max` or older, so a pause holds within that time anywhere, also where
// the database is lost (G5).
//
// What a chunk's claim read counts as a read of its own monitors. Times are since boot, and are
// those at which a read began, because what changes during a read may not be in it. No I/O and no
// clock; one thread.
class PauseWatch {
 public:
  explicit PauseWatch(std::chrono::milliseconds age_max) : age_max_(age_max) {}

  // A read of the last kPauseWindow that began at `began` found these changes: they take effect on
  // every chunk that is held.
  void Apply(const store::ControlChanges& changes, std::chrono::nanoseconds began,
             const Holdings& holdings);

  // Whether what is known of the chunk's monitors is young enough to start a check.
  bool Fresh(const HeldChunk& chunk, std::chrono::nanoseconds now) const;

 private:
  const std::chrono::milliseconds age_max_;
  std::chrono::nanoseconds began_{-1};  // of the last read that succeeded; before boot: none has
};

}  // namespace vedette::worker
