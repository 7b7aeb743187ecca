#include "domain/workflow/definition.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/json.h"
#include "domain/text/json_schema.h"
#include "domain/workflow/block_type.h"

namespace vedette::domain {

// A block, as the check sees it whether blocks and edges are a tree with one source.
struct GraphNode {
  std::string id;
  int sequence_number = 0;
  std::optional<BlockCategory> category;  // empty: of an unknown block
};

// Validates the edges of nodes, in stages: the source, each edge, then the paths. Pure.
class GraphValidator {
 public:
  // `edges`: array of {from_block_id, to_block_id, condition}. `loc`: where the definition stands.
  // All three outlive this object.
  GraphValidator(const std::vector<GraphNode>& nodes, const base::Json& edges,
                 const base::Json& loc);

  // Once. Nothing is wrong: the nodes are a tree.
  ValidationFaults Validate();

  // The order of a tree: places of nodes, each behind its input. The one with the lowest sequence
  // number comes first where several may come next.
  const std::vector<std::size_t>& order() const { return order_; }
  std::optional<std::size_t> input(std::size_t node) const { return inputs_[node]; }

 private:
  void CheckSources();
  void CheckEdges();
  void CheckPaths();
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
  bool has_source_ = false;
  ValidationFaults faults_;
  std::vector<std::size_t> order_;
};

using base::Json;

GraphValidator::GraphValidator(const std::vector<GraphNode>& nodes, const Json& edges,
                               const Json& loc)
    : nodes_(nodes), edges_(edges), loc_(loc), inputs_(nodes.size()) {
  for (std::size_t i = 0; i < nodes.size(); ++i) places_.emplace(nodes[i].id, i);
}

void GraphValidator::Add(const char* list, std::size_t index, const char* member, std::string type,
                         std::string msg, Json input) {
  Json loc = LocOf(LocOf(loc_, list), index);
  if (member != nullptr) loc.push_back(member);
  faults_.push_back({std::move(loc), std::move(type), std::move(msg), std::move(input)});
}

ValidationFaults GraphValidator::Validate() {
  CheckSources();
  CheckEdges();
  if (faults_.empty()) CheckPaths();
  if (faults_.empty()) Order();
  return faults_;
}

void GraphValidator::CheckSources() {
  // A source that nobody knows may be the one.
  const bool all_known = std::all_of(nodes_.begin(), nodes_.end(),
                                     [](const GraphNode& node) { return node.category; });
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (!Is(i, BlockCategory::kSource)) continue;
    if (has_source_) {
      Add("blocks", i, nullptr, "multiple_sources", "A workflow has exactly one source",
          nodes_[i].id);
    }
    has_source_ = true;
  }
  if (has_source_ || !all_known) return;
  faults_.push_back(
      {LocOf(loc_, "blocks"), "no_source", "A workflow has exactly one source, this one has none"});
}

std::optional<std::size_t> GraphValidator::NodeOf(std::size_t edge, const char* end) {
  const Json& id = edges_[edge].at(end);
  const auto place = places_.find(id.get_ref<const std::string&>());
  if (place != places_.end()) return place->second;
  Add("edges", edge, end, "unknown_block_id", "No block has this block_id", id);
  return std::nullopt;
}

