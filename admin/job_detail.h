#pragma once

#include <optional>

#include "admin/handlers.h"
#include "admin/job_shapes.h"
#include "base/uuid.h"
#include "store/jobs/end.h"

// What the operator's pages of jobs and of runs do alike. All functions throw as the store does.
namespace vedette::admin {

// A job of any organisation with its blocks, the first of its chunks and its newest deliveries;
// empty where there is none.
std::optional<JobDetail> ReadJobDetail(store::Session& session, const base::Uuid& id);

// Ends a job of any organisation as the operator, and wakes and counts what follows from it. Its
// client reads that the operator ended it, and no more. Empty where there is none.
std::optional<store::JobEndOutcome> Terminate(const Parts& parts, store::Session& session,
                                              const base::Uuid& id, const store::AuditEntry& audit);

}  // namespace vedette::admin
