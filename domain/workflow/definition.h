#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json.h"
#include "domain/email/finders.h"
#include "domain/text/json_schema.h"
#include "domain/workflow/block_type.h"

// The graph of a workflow: a tree of blocks with one source, in which every other block has one
// input. Pure.
//
//   source --> block --> block --> leaf
//                 \---> leaf
namespace vedette::domain {

// The most bytes of a definition as JSON, without the sample payload of its source.
inline constexpr std::size_t kDefinitionBytesMax = 256 * 1024;

struct DefinedBlock {
  std::string id;
  int sequence_number = 0;
  const BlockType* type = nullptr;
  base::Json given_specs;      // as the client gave them
  base::Json specs;            // with the defaults
  std::optional<int> input{};  // the place of the block before it; empty for the source
};

struct Definition {
  Frame frame = Frame::kLead;        // what its source says
  std::vector<DefinedBlock> blocks;  // topologically, of several that may come next the one with
                                     // the lowest sequence number; the source is the first
};

struct DefinitionRules {
  // What is wrong with an address of the client's, if anything: a sentence.
  std::function<std::optional<std::string>(const std::string& url)> url_fault;
  // Makes the id of a block that has none.
  std::function<std::string()> new_id;
  // The providers that blocks may name to find addresses. Without them they are not checked: a
  // stored definition may name one that is configured no more, which the run passes over.
  std::optional<KnownFinders> finders{};
};

// Validates a definition that stands at `loc`, which is gone over:
//   {"blocks": [{"sequence_number", "block_name", "specs", "block_type"?, "block_id"?}],
//    "edges": [{"from_block_id", "to_block_id", "condition"?}]}
// Gives the graph or everything that is wrong, by stages: the shape; then, where that is right, the
// blocks, their specs and the edges; what depends on a graph without such faults (cycle,
// unreachable, incompatible_dataframe) is looked for where there are none in it.
std::variant<Definition, ValidationFaults> ReadDefinition(const base::Json& given,
                                                          const base::Json& loc,
                                                          const DefinitionRules& rules);

// Validates the specs of a block, which stand at `loc`, and fills in their defaults.
ValidationFaults ValidateBlockSpecs(const BlockType& type, const base::Json& loc, base::Json* specs,
                                    const DefinitionRules& rules);

// What is stored and shown, with every id and type filled in: ReadDefinition gives the same graph
// for it.
base::Json DefinitionJson(const Definition& definition);

// A definition that was stored. Throws std::invalid_argument where this version cannot read it, as
// where it has a block of a later one.
Definition ReadStoredDefinition(const std::string& json);

}  // namespace vedette::domain