void GraphValidator::CheckEdges() {
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
bool GraphValidator::EndsAtASource(std::size_t node, std::vector<std::size_t>* cycle) const {
  std::vector<std::size_t> path;
  for (std::optional<std::size_t> at = node; at; at = inputs_[*at]) {
    const auto before = std::find(path.begin(), path.end(), *at);
    if (before != path.end()) {
      cycle->assign(before, path.end());
      return false;
    }
    path.push_back(*at);
  }
  // An unknown block is the source where there is no other.
  return Is(path.back(), BlockCategory::kSource) || (!has_source_ && !nodes_[path.back()].category);
}

void GraphValidator::CheckPaths() {
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

void GraphValidator::Order() {
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

namespace {

constexpr std::string_view kSchema = R"({
  "type": "object", "additionalProperties": false, "required": ["blocks", "edges"],
  "properties": {
    "blocks": {"type": "array", "minItems": 1, "maxItems": 50,
      "items": {"type": "object", "additionalProperties": false,
        "required": ["sequence_number", "block_name", "specs"],
        "properties": {
          "sequence_number": {"type": "integer", "minimum": 0, "maximum": 1000000},
          "block_name": {"type": "string"},
          "specs": {"type": "object"},
          "block_type": {"type": ["string", "null"], "default": null},
          "block_id": {"type": ["string", "null"], "minLength": 1, "maxLength": 64, "default": null}
        }}},
    "edges": {"type": "array", "maxItems": 2500,
      "items": {"type": "object", "additionalProperties": false,
        "required": ["from_block_id", "to_block_id"],
        "properties": {
          "from_block_id": {"type": "string"}, "to_block_id": {"type": "string"},
          "condition": {"default": null}
        }}}
  }
})";

// What a text that is quoted in a message is cut to.
constexpr std::size_t kQuotedCharsMax = 100;

std::string Cut(const std::string& text) {
  return text.size() <= kQuotedCharsMax ? text : text.substr(0, kQuotedCharsMax) + "...";
}

// Validates the blocks and edges of a definition whose shape is right.
class DefinitionValidator {
 public:
  DefinitionValidator(const Json& given, const Json& loc, const DefinitionRules& rules)
      : given_(given), loc_(loc), rules_(rules) {}

  std::variant<Definition, ValidationFaults> Validate() {
    ReadBlocks();
    CheckTypes();
    CheckDuplicates();
    CheckSpecs();
    const bool blocks_are_known = faults_.empty();
    GraphValidator graph(nodes_, given_.at("edges"), loc_);
    ValidationFaults of_graph = graph.Validate();
    const bool is_tree = of_graph.empty();
    faults_.insert(faults_.end(), std::make_move_iterator(of_graph.begin()),
                   std::make_move_iterator(of_graph.end()));
    if (is_tree && blocks_are_known) CheckFrames(graph.order().front());
    faults_.insert(faults_.end(), std::make_move_iterator(late_.begin()),
                   std::make_move_iterator(late_.end()));
    if (!faults_.empty()) return std::move(faults_);
    return Ordered(graph);
  }

 private:
  Json BlockLoc(std::size_t i) const { return LocOf(LocOf(loc_, "blocks"), i); }

  void Add(Json loc, std::string type, std::string msg, Json input, Json ctx = nullptr) {
    faults_.push_back(
        {std::move(loc), std::move(type), std::move(msg), std::move(input), std::move(ctx)});
  }

  void ReadBlocks() {
    for (const Json& given : given_.at("blocks")) {
      DefinedBlock& block = blocks_.emplace_back();
      block.sequence_number = given.at("sequence_number").get<int>();
      block.type = FindBlockType(given.at("block_name").get_ref<const std::string&>());
      block.id = given.at("block_id").is_null() ? rules_.new_id()
                                                : given.at("block_id").get<std::string>();
      block.given_specs = given.at("specs");
      block.specs = given.at("specs");
      nodes_.push_back(
          {block.id, block.sequence_number,
           block.type == nullptr ? std::nullopt : std::optional(block.type->category)});
    }
  }

  void CheckTypes() {
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      const Json& given = given_.at("blocks")[i];
      const Json& name = given.at("block_name");
      const BlockType* type = blocks_[i].type;
      if (type == nullptr) {
        Json known = Json::array();
        for (const BlockType* one : BlockTypes()) known.push_back(one->name);
        Add(LocOf(BlockLoc(i), "block_name"), "unknown_block",
            fmt::format("There is no block {}", Cut(name.get_ref<const std::string&>())), name,
            {{"known", std::move(known)}});
      }
    }
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      const Json& shown = given_.at("blocks")[i].at("block_type");
      const BlockType* type = blocks_[i].type;
      if (type == nullptr || shown.is_null() || shown == type->name ||
          shown == BlockCategoryName(type->category)) {
        continue;
      }
      Add(LocOf(BlockLoc(i), "block_type"), "block_type_mismatch",
          fmt::format("block_type should be {} or {}, or left out", type->name,
                      BlockCategoryName(type->category)),
          shown);
    }
  }

  void CheckDuplicates() {
    std::set<std::string> ids;
    std::set<int> numbers;
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      if (!ids.insert(blocks_[i].id).second) {
        Add(LocOf(BlockLoc(i), "block_id"), "duplicate", "Another block has this block_id",
            blocks_[i].id);
      }
      if (!numbers.insert(blocks_[i].sequence_number).second) {
        Add(LocOf(BlockLoc(i), "sequence_number"), "duplicate",
            "Another block has this sequence_number", blocks_[i].sequence_number);
      }
    }
  }

  void CheckSpecs() {
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      DefinedBlock& block = blocks_[i];
      if (block.type == nullptr) continue;
      const Json loc = LocOf(BlockLoc(i), "specs");
      ValidationFaults faults = ValidateBlockSpecs(*block.type, loc, &block.specs, rules_);
      for (ValidationFault& fault : faults) {
        const bool late = fault.type == "invalid_url" || fault.type == "invalid_json";
        (late ? late_ : faults_).push_back(std::move(fault));
      }
    }
  }

  // Every block keeps what the rows of the source are about.
  void CheckFrames(std::size_t source) {
    const auto frame =
        ParseFrame(blocks_[source].specs.at("dataframe_type").get_ref<const std::string&>());
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      const auto& takes = blocks_[i].type->takes;
      if (!takes || takes == frame) continue;
      Add(BlockLoc(i), "incompatible_dataframe",
          fmt::format("{} takes rows of {}, and the source gives {}", blocks_[i].type->name,
                      FrameName(*takes), FrameName(*frame)),
          nullptr,
          {{"takes", FrameName(*takes)},
           {"given", FrameName(*frame)},
           {"from_block_id", blocks_[source].id}});
    }
  }

  Definition Ordered(const GraphValidator& graph) {
    Definition definition;
    std::map<std::size_t, int> places;  // by place in what was given
    for (const std::size_t i : graph.order()) {
      DefinedBlock block = std::move(blocks_[i]);
      if (const auto input = graph.input(i)) block.input = places.at(*input);
      places[i] = static_cast<int>(definition.blocks.size());
      definition.blocks.push_back(std::move(block));
    }
    definition.frame =
        ParseFrame(
            definition.blocks.front().specs.at("dataframe_type").get_ref<const std::string&>())
            .value();
    return definition;
  }

  const Json& given_;
  const Json& loc_;
  const DefinitionRules& rules_;
  std::vector<DefinedBlock> blocks_;  // as given
  std::vector<GraphNode> nodes_;
  ValidationFaults faults_;
  ValidationFaults late_;  // those that are told last
};

