#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/event_loop.h"
#include "base/log.h"
#include "base/uuid.h"
#include "domain/job/job.h"
#include "lease/claimer.h"
#include "lease/drain.h"
#include "lease/held_work.h"
#include "lease/holdings.h"
#include "lease/lease_keeper.h"
#include "lease/recorder.h"
#include "lease/suspects.h"
#include "store/session.h"

namespace vedette::lease {

// A kind's statements about leases, and what is to be done when one of them gave something back.
struct LeaseStatements {
  decltype(LeaseKeeper::Hooks::renew) renew;
  decltype(LeaseKeeper::Hooks::give_back) give_back;
  std::function<void()> offered;
};

// What a pipeline of leased work is made of, and how its parts meet:
//
//   Claimer --> Hold --> Begin: the kind starts the rows --> Recorder --> ended: not held any more
//                |                                              |
//                +--> Suspects                                  +--> given back
//
// Holdings counts what is held, LeaseKeeper renews the leases on it, Drain bounds how long an end
// takes. A kind derives from this; it makes claimer, recorder and suspects of its own, and says
// what is done with a chunk. Kind::Work is what lease/holdings.h and lease/recorder.h ask for.
//
// Loop thread only; everything handed in must outlive this object.
template <typename Kind>
class Pipeline {
 public:
  using Work = typename Kind::Work;
  using Ptr = std::shared_ptr<Work>;

  virtual ~Pipeline() = default;
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  // Something may be due: looks at once.
  void Wake() { claimer().Wake(); }

  // No new claims and no further rows; those in flight finish within the drain's time, the rest is
  // given back. `done` is called once nothing is held any more, and at the latest kDrainGrace after
  // that time, also without the database. One call.
  void Drain(std::function<void()> done) {
    claimer().Drain([this] { drain_.Check(); });
    drain_.Begin(std::move(done));
    GiveAllBack();
  }

 protected:
  struct Options {
    std::chrono::milliseconds lease{};
    std::chrono::milliseconds drain_time_max{};
    std::string abandoned;  // what the log says where a drain ends without the database
  };
  Pipeline(base::EventLoop& loop, store::Pool& pool, base::Logger log, Options options,
           LeaseStatements leases)
      : log_(log),
        abandoned_(std::move(options.abandoned)),
        leases_(loop, pool, log, options.lease,
                {.renew = std::move(leases.renew),
                 .give_back = std::move(leases.give_back),
                 .lost = [this](const base::Uuid& id) { OnLost(id); },
                 .offered = std::move(leases.offered),
                 .given_back = [this] { drain_.Check(); }}),
        drain_(
            loop, options.drain_time_max,
            {.idle = [this] { return holdings_.empty() && !claimer().running() && leases_.idle(); },
             .overdue = [this] { StopWaiting(); },
             .abandon = [this] { ForgetAll(); }}) {}

  // The kind's parts. None of these functions is called before Start.
  virtual Claimer<Kind>& claimer() = 0;
  virtual Recorder<Kind>& recorder() = 0;
  virtual Suspects<Work>& suspects() = 0;
  // The chunk is held from now on: starts its rows, or what else is to be done with it.
  virtual void Begin(const Ptr& work) = 0;
  // All that was to be recorded of the chunk is, it goes on, and is not to be given back.
  virtual void OnRecorded(const Ptr& /*work*/) {}
  // Starts what there is room for, after a claim.
  virtual void Pump() = 0;
  // Drops what waits of chunks that are not worked on any more.
  virtual void DropWaiting() = 0;
  // The lease of the chunk was lost, and it is held no more.
  virtual void OnLeaseLost(const Ptr& work) = 0;
  // The chunk was still held when it was claimed again: its lease here had ended.
  virtual void OnClaimedAgain() {}
  // The chunk is held no more.
  virtual void OnForgotten() {}

  void StartEngine() {
    claimer().Start();
    leases_.Start();
  }

