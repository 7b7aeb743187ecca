#include "domain/workflow/run_graph.h"

#include <map>
#include <stdexcept>

#include "domain/workflow/block_types.h"

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

}  // namespace vedette::domain
