#pragma once

#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "domain/workflow/run_graph.h"
#include "store/jobs/job_view.h"
#include "store/jobs/runs.h"

// What clients see of runs. Pure.
namespace vedette::api {

// An item of GET /workflows/runs; of a run that goes on, `now` ends what it has taken until now.
base::Json RunItemJson(const store::RunItem& item, double cents_per_credit, base::Timestamp now);

// GET /workflows/runs/{run_id}/live_status. `blocks` are in the order of their numbers.
base::Json LiveStatusJson(const store::RunView& run, const domain::RunGraph& graph,
                          const std::vector<store::JobBlockView>& blocks);

}  // namespace vedette::api
