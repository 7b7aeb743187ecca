#include "domain/workflow/graph.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <set>
#include <utility>

namespace vedette::domain {

using base::Json;

GraphJudge::GraphJudge(const std::vector<GraphNode>& nodes, const Json& edges, const Json& loc)
    : nodes_(nodes), edges_(edges), loc_(loc), inputs_(nodes.size()) {
  for (std::size_t i = 0; i < nodes.size(); ++i) places_.emplace(nodes[i].id, i);
}

void GraphJudge::Add(const char* list, std::size_t index, const char* member, std::string type,
                     std::string msg, Json input) {
  Json loc = LocOf(LocOf(loc_, list), index);
  if (member != nullptr) loc.push_back(member);
  faults_.push_back({std::move(loc), std::move(type), std::move(msg), std::move(input)});
}

ValidationFaults GraphJudge::Judge() {
  JudgeSources();
  JudgeEdges();
  if (faults_.empty()) JudgePaths();
  if (faults_.empty()) Order();
  return faults_;
}

void GraphJudge::JudgeSources() {
  // A source that nobody knows may be the one.
  const bool all_known = std::all_of(nodes_.begin(), nodes_.end(),
                                     [](const GraphNode& node) { return node.category; });
  bool found = false;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (!Is(i, BlockCategory::kSource)) continue;
    if (found) {
      Add("blocks", i, nullptr, "multiple_sources", "A workflow has exactly one source",
          nodes_[i].id);
    }
    found = true;
  }
  if (found || !all_known) return;
  faults_.push_back(
      {LocOf(loc_, "blocks"), "no_source", "A workflow has exactly one source, this one has none"});
}

std::optional<std::size_t> GraphJudge::NodeOf(std::size_t edge, const char* end) {
  const Json& id = edges_[edge].at(end);
  const auto place = places_.find(id.get_ref<const std::string&>());
  if (place != places_.end()) return place->second;
  Add("edges", edge, end, "unknown_block_id", "No block has this block_id", id);
  return std::nullopt;
}

void GraphJudge::JudgeEdges() {
  struct Edge {
    std::optional<std::size_t> from, to;
  };
  std::vector<Edge> ends;
  for (std::size_t i = 0; i < edges_.size(); ++i) {
    const auto from = NodeOf(i, "from_block_id");
    ends.push_back({from, NodeOf(i, "to_block_id")});
  }
  std::set<std::pair<std::string, std::string>> seen;
  std::vector<bool> is_new(edges_.size());
  for (std::size_t i = 0; i < edges_.size(); ++i) {
    is_new[i] = seen.emplace(edges_[i].at("from_block_id").get<std::string>(),
                             edges_[i].at("to_block_id").get<std::string>())
                    .second;
    if (!is_new[i]) Add("edges", i, nullptr, "duplicate_edge", "This edge is there twice");
  }
  for (std::size_t i = 0; i < edges_.size(); ++i) {
    const Json& condition = edges_[i].at("condition");
    if (condition.is_null()) continue;
    Add("edges", i, "condition", "condition_reserved", "Edges have no conditions yet: leave it out",
        condition);
  }
  for (std::size_t i = 0; i < edges_.size(); ++i) {
    if (!ends[i].to || !Is(*ends[i].to, BlockCategory::kSource)) continue;
    Add("edges", i, "to_block_id", "edge_into_source", "A source has no input",
        nodes_[*ends[i].to].id);
  }
  for (std::size_t i = 0; i < edges_.size(); ++i) {
    if (!ends[i].from || !Is(*ends[i].from, BlockCategory::kOutput)) continue;
    Add("edges", i, "from_block_id", "edge_from_output", "Nothing follows an output",
        nodes_[*ends[i].from].id);
  }
  for (std::size_t i = 0; i < edges_.size(); ++i) {
    if (!ends[i].from || !ends[i].to || !is_new[i]) continue;
    auto& input = inputs_[*ends[i].to];
    if (input) {
      Add("edges", i, "to_block_id", "multiple_inputs", "A block has one input",
          nodes_[*ends[i].to].id);
    } else {
      input = ends[i].from;
    }
  }
}

// Follows the inputs. False where they lead nowhere or in a circle, which is then in `cycle`.
bool GraphJudge::EndsAtASource(std::size_t node, std::vector<std::size_t>* cycle) const {
  std::vector<std::size_t> path;
  for (std::optional<std::size_t> at = node; at; at = inputs_[*at]) {
    const auto before = std::find(path.begin(), path.end(), *at);
    if (before != path.end()) {
      cycle->assign(before, path.end());
      return false;
    }
    path.push_back(*at);
  }
  return Is(path.back(), BlockCategory::kSource);
}

void GraphJudge::JudgePaths() {
  std::set<std::size_t> in_cycles;
  std::vector<std::size_t> lost;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    std::vector<std::size_t> cycle;
    if (EndsAtASource(i, &cycle)) continue;
    const bool is_new = std::any_of(cycle.begin(), cycle.end(), [&](std::size_t node) {
      return in_cycles.insert(node).second;
    });
    in_cycles.insert(cycle.begin(), cycle.end());
    if (is_new) {
      const std::size_t first = *std::min_element(cycle.begin(), cycle.end());
      Add("blocks", first, nullptr, "cycle", "The block comes after itself", nodes_[first].id);
    }
    lost.push_back(i);
  }
  for (const std::size_t i : lost) {
    if (in_cycles.contains(i)) continue;
    Add("blocks", i, nullptr, "unreachable", "No path leads from the source to the block",
        nodes_[i].id);
  }
}

void GraphJudge::Order() {
  // By sequence number, the lowest first.
  using Next = std::pair<int, std::size_t>;
  std::priority_queue<Next, std::vector<Next>, std::greater<>> next;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (!inputs_[i]) next.emplace(nodes_[i].sequence_number, i);
  }
  while (!next.empty()) {
    const std::size_t node = next.top().second;
    next.pop();
    order_.push_back(node);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (inputs_[i] == node) next.emplace(nodes_[i].sequence_number, i);
    }
  }
}

}  // namespace vedette::domain
