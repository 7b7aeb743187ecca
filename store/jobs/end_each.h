#pragma once

#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "store/jobs/end.h"
#include "store/jobs/keeper.h"
#include "store/session.h"

// Internal to store/: what ends several jobs for the keeper.
namespace vedette::store {

// Ends them one by one, each in a transaction, and adds what came of it to `run`: a job that cannot
// be ended is in nobody's way. Throws where the database is gone.
void EndEach(Session& session, const base::Clock& clock, const std::vector<base::Uuid>& job_ids,
             const JobEnding& ending, JobKeeperRun* run);

}  // namespace vedette::store
