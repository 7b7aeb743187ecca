#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/job.h"
#include "domain/workflow/block_type.h"

// A run's graph as it is shown: names and numbers alone, so that a run whose blocks this version
// does not know can be shown, too. Pure.
namespace vedette::domain {

struct ShownBlock {
  std::string id;
  std::string name;
  int sequence_number = 0;
  std::optional<int> input;
};
struct RunGraph {
  std::string frame;  // "LEAD", "COMPANY"
  std::vector<ShownBlock> blocks;
};

// The params of what a run was started with: {"definition", "dataframe_type"}.
std::string RunParamsJson(const base::Json& definition, Frame frame);
// Throws std::exception for anything else.
RunGraph ReadRunGraph(const std::string& params_json);

// The block whose rows the block shows as its own: its input for one that acts at the end.
int RowsOf(const RunGraph& graph, int block);
// Whether rows may end in the block. False for one that this version does not know.
bool DropsRows(const ShownBlock& block);
std::vector<int> LeavesOf(const RunGraph& graph);

}  // namespace vedette::domain
