#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/job/job.h"
#include "domain/workflow/block_type.h"
#include "domain/workflow/definition.h"

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

// A run before it starts: what each block of its definition works on, and what the run may cost.
// Pure.

// The rows that the source gives.
struct RunSource {
  Columns columns;
  std::int64_t rows = 0;
  int parts = 0;  // that they make
  // Pieces of a file that a worker reads; empty where the parts are there.
  std::optional<int> units;
};

struct PlannedBlock {
  const BlockType* type = nullptr;
  BoundSpecs bound;
  Columns output;
  std::optional<int> input;
  std::int64_t price_mc = 0;         // of a row
  std::chrono::milliseconds pace{};  // of a row; 0: it has none
  int parts_total = 0;
  int part_window = 1;
};

// A block's columns cannot be worked out.
struct BindFault {
  int block = 0;
  std::string error;  // a sentence for the client
};

struct RunPlan {
  std::vector<PlannedBlock> blocks;  // as in the definition
  // What it may cost at most: the rows of the source in each block. No block makes rows, so that
  // behind one that drops some fewer are charged.
  std::int64_t estimate_mc = 0;
  std::optional<BindFault> fault;  // the first one; the columns behind it are not known
};

struct PlanRules {
  std::function<std::int64_t(const DefinedBlock&)> price_mc;           // of a row
  std::function<std::chrono::milliseconds(const DefinedBlock&)> pace;  // of a row
  std::chrono::milliseconds part_target{};                             // how long a part may take
  int window_rows = 0;  // of a block that are open at once
};

// Parts of a block that are open at once, at least, but where it works in order.
inline constexpr int kPartWindowMin = 16;
// Parts that a file is cut into at most, unless parts of kPartRowsMax rows are more: they become
// larger while the run goes on (store/jobs/keeper.h), and before that each is stored.
inline constexpr int kFilePartsMax = 65'536;
// Rows of a part of a file of so many rows that it would have more.
int PartRowsOfMany(std::int64_t rows);

// Rows of a part, as the slowest block wants them: 1 to kPartRowsMax.
int PartRowsOf(const Definition& definition, const PlanRules& rules);

RunPlan PlanRun(const Definition& definition, const RunSource& source, int part_rows,
                const PlanRules& rules);

}  // namespace vedette::domain
