#pragma once

#include "api/call.h"
#include "rest/query_reader.h"
#include "store/workflows/workflows.h"

// What the routes of workflows have in common.
namespace vedette::api {

// The workflow that ?workflow_id= names: a 422 without one, a 404 for one that is unknown, foreign,
// deleted or no id.
rest::Judged<store::Workflow> FindQueriedWorkflow(Call& call);
// The same, for a run.
rest::Judged<store::WorkflowToRun> FindWorkflowToRun(Call& call);

}  // namespace vedette::api