// The length that is limited: a sample payload has a limit of its own.
std::size_t BytesOf(Json definition) {
  if (definition.is_object() && definition.contains("blocks")) {
    for (Json& block : definition["blocks"]) {
      if (block.is_object() && block.contains("specs") && block["specs"].is_object()) {
        block["specs"].erase("webhook_input");
      }
    }
  }
  return base::DumpJson(definition).size();
}

// The fault of specs that stand at `loc`.
ValidationFault FaultAt(const Json& loc, SpecFault fault) {
  Json at = loc;
  for (const Json& step : fault.at) at.push_back(step);
  return {std::move(at), std::move(fault.type), std::move(fault.msg), std::move(fault.input),
          std::move(fault.ctx)};
}

// Parsed once: every run and every block of it is checked by it.
const Json& SpecsSchemaOf(const BlockType& type) {
  static const std::map<std::string_view, Json> schemas = [] {
    std::map<std::string_view, Json> by_name;
    for (const BlockType* one : BlockTypes()) {
      by_name.emplace(one->name, base::ParseJsonOrThrow(one->specs_schema));
    }
    return by_name;
  }();
  return schemas.at(type.name);
}

}  // namespace

ValidationFaults ValidateBlockSpecs(const BlockType& type, const Json& loc, Json* specs,
                                    const DefinitionRules& rules) {
  ValidationFaults faults;
  ApplySchema(SpecsSchemaOf(type), loc, specs, &faults);
  if (!faults.empty()) return faults;
  if (type.validate != nullptr) {
    if (auto fault = type.validate(*specs)) faults.push_back(FaultAt(loc, std::move(*fault)));
  }
  if (type.validate_finders != nullptr && rules.finders) {
    for (SpecFault& fault : type.validate_finders(*specs, *rules.finders)) {
      faults.push_back(FaultAt(loc, std::move(fault)));
    }
  }
  if (type.url_member.empty()) return faults;
  const Json& url = specs->at(std::string(type.url_member));
  if (url.is_null()) return faults;
  if (auto problem = rules.url_fault(url.get_ref<const std::string&>())) {
    faults.push_back({LocOf(loc, type.url_member), "invalid_url", std::move(*problem), url});
  }
  return faults;
}

