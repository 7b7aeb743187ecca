#pragma once

#include <cstddef>
#include <functional>

#include "base/clock.h"
#include "base/event_loop.h"
#include "base/log.h"
#include "lease/suspect_slot.h"
#include "lease/suspects.h"
#include "store/session.h"
#include "worker/checks/held_chunk.h"
#include "worker/checks/notification_sink.h"

namespace vedette::worker {

// What a claim does with a chunk whose workers died.
enum class PoisonStep {
  kNone,        // it is worked on like any other
  kCareful,     // its one row is tried beside a few others
  kHalve,       // two halves take its place, until the row that kills is alone
  kLastTry,     // its one open row is tried alone in the process
  kQuarantine,  // its one open row is a failed check, without a probe
};

// `claims` counts the claims of the chunk, this one included; `counted` says whether the database
// counts this one already; `rows_open` are its rows without an outcome. A row's neighbours died
// with it, so being alone proves nothing yet: such a row has `claims_max` last tries. Another
// organisation's row may end the process meanwhile, which is why one death is not enough (G10).
// Pure.
PoisonStep PoisonStepOf(int claims, bool counted, std::size_t rows_open, int claims_max);

// The claim from which on a chunk of one row is held with care (ClaimChunks): the `claims_max`-th,
// but never the first, which every chunk has.
int CarefulFrom(int claims_max);

// The chunks of checks whose workers died repeatedly (lease/suspects.h). Chunks of several rows are
// halved. A chunk of one row is tried in the process's SuspectSlot, so that only rows that were
// started are suspected of a death:
//
//   kCareful --dies--> kLastTry --dies--> kLastTry .. (claims_max times) --> kQuarantine
//      |                  |
//      +------------------+--it ends--> recorded like any other
class CheckSuspects final : public lease::Suspects<HeldChunk> {
 public:
  struct Hooks {
    // The try of the chunk's row begins now: start it.
    std::function<void(const ChunkPtr&)> start;
    // A row is quarantined: it fails without a probe.
    std::function<void(const ChunkPtr&, CheckResult)> result;
    // The chunk is not held any more: it was halved, or its lease was lost.
    std::function<void(const ChunkPtr&)> forget;
    // A chunk was halved, or that failed: there may be work to claim.
    std::function<void()> claim;
  };

  CheckSuspects(base::EventLoop& loop, store::Pool& pool, const base::Clock& clock,
                base::Logger log, int claims_max, NotificationSink* sink, lease::SuspectSlot& slot,
                Hooks hooks);

  // A chunk that was just claimed and is held. False: it is to be worked on as usual. True: it is
  // taken care of here.
  bool Take(const ChunkPtr& chunk);

 private:
  void Halve(const ChunkPtr& chunk);
  void Try(const ChunkPtr& chunk, lease::SuspectSlot::Try how);
  void Quarantine(const ChunkPtr& chunk);

  const base::Clock& clock_;
  const int claims_max_;
  NotificationSink* const sink_;  // may be null
  const Hooks hooks_;
};

}  // namespace vedette::worker
