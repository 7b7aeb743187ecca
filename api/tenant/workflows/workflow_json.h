#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "config/config_fwd.h"
#include "domain/auth/principal.h"
#include "domain/workflow/block_type.h"
#include "domain/workflow/run_plan.h"
#include "store/jobs/read.h"
#include "store/jobs/runs.h"
#include "store/workflows/workflows.h"

namespace vedette::api {

// What clients see of workflows and blocks. Pure.

// The user for whom it was done, null where no user is known.
base::Json UserOf(const domain::Principal& caller);

// An item of the list; one alone has its definition besides.
base::Json WorkflowItem(const store::Workflow& workflow);
base::Json WorkflowJson(const store::Workflow& workflow);

// With its price as it is configured.
base::Json BlockTypeJson(const domain::BlockType& type, const config::Config& config);

// What clients see of runs. Pure.

// An item of GET /workflows/runs; of a run that goes on, `now` ends what it has taken until now.
base::Json RunItemJson(const store::RunItem& item, double cents_per_credit, base::Timestamp now);

// GET /workflows/runs/{run_id}/live_status. `blocks` are in the order of their numbers.
base::Json LiveStatusJson(const store::RunView& run, const domain::RunGraph& graph,
                          const std::vector<store::JobBlockView>& blocks);

}  // namespace vedette::api
