#pragma once

#include <optional>
#include <string>
#include <vector>

#include "admin/job_shapes.h"
#include "base/json.h"
#include "domain/workflow/run_graph.h"
#include "store/jobs/runs.h"

// The JSON shapes of runs on the admin port. Pure.
namespace vedette::admin {

base::Json RunJson(const store::RunItem& item);

// A file of what a block has made.
struct RunFile {
  int block = 0;
  std::string filename;
  std::optional<std::string> url;  // empty where the API's public address is not known
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
