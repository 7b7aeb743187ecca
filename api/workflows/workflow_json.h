#pragma once

#include <map>
#include <string>

#include "base/json.h"
#include "domain/workflow/block_type.h"
#include "store/workflows/workflows.h"

// What clients see of workflows and blocks. Pure.
namespace vedette::api {

// An item of the list; one alone has its definition besides.
base::Json WorkflowItem(const store::Workflow& workflow);
base::Json WorkflowJson(const store::Workflow& workflow);

base::Json BlockTypeJson(const domain::BlockType& type);

}  // namespace vedette::api
