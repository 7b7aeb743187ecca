#pragma once

#include <atomic>
#include <chrono>
#include <stdexcept>

#include "base/clock.h"

namespace vedette::worker {

// The processor's time that one part may take. What a part may hold of rows and bytes is far less
// than this; what needs more is what no limit of a block has foreseen.
inline constexpr std::chrono::seconds kPartTimeMax{10};

// Why a part is computed no further.
enum class PartStop {
  kUnwanted,  // nobody waits for it: its job has ended, its lease was lost, its process ends
  kOverdue,   // it has taken the time that it may take
};

// Thrown by PartTurn::Ask, through whatever loops stand between, to who computes the part.
class PartStopped : public std::runtime_error {
 public:
  explicit PartStopped(PartStop stop) : std::runtime_error("a part was stopped"), why(stop) {}
  const PartStop why;
};

// How long a part may be computed, and whether it still is to be: what computes it asks between
// rows and inside long loops. One thread at a time computes, and each says Begin first; any thread
// may say Stop.
class PartTurn {
 public:
  // `clock` outlives this object. `deadline`: since boot; the part is of no use after it.
  PartTurn(const base::Clock& clock, std::chrono::nanoseconds time_max,
           std::chrono::nanoseconds deadline);

  // Nobody waits for the part any more.
  void Stop() { stopped_.store(true, std::memory_order_relaxed); }
  bool stopped() const { return stopped_.load(std::memory_order_relaxed); }

  // The part is computed by this thread from here on.
  void Begin();
  // Throws PartStopped where the part is not to be computed further.
  void Ask();

 private:
  // Notes what this thread has computed since the last look.
  void Look(std::chrono::nanoseconds now);

  const base::Clock& clock_;
  const std::chrono::nanoseconds deadline_;  // since boot
  std::chrono::nanoseconds left_;            // of the part's time, as of the last look
  std::chrono::nanoseconds thread_time_{};   // as of the last look
  // Since boot: before it, the time cannot be up.
  std::chrono::nanoseconds next_look_{};
  std::atomic<bool> stopped_ = false;
};

}  // namespace vedette::worker
