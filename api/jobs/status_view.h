#pragma once

#include "base/json.h"
#include "domain/job_result.h"
#include "store/jobs/read.h"

namespace vedette::api {

// What clients see of a job, whatever its kind (GET /job-status):
//
//   {"task_id", "task_type", "status", "result", "error", "charge_amount",
//    "progress": {"done", "total"}, "created_at", "started_at", "finished_at", "deadline_at"}
//
// Result, error and charge are null until the end. Pure; throws std::invalid_argument where what is
// stored cannot be read.
base::Json StatusJson(const store::LookupView& view, double cents_per_credit);

// Of a job that has ended.
domain::EndedLookup EndedLookupOf(const store::LookupView& view);

}  // namespace vedette::api
