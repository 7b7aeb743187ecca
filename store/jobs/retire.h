#pragma once

#include <chrono>

#include "store/session.h"

// The end of what jobs leave behind.
namespace vedette::store {

struct JobRetention {
  std::chrono::hours jobs;  // after the end; of runs `runs`
  std::chrono::hours runs;
  std::chrono::hours run_data;  // of rows, from the day of the job's id
};

// Deletes jobs that ended longer ago than their retention and have no delivery left, with their
// blocks; drops days of rows that are old and none of whose jobs is open. Does nothing while
// another process is at it. Returns how many jobs were deleted, at most kJobsRetiredMax.
int RetireJobs(Session& session, const JobRetention& retention);
inline constexpr int kJobsRetiredMax = 1000;

}  // namespace vedette::store
