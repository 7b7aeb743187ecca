#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "domain/workflow/run_plan.h"
#include "store/deliveries/delivery_views.h"
#include "store/fleet/fleet.h"
#include "store/jobs/gauges.h"
#include "store/jobs/read.h"
#include "store/jobs/runs.h"

namespace vedette::admin {

// The JSON shapes of jobs on the admin port. Pure.

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

// The JSON shapes of runs on the admin port. Pure.

base::Json RunJson(const store::RunItem& item);

// A file of what a block has made.
struct RunFile {
  int block = 0;
  std::string filename;
  std::optional<std::string> url;  // where it is asked for, and the API's public address is known
};

// A run as a job is shown, with its graph: each block has its id, its number, what it works on and
// how far it is. `detail.blocks` are as many as those of the graph, in the same order.
struct RunShown {
  store::RunView run;
  domain::RunGraph graph;
  JobDetail detail;
  std::vector<RunFile> files;
};
base::Json RunShownJson(const RunShown& shown);

}  // namespace vedette::admin
