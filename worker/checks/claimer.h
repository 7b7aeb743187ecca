#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <unordered_map>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/event_loop.h"
#include "base/log.h"
#include "config/config_fwd.h"
#include "domain/names.h"
#include "lease/rounds.h"
#include "lease/step.h"
#include "store/checks/chunks.h"
#include "store/session.h"
#include "worker/checks/claim_room.h"
#include "worker/checks/held_chunk.h"
#include "worker/checks/holdings.h"

namespace vedette::worker {

// Asks for work as room allows: walks over the organisations that have chunks due, shares the room
// out among them, and claims. Goes on until nothing is due or nothing has room, and polls. A
// process that holds nothing claims behind the walk at once, without asking the loop in between:
// somebody may wait for the one check that is due. Loop thread only; everything handed in must
// outlive this object.
class Claimer {
 public:
  struct Claimed {
    base::Timestamp now{};         // the claim's time, by the database's clock
    std::vector<ChunkPtr> chunks;  // not held yet
  };
  // What the claimed rows that are held already have come to.
  struct Backlog {
    bool ran_out = false;          // all were started, and there is room for more
    std::size_t rows_waiting = 0;  // not started
  };
  struct Hooks {
    std::function<Backlog()> backlog;
    // Chunks were claimed, perhaps none. Called also during a drain, with those of the claim that
    // was under way when it began.
    std::function<void(Claimed)> claimed;
  };

  Claimer(base::EventLoop& loop, store::Pool& pool, const base::Clock& clock, base::Logger log,
          const config::Config& config, const Holdings& holdings, double random, Hooks hooks);

  // Begins to claim and to poll.
  void Start() { step_.Start(); }
  // Something may be due.
  void Wake();
  // There is room again: claims if the last walk saw more than was taken.
  void OnRoom();
  // Claims nothing more. `done` once no claim is under way.
  void Drain(std::function<void()> done) { step_.Drain(std::move(done)); }
  // A claim is under way.
  bool running() const { return step_.running(); }

 private:
  // A chunk's specs as probes read them. Made on the pool's thread, because reading large structs
  // would hold up the loop.
  struct Loaded {
    store::Claim claim;
    std::unordered_map<base::Uuid, std::shared_ptr<const ProbeSpec>> probe_specs;  // by monitor
  };
  // A walk with the claim behind it.
  struct Taken {
    store::OrgWalk walk;
    std::vector<store::ClaimShare> shares;
    Loaded loaded;
  };
  // A run is a walk, and after it a claim where there is something to claim; or both at once.
  using Found = std::variant<store::OrgWalk, Loaded, Taken>;
  using Run = lease::Step<Found>;
  // Claims these shares. It refers to nothing of the claimer, so that it may outlive it.
  using ClaimOf = std::function<Loaded(store::Session&, const std::vector<store::ClaimShare>&)>;

  static Loaded ReadSpecs(store::Claim claim, const config::SecurityConfig& security);
  ClaimOf MakeClaim() const;
  bool HasRoom() const;
  Run::Job Begin();
  Run::Then OnFound(Found found);
  Run::Then OnWalked(const store::OrgWalk& walk);
  Run::Then OnTaken(Taken taken);
  Run::Then OnClaimed(Loaded loaded);

  const base::Clock& clock_;
  const config::WorkerConfig& config_;
  const config::SecurityConfig& security_;
  const RoomLimits limits_;
  const Holdings& holdings_;
  const Hooks hooks_;
  std::map<domain::Tier, std::int64_t> prices_mc_;

  ClaimAhead ahead_;
  lease::Rounds rounds_;
  std::chrono::nanoseconds run_began_{};  // since boot
  bool was_busy_ = false;                 // something was held when the run began
  bool work_left_ = false;                // the last walk saw more than was taken
  Run step_;
};

}  // namespace vedette::worker