  typename Recorder<Kind>::Hooks RecorderHooks() {
    return {.ended =
                [this](const Ptr& work) {
                  Forget(work);
                  claimer().OnRoom();
                },
            .recorded =
                [this](const Ptr& work) {
                  if (work->Leaving()) {
                    GiveBackIfQuiet(work);
                  } else {
                    OnRecorded(work);
                  }
                },
            .give_back =
                [this](const Ptr& work) {
                  GiveBack(work);
                  claimer().OnRoom();
                }};
  }

  // A chunk that was just claimed.
  void Hold(const Ptr& work) {
    // Its lease here had ended (the database was away, the process stood still), and it came back.
    if (const Ptr former = holdings_.Find(work->id())) {
      OnClaimedAgain();
      Forget(former);
    }
    holdings_.Add(work);
    leases_.Hold(work->lease);
    Begin(work);
  }

  // All chunks of a claim are held.
  void AllHeld() {
    if (drain_.begun()) {
      GiveAllBack();
    } else {
      Pump();
    }
  }

  // What was leased, but cannot be held here.
  void Refuse(const store::Lease& lease, std::chrono::milliseconds delay) {
    leases_.Hold(lease);
    leases_.GiveBack({lease.id}, delay);
  }

  void Forget(const Ptr& work) {
    if (!holdings_.Remove(work)) return;
    leases_.Drop(work->id());
    recorder().Drop(work);
    suspects().Leave(work);
    OnForgotten();
    drain_.Check();
  }

  // Nothing of the chunk is in flight, being recorded or left to be recorded.
  void GiveBack(const Ptr& work, std::chrono::milliseconds delay = {},
                domain::JobWait waits_for = domain::JobWait::kUntold) {
    if (work->Lost()) return;
    leases_.GiveBack({work->id()}, delay, waits_for);
    Forget(work);
  }

  void GiveBackIfQuiet(const Ptr& work) {
    if (!work->Leaving() || !work->Quiet() || work->BeingRecorded()) return;
    if (work->HasUnrecorded() || work->CanEnd()) {
      recorder().Add(work);
    } else {
      GiveBack(work);
    }
  }

  // No further row of the chunk starts; it goes back when what is in flight has ended.
  void Stop(const Ptr& work) {
    if (!work->Working()) return;
    work->Enter(HeldWork::Phase::kGivingBack);
    GiveBackIfQuiet(work);
  }

  // Another process has the lease, or the chunk is gone.
  void Lose(const Ptr& work) {
    // A missing lease may also mean that the chunk's final record was committed: its result tells.
    if (work->BeingRecorded()) {
      leases_.Hold(work->lease);
      return;
    }
    Forget(work);
    OnLeaseLost(work);
  }

  const base::Logger log_;
  Holdings<Work> holdings_;

 private:
  void OnLost(const base::Uuid& id) {
    if (const Ptr work = holdings_.Find(id)) Lose(work);
  }

  void GiveAllBack() {
    for (const auto& [id, work] : holdings_.chunks()) {
      if (work->Working()) work->Enter(HeldWork::Phase::kGivingBack);
    }
    DropWaiting();
    for (const Ptr& work : holdings_.All()) GiveBackIfQuiet(work);
    recorder().Flush();
  }

  // Out of time: what is in flight is not waited for any more.
  void StopWaiting() {
    for (const auto& [id, work] : holdings_.chunks()) work->Enter(HeldWork::Phase::kAbandoned);
    for (const Ptr& work : holdings_.All()) GiveBackIfQuiet(work);
    recorder().Flush();
  }

  // The database takes nothing either. Leases that could not be given back end by themselves.
  void ForgetAll() {
    log_.Warn(abandoned_, {{"chunks", holdings_.chunks().size()}});
    recorder().Abandon();
    for (const Ptr& work : holdings_.All()) Forget(work);
  }

  const std::string abandoned_;
  LeaseKeeper leases_;
  lease::Drain drain_;
};

}  // namespace vedette::lease
