// Whatever a client sends as the definition of a workflow: it is refused with what is wrong, or is
// a tree whose blocks stand behind their inputs, reads back as itself after it was stored, and
// whose blocks work on rows or say why they cannot. The same text is read as a record of a payload.
#include <string>

#include "base/json.h"
#include "domain/workflow/definition.h"
#include "domain/workflow/payload.h"
#include "tests/fuzz/target.h"

namespace vedette::domain {
namespace {

DefinitionRules Rules(int* made) {
  return {[](const std::string& url) -> std::optional<std::string> {
            if (url.starts_with("https://")) return std::nullopt;
            return "the scheme must be https";
          },
          [made] { return "made-" + std::to_string(++*made); }};
}

// The columns of a block's output, and what it does to a row; empty where it cannot be bound.
std::optional<Columns> Work(const DefinedBlock& block, const Columns& input) {
  try {
    Columns output = block.type->bind(block.specs, input);
    if (block.type->make != nullptr) {
      const auto function = block.type->make(block.specs, input);
      const auto row = function->Apply(Cells(input.size(), "1"));
      fuzz::Require(!row || row->size() <= output.size());
    }
    return output;
  } catch (const BindError& error) {
    fuzz::Require(error.what()[0] != '\0');
    return std::nullopt;
  }
}

void Use(const Definition& definition) {
  fuzz::Require(!definition.blocks.empty() && definition.blocks.size() <= 50);
  const base::Json stored = DefinitionJson(definition);
  fuzz::Require(DefinitionJson(ReadStoredDefinition(base::DumpJson(stored))) == stored);
  std::vector<std::optional<Columns>> outputs;
  for (std::size_t i = 0; i < definition.blocks.size(); ++i) {
    const DefinedBlock& block = definition.blocks[i];
    fuzz::Require(block.input.has_value() == (i > 0));
    fuzz::Require(i == 0 || static_cast<std::size_t>(*block.input) < i);
    const std::optional<Columns> input =
        i == 0 ? Columns{"name", "email"} : outputs[static_cast<std::size_t>(*block.input)];
    outputs.push_back(input ? Work(block, *input) : std::nullopt);
  }
}

void ReadAsRecord(std::string_view text) {
  PayloadReader reader(base::Json({{"name", base::Json::object()}}), 4);
  for (int i = 0; i < 2; ++i) {
    if (reader.Take(text)) return;
  }
  std::size_t rows = 0;
  for (const RowsPart& part : reader.Finish()) {
    fuzz::Require(part.rows_json.starts_with('[') && part.rows_json.ends_with(']'));
    rows += static_cast<std::size_t>(part.row_count);
  }
  fuzz::Require(rows == 2 && reader.columns().size() <= kColumnsMax);
}

}  // namespace

FUZZ_TARGET(definition, bytes) {
  const std::string text(bytes);
  ReadAsRecord(text);
  base::Json json;
  if (base::ParseJson(text, &json, {.values_max = 65'536})) return;
  int made = 0;
  const auto read = ReadDefinition(json, base::Json::array({"body"}), Rules(&made));
  if (const auto* definition = std::get_if<Definition>(&read)) {
    Use(*definition);
    return;
  }
  const auto& faults = std::get<ValidationFaults>(read);
  fuzz::Require(!faults.empty());
  for (const ValidationFault& fault : faults) {
    fuzz::Require(!fault.type.empty() && !fault.msg.empty() && fault.loc.is_array());
  }
}

}  // namespace vedette::domain
