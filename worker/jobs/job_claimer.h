#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "base/clock.h"
#include "base/event_loop.h"
#include "base/log.h"
#include "config/config_fwd.h"
#include "domain/job/job.h"
#include "lease/claimer.h"
#include "store/jobs/claim.h"
#include "store/session.h"
#include "worker/jobs/block_runs.h"
#include "worker/jobs/held_job_chunk.h"
#include "worker/jobs/job_kind.h"
#include "worker/jobs/job_room.h"

namespace vedette::worker {

// Claims job chunks (lease/claimer.h), in each lane as its room and its bytes allow.
class JobClaimer final : public lease::Claimer<JobKind> {
 public:
  struct Hooks {
    // The jobs whose specs need not be loaded. None is forgotten while a claim is under way.
    std::shared_ptr<const KnownJobs> known;
    // Chunks were claimed, perhaps none. Called also during a drain, with those of the claim that
    // was under way when it began.
    std::function<void(ClaimedJobs)> claimed;
  };

  JobClaimer(base::EventLoop& loop, store::Pool& pool, base::Logger log,
             const config::Config& config, const std::set<domain::Lane>& lanes,
             const JobHoldings& holdings, double random, Hooks hooks);

 private:
  bool HasRoom(domain::Lane lane) const override;
  Job ScanFrom(const Cursors& cursors) override;
  std::vector<store::JobShare> ShareOut(const store::JobScan& scan) override;
  Job Claim(std::vector<store::JobShare> shares) override;
  Brought OnClaimed(ClaimedJobs claimed) override;

  const config::Config& config_;
  const JobHoldings& holdings_;
  const Hooks hooks_;
  std::map<domain::Lane, LaneTurns> turns_;
  // Shared with the scan or the claim that is under way; there is one at a time.
  const std::shared_ptr<store::JobScanBounds> bounds_ = std::make_shared<store::JobScanBounds>();
};

}  // namespace vedette::worker
