#pragma once

#include <cstdint>
#include <optional>

#include "api/call.h"
#include "config/config_fwd.h"
#include "domain/workflow/run_plan.h"

// What the configuration says of the blocks of a run.
namespace vedette::api {

// What a row of the block costs with these specs, in millicredits.
std::int64_t PriceMcOf(const config::Config& config, const domain::BlockType& type,
                       const base::Json& specs);
// The same whatever the specs; nothing where it depends on them.
std::optional<std::int64_t> ListPriceMc(const config::Config& config,
                                        const domain::BlockType& type);

// What the block is stored with: its specs, and what of the configuration the run keeps.
domain::BoundSpecs WithTerms(const config::Config& config, const domain::PlannedBlock& planned);

// Addresses are verified where a member may ask mail servers; without one they are looked up all
// the same, and end as UNKNOWN.
domain::Lane LaneOf(const Call& call, const domain::PlannedBlock& planned);

}  // namespace vedette::api
