#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/uuid.h"
#include "domain/job/job.h"
#include "store/session.h"

// How much work jobs are: for metrics and for the operator's overview. All functions throw as
// InTransaction does.
namespace vedette::store {

// Chunks of one lane. A chunk of a locked organisation waits, whatever its time: nobody may take
// it.
struct LaneGauges {
  domain::Lane lane = domain::Lane::kLookup;
  std::int64_t due = 0;                    // available and not leased
  std::int64_t leased = 0;                 // a worker holds it
  std::int64_t waiting = 0;                // not available yet
  std::chrono::microseconds oldest_due{};  // since it was due; 0 without one
};
// The gauges of every lane, in the order of domain::Lane.
std::vector<LaneGauges> ReadLaneGauges(Session& session);

// Open jobs of one kind and status.
struct OpenJobs {
  domain::JobKind kind = domain::JobKind::kFindEmail;
  domain::JobStatus status = domain::JobStatus::kQueued;
  std::int64_t jobs = 0;
};
struct JobGauges {
  std::vector<OpenJobs> open;           // without those that have none
  std::chrono::microseconds overdue{};  // since the earliest deadline of them; 0 before it
};
// Counts kOpenJobsCountedMax open jobs at most, those whose deadlines come first.
JobGauges ReadJobGauges(Session& session);
inline constexpr int kOpenJobsCountedMax = 100'000;

// How long the oldest run has waited that has not begun, of the first kOpenJobsCountedMax open
// jobs; 0 without one.
std::chrono::microseconds ReadOldestQueuedRun(Session& session);

// An organisation whose clients wait for jobs.
struct WaitingOrganisation {
  base::Uuid org_id;
  std::string name;
  std::int64_t jobs = 0;  // open ones that were waited for from their start
};
// Most jobs first, at most `limit`; of the first kOpenJobsCountedMax open jobs.
std::vector<WaitingOrganisation> ReadWaitingOrganisations(Session& session, int limit);

// Everything of the overview, in one transaction.
struct JobOverview {
  std::vector<LaneGauges> lanes;
  JobGauges jobs;
  std::vector<WaitingOrganisation> waiting;  // at most kWaitingShown

  static constexpr int kWaitingShown = 10;
};
JobOverview ReadJobOverview(Session& session);

}  // namespace vedette::store