namespace {

std::variant<Definition, ValidationFaults> Read(const Json& given, const Json& loc,
                                                const DefinitionRules& rules,
                                                std::size_t bytes_max) {
  static const Json schema = base::ParseJsonOrThrow(kSchema);
  ValidationFaults faults;
  Json whole = given;
  ApplySchema(schema, loc, &whole, &faults);
  const std::size_t bytes = BytesOf(given);
  if (bytes > bytes_max) {
    faults.push_back(
        {loc,
         "too_long",
         fmt::format("A definition should have at most {} bytes as JSON, has {}", bytes_max, bytes),
         nullptr,
         {{"max_length", bytes_max}}});
  }
  if (!faults.empty()) {
    // Lengths are told first.
    std::stable_partition(faults.begin(), faults.end(), [](const ValidationFault& fault) {
      return fault.type == "too_short" || fault.type == "too_long";
    });
    return faults;
  }
  return DefinitionValidator(whole, loc, rules).Validate();
}

}  // namespace

std::variant<Definition, ValidationFaults> ReadDefinition(const Json& given, const Json& loc,
                                                          const DefinitionRules& rules) {
  return Read(given, loc, rules, kDefinitionBytesMax);
}

Json DefinitionJson(const Definition& definition) {
  Json blocks = Json::array();
  Json edges = Json::array();
  for (const DefinedBlock& block : definition.blocks) {
    blocks.push_back({{"sequence_number", block.sequence_number},
                      {"block_name", block.type->name},
                      {"block_type", block.type->name},
                      {"block_id", block.id},
                      {"specs", block.given_specs}});
    if (!block.input) continue;
    edges.push_back(
        {{"from_block_id", definition.blocks[static_cast<std::size_t>(*block.input)].id},
         {"to_block_id", block.id},
         {"condition", nullptr}});
  }
  return {{"blocks", std::move(blocks)}, {"edges", std::move(edges)}};
}

Definition ReadStoredDefinition(const std::string& json) {
  // Its addresses were checked when it was stored, and are again when something is sent to them.
  const DefinitionRules rules{[](const std::string&) { return std::nullopt; },
                              [] { return std::string(); }};
  // Stored, it is longer than it was given: ids and types are filled in.
  auto read =
      Read(base::ReadJsonCell(json), Json::array(), rules, std::numeric_limits<std::size_t>::max());
  if (auto* definition = std::get_if<Definition>(&read)) return std::move(*definition);
  throw std::invalid_argument("a stored workflow cannot be read: " +
                              std::get<ValidationFaults>(read).front().type);
}

}  // namespace vedette::domain
