#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "domain/json_schema.h"
#include "domain/workflow/block_type.h"

namespace vedette::domain {

// A block, as the check sees it whether blocks and edges are a tree with one source.
struct GraphNode {
  std::string id;
  int sequence_number = 0;
  std::optional<BlockCategory> category;  // empty: of an unknown block
};

// Validates the edges of nodes, in stages: the source, each edge, then the paths. Pure.
class GraphJudge {
 public:
  // `edges`: array of {from_block_id, to_block_id, condition}. `loc`: where the definition stands.
  // All three outlive this object.
  GraphJudge(const std::vector<GraphNode>& nodes, const base::Json& edges, const base::Json& loc);

  // Once. Nothing is wrong: the nodes are a tree.
  ValidationFaults Judge();

  // The order of a tree: places of nodes, each behind its input. The one with the lowest sequence
  // number comes first where several may come next.
  const std::vector<std::size_t>& order() const { return order_; }
  std::optional<std::size_t> input(std::size_t node) const { return inputs_[node]; }

 private:
  void JudgeSources();
  void JudgeEdges();
  void JudgePaths();
  bool EndsAtASource(std::size_t node, std::vector<std::size_t>* cycle) const;
  void Order();
  std::optional<std::size_t> NodeOf(std::size_t edge, const char* end);
  bool Is(std::size_t node, BlockCategory category) const {
    return nodes_[node].category == category;
  }
  void Add(const char* list, std::size_t index, const char* member, std::string type,
           std::string msg, base::Json input = nullptr);

  const std::vector<GraphNode>& nodes_;
  const base::Json& edges_;
  const base::Json& loc_;
  std::map<std::string, std::size_t> places_;       // of ids
  std::vector<std::optional<std::size_t>> inputs_;  // by place
  ValidationFaults faults_;
  std::vector<std::size_t> order_;
};

}  // namespace vedette::domain
