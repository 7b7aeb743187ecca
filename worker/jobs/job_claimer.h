#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/event_loop.h"
#include "base/log.h"
#include "config/config_fwd.h"
#include "domain/job.h"
#include "lease/rounds.h"
#include "lease/step.h"
#include "store/jobs/claim.h"
#include "store/session.h"
#include "worker/jobs/block_runs.h"
#include "worker/jobs/job_holdings.h"
#include "worker/jobs/job_room.h"
#include "worker/jobs/part_rows.h"

namespace vedette::worker {

// Asks for job chunks as the room of each lane allows: walks over the organisations that have some
// due, shares the room out among them, and claims. Goes on until nothing is due or nothing has
// room, and polls. Loop thread only; everything handed in must outlive this object.
class JobClaimer {
 public:
  // A chunk with the rows of its part. In the lane `transform` parts are worked on as a whole: the
  // text of the rows stays with the chunk, and `rows` is empty.
  struct Loaded {
    store::ClaimedJobChunk chunk;  // otherwise without it
    std::variant<std::vector<JobRow>, UnreadablePart> rows;
  };
  struct Claimed {
    base::Timestamp now{};             // the claim's time, by the database's clock
    std::chrono::nanoseconds began{};  // since boot: before the claim's transaction began
    std::vector<Loaded> chunks;        // not held yet
    JobSpecs specs;                    // of their jobs, but for those that were remembered
  };
  struct Hooks {
    // The jobs whose specs need not be loaded. None is forgotten while a claim is under way.
    std::shared_ptr<const KnownJobs> known;
    // Chunks were claimed, perhaps none. Called also during a drain, with those of the claim that
    // was under way when it began.
    std::function<void(Claimed)> claimed;
  };

  JobClaimer(base::EventLoop& loop, store::Pool& pool, const base::Clock& clock, base::Logger log,
             const config::Config& config, std::set<domain::Lane> lanes,
             const JobHoldings& holdings, double random, Hooks hooks);

  // Begins to claim and to poll.
  void Start() { step_.Start(); }
  // Something may be due.
  void Wake();
  // There is room again: claims if the last walks saw more than was taken. A run that is under way
  // uses the room itself, or is followed by another one: walks do not become more because much ends
  // while one of them waits for its answer.
  void OnRoom();
  // Claims nothing more. `done` once no claim is under way.
  void Drain(std::function<void()> done) { step_.Drain(std::move(done)); }
  // A claim is under way.
  bool running() const { return step_.running(); }

 private:
  // A run is a walk, and after it a claim where there is something to claim.
  using Found = std::variant<store::JobWalk, Claimed>;
  using Run = lease::Step<Found>;

  static Claimed Load(store::JobClaim claim, const KnownJobs& known);
  bool HasRoom(domain::Lane lane) const;
  bool MoreOrganisations() const;
  bool HasRoomWherePassedOver() const;
  bool HasBacklog() const;
  Run::Job Begin();
  Run::Then OnFound(Found found);
  Run::Then OnWalked(const store::JobWalk& walk);
  Run::Then OnClaimed(Claimed claimed);
  std::vector<store::JobShare> ShareOut(const store::JobWalk& walk);
  Run::Job Claim(std::vector<store::JobShare> shares);

  // Room that came while the claim of a run was under way, which the claim could not use.
  enum class RoomMeanwhile { kNone, kSome };

  const base::Clock& clock_;
  const config::Config& config_;
  const std::set<domain::Lane> lanes_;
  const JobHoldings& holdings_;
  const Hooks hooks_;
  std::map<domain::Lane, lease::Rounds> rounds_;
  std::map<domain::Lane, LaneTurns> turns_;
  std::chrono::nanoseconds run_began_{};  // since boot
  std::set<domain::Lane> passed_over_;    // lanes that the last run did not look at
  RoomMeanwhile room_ = RoomMeanwhile::kNone;
  Run step_;
};

}  // namespace vedette::worker
