#pragma once

#include <map>
#include <string>

#include "base/json.h"
#include "config/config_fwd.h"
#include "domain/principal.h"
#include "domain/workflow/block_type.h"
#include "store/workflows/workflows.h"

// What clients see of workflows and blocks. Pure.
namespace vedette::api {

// The user for whom it was done, null where no user is known.
base::Json UserOf(const domain::Principal& caller);

// An item of the list; one alone has its definition besides.
base::Json WorkflowItem(const store::Workflow& workflow);
base::Json WorkflowJson(const store::Workflow& workflow);

// With its price as it is configured.
base::Json BlockTypeJson(const domain::BlockType& type, const config::Config& config);

}  // namespace vedette::api
