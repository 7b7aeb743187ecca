#pragma once

#include <vector>

#include "domain/workflow/run_graph.h"
#include "store/jobs/job_view.h"

namespace vedette::store {

// How far each block of a run has come, as domain::PerMille says; one that has no rows of its own
// as far as its input. `blocks` are as many as the graph's, in the same order. Pure.
std::vector<int> RunPerMille(const domain::RunGraph& graph,
                             const std::vector<JobBlockView>& blocks);

}  // namespace vedette::store
