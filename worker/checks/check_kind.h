#pragma once

#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "store/checks/chunks.h"
#include "store/checks/record.h"
#include "store/lease.h"
#include "worker/checks/held_chunk.h"

namespace vedette::worker {

// What a claim brought. Specs are as probes read them: made on the pool's thread, because reading
// large structs would hold up the loop.
struct ClaimedChecks {
  // The walk with the claim behind it, and what it shared out.
  struct Behind {
    store::OrgWalk walk;
    std::vector<store::ClaimShare> shares;
  };

  store::Claim claim;
  std::unordered_map<base::Uuid, std::shared_ptr<const ProbeSpec>> probe_specs;  // by monitor
  std::optional<Behind> behind;
};

// Checks as a kind of leased work (lease/pipeline.h).
struct CheckKind {
  using Work = HeldChunk;
  using Lane = HeldChunk::Lane;
  using Walk = store::OrgWalk;
  using Share = store::ClaimShare;
  using Claimed = ClaimedChecks;
  using Taken = std::vector<CheckResult>;
  using Written = store::RecordResult;
};

}  // namespace vedette::worker
