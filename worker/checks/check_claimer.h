#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/event_loop.h"
#include "base/log.h"
#include "config/config_fwd.h"
#include "domain/monitor/enums.h"
#include "lease/claimer.h"
#include "store/checks/chunks.h"
#include "store/session.h"
#include "worker/checks/claim_room.h"
#include "worker/checks/held_chunk.h"

namespace vedette::worker {

// Claims chunks of checks (lease/claimer.h). A process that holds nothing claims behind the scan at
// once, without asking the loop in between: somebody may wait for the one check that is due.
class CheckClaimer final : public lease::Claimer<CheckKind> {
 public:
  // What the claimed rows that are held already have come to.
  struct Backlog {
    bool ran_out = false;          // all were started, and there is room for more
    std::size_t rows_waiting = 0;  // not started
  };
  struct Hooks {
    std::function<Backlog()> backlog;
    // Chunks were claimed, perhaps none; they are not held yet. `now` is the claim's time, by the
    // database's clock. Called also during a drain, with those of the claim that was under way when
    // it began.
    std::function<void(std::vector<ChunkPtr> chunks, base::Timestamp now)> claimed;
  };

  CheckClaimer(base::EventLoop& loop, store::Pool& pool, base::Logger log,
               const config::Config& config, const CheckHoldings& holdings, double random,
               Hooks hooks);

 private:
  // Claims these shares. It refers to nothing of the claimer, so that it may outlive it.
  using ClaimOf =
      std::function<ClaimedChecks(store::Session&, const std::vector<store::ClaimShare>&)>;

  bool HasRoom(HeldChunk::Lane lane) const override;
  Job ScanFrom(const Cursors& cursors) override;
  std::vector<store::ClaimShare> ShareOut(const store::OrgScan& scan) override;
  Job Claim(std::vector<store::ClaimShare> shares) override;
  Brought OnClaimed(ClaimedChecks claimed) override;

  ClaimOf MakeClaim() const;
  void Scanned(const store::OrgScan& scan, const std::vector<store::ClaimShare>& shares);

  const config::WorkerConfig& config_;
  const config::SecurityConfig& security_;
  const RoomLimits limits_;
  const CheckHoldings& holdings_;
  const Hooks hooks_;
  std::map<domain::Tier, std::int64_t> prices_mc_;

  // Shared with the scan or the claim that is under way; there is one at a time.
  const std::shared_ptr<store::ChunkScanBounds> bounds_ =
      std::make_shared<store::ChunkScanBounds>();
  ClaimAhead ahead_;
  bool was_busy_ = false;  // something was held when the run began
};

}  // namespace vedette::worker
