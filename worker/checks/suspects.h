#pragma once

#include <cstddef>
#include <functional>

#include "base/clock.h"
#include "base/event_loop.h"
#include "base/log.h"
#include "lease/live.h"
#include "store/session.h"
#include "worker/checks/held_chunk.h"
#include "worker/checks/notification_sink.h"
#include "worker/suspect_slot.h"

namespace vedette::worker {

// What a claim does with a chunk whose workers died (design 4).
enum class PoisonStep {
  kNone,     // it is worked on like any other
  kCareful,  // its one row is tried beside a few others
  kHalve,    // two halves take its place, until the row that kills is alone
  kLastTry,  // its one open row is tried alone in the process
  kCondemn,  // its one open row is a failed check, without a probe
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

// Takes the chunks whose workers died repeatedly out of the ordinary work. Chunks of several rows
// are halved. A chunk of one row is tried in the process's SuspectSlot, and the database hears of
// the try before it begins, so that only rows that were started are suspected of a death:
//
//   kCareful --dies--> kLastTry --dies--> kLastTry .. (claims_max times) --> kCondemn
//      |                  |
//      +------------------+--it ends--> recorded like any other
//
// Loop thread only; everything handed in must outlive this object.
class Suspects {
 public:
  struct Hooks {
    // The try of the chunk's row begins now: start it.
    std::function<void(const ChunkPtr&)> start;
    // A row is condemned.
    std::function<void(const ChunkPtr&, CheckResult)> result;
    // The chunk is not held any more: it was halved, or its lease was lost.
    std::function<void(const ChunkPtr&)> forget;
    // A chunk was halved, or that failed: there may be work to claim.
    std::function<void()> claim;
  };

  Suspects(base::EventLoop& loop, store::Pool& pool, const base::Clock& clock, base::Logger log,
           int claims_max, NotificationSink* sink, SuspectSlot& slot, Hooks hooks);

  // A chunk that was just claimed and is held. False: it is to be worked on as usual. True: it is
  // taken care of here.
  bool Take(const ChunkPtr& chunk);

  // The chunk is not held any more: the slot is free of it.
  void Leave(const ChunkPtr& chunk) { slot_.Leave(chunk.get()); }

 private:
  void Halve(const ChunkPtr& chunk);
  void EnterSlot(const ChunkPtr& chunk, SuspectSlot::Try how);
  void Try(const ChunkPtr& chunk, SuspectSlot::Try how);
  void Condemn(const ChunkPtr& chunk);

  base::EventLoop& loop_;
  store::Pool& pool_;
  const base::Clock& clock_;
  const base::Logger log_;
  const int claims_max_;
  NotificationSink* const sink_;  // may be null
  SuspectSlot& slot_;
  const Hooks hooks_;
  lease::Live live_;
};

}  // namespace vedette::worker
