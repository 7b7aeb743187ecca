#pragma once

#include <vector>

#include "base/json.h"
#include "store/deliveries/delivery_views.h"
#include "store/fleet/fleet.h"
#include "store/jobs/gauges.h"
#include "store/jobs/job_view.h"
#include "store/jobs/read.h"

// The JSON shapes of jobs on the admin port. Pure.
namespace vedette::admin {

base::Json JobJson(const store::JobView& job);

// A job with everything that tells how far it is and where it stands still.
struct JobDetail {
  store::JobView job;
  std::vector<store::JobBlockView> blocks;
  std::vector<store::JobChunkView> chunks;
  std::vector<store::DeliveryView> deliveries;
};
// [{"lead", "result"}]: what the client sent and what was recorded, null where nothing was. Null of
// a job that is no lookup.
base::Json LookupRowsJson(const store::LookupView& lookup);
base::Json JobDetailJson(const JobDetail& detail);

// The overview's "jobs": what is open, and for each lane its chunks and how many live members serve
// it.
base::Json JobsOverviewJson(const store::JobOverview& jobs,
                            const std::vector<store::MemberView>& members);
// The overview's "waits": the places of requests that wait for jobs, of all members together, and
// the organisations whose jobs are waited for.
base::Json WaitsOverviewJson(const store::JobOverview& jobs,
                             const std::vector<store::MemberView>& members);
// A member's "jobs": its lanes, and its places {"used", "max"}, null of one that tells none.
base::Json MemberJobsJson(const store::MemberView& member);

}  // namespace vedette::admin
