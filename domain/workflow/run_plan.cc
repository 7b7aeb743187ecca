#include "domain/workflow/run_plan.h"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "domain/monitor/chunk_plan.h"
#include "domain/workflow/block_type.h"
#include "domain/workflow/payload.h"

namespace vedette::domain {

using base::Json;

// A definition stands deeper in the params than what a request puts over its specs stood in the
// request.
constexpr int kParamsDepthMax = base::JsonLimits().depth_max + 8;

std::string RunParamsJson(const Json& definition, Frame frame) {
  return base::DumpJson({{"definition", definition}, {"dataframe_type", FrameName(frame)}});
}

RunGraph ReadRunGraph(const std::string& params_json) {
  Json params;
  if (const auto error = base::ParseJson(params_json, &params, {.depth_max = kParamsDepthMax})) {
    throw std::invalid_argument("the params of a run cannot be read: " + error->message);
  }
  RunGraph graph;
  graph.frame = params.at("dataframe_type").get<std::string>();
  const Json& definition = params.at("definition");
  std::map<std::string, int> places;
  for (const Json& block : definition.at("blocks")) {
    ShownBlock& shown = graph.blocks.emplace_back();
    shown.id = block.at("block_id").get<std::string>();
    shown.name = block.at("block_name").get<std::string>();
    shown.sequence_number = block.at("sequence_number").get<int>();
    places.emplace(shown.id, static_cast<int>(places.size()));
  }
  for (const Json& edge : definition.at("edges")) {
    const int to = places.at(edge.at("to_block_id").get<std::string>());
    graph.blocks[static_cast<std::size_t>(to)].input =
        places.at(edge.at("from_block_id").get<std::string>());
  }
  return graph;
}

int RowsOf(const RunGraph& graph, int block) {
  const ShownBlock& shown = graph.blocks.at(static_cast<std::size_t>(block));
  const BlockType* type = FindBlockType(shown.name);
  const bool at_end = type != nullptr && type->work == BlockWork::kAtEnd;
  return at_end ? shown.input.value_or(block) : block;
}

bool DropsRows(const ShownBlock& block) {
  const BlockType* type = FindBlockType(block.name);
  return type != nullptr && type->drops_rows;
}

std::vector<int> LeavesOf(const RunGraph& graph) {
  std::vector<bool> has_consumer(graph.blocks.size());
  for (const ShownBlock& block : graph.blocks) {
    if (block.input) has_consumer[static_cast<std::size_t>(*block.input)] = true;
  }
  std::vector<int> leaves;
  for (std::size_t i = 0; i < graph.blocks.size(); ++i) {
    if (!has_consumer[i]) leaves.push_back(static_cast<int>(i));
  }
  return leaves;
}

namespace {

// Pieces of a file that are open at once, at most.
constexpr int kUnitWindow = 4;

int WindowOf(const BlockType& type, int part_rows, int window_rows) {
  switch (type.work) {
    case BlockWork::kDedupe:
    case BlockWork::kMonitor:
    case BlockWork::kAtEnd:
      return 1;
    case BlockWork::kReadsFile:
      return kUnitWindow;
    case BlockWork::kGiven:
    case BlockWork::kRowFunction:
    case BlockWork::kResearch:
    case BlockWork::kLookup:
      break;
  }
  return std::max(kPartWindowMin, window_rows / part_rows);
}

int PartsOf(const BlockType& type, const RunSource& source) {
  if (type.work == BlockWork::kAtEnd) return 0;
  return type.work == BlockWork::kReadsFile ? source.units.value_or(0) : source.parts;
}

// Throws BindError.
Columns Bind(const DefinedBlock& block, const Columns& input) {
  Columns output = block.type->bind(block.specs, input);
  if (output.size() > kColumnsMax) {
    throw BindError(fmt::format("the block would have {} columns, at most {} are possible",
                                output.size(), kColumnsMax));
  }
  return output;
}

}  // namespace

int PartRowsOf(const Definition& definition, const PlanRules& rules) {
  std::chrono::milliseconds slowest{0};
  for (const DefinedBlock& block : definition.blocks) {
    slowest = std::max(slowest, rules.pace(block));
  }
  if (slowest.count() == 0) return kPartRowsMax;
  return ChunkRowsFor(slowest, rules.part_target, kPartRowsMax);
}

int PartRowsOfMany(std::int64_t rows) {
  return static_cast<int>(
      std::clamp<std::int64_t>((rows + kFilePartsMax - 1) / kFilePartsMax, 1, kPartRowsMax));
}

RunPlan PlanRun(const Definition& definition, const RunSource& source, int part_rows,
                const PlanRules& rules) {
  RunPlan plan;
  for (std::size_t i = 0; i < definition.blocks.size(); ++i) {
    const DefinedBlock& block = definition.blocks[i];
    const PlannedBlock* before =
        block.input ? &plan.blocks[static_cast<std::size_t>(*block.input)] : nullptr;
    PlannedBlock planned;
    planned.type = block.type;
    planned.input = block.input;
    planned.price_mc = rules.price_mc(block);
    planned.pace = rules.pace(block);
    planned.parts_total = PartsOf(*block.type, source);
    planned.part_window = WindowOf(*block.type, part_rows, rules.window_rows);
    planned.bound = {block.id, block.specs, before != nullptr ? before->output : source.columns};
    try {
      if (!plan.fault) planned.output = Bind(block, planned.bound.input);
    } catch (const BindError& error) {
      plan.fault = BindFault{static_cast<int>(i), error.what()};
    }
    plan.estimate_mc += source.rows * planned.price_mc;
    plan.blocks.push_back(std::move(planned));
  }
  if (plan.fault) plan.estimate_mc = 0;  // nothing is worked on
  return plan;
}

}  // namespace vedette::domain
