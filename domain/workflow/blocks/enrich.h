#pragma once

#include <optional>
#include <string>
#include <vector>

#include "domain/monitor/enums.h"
#include "domain/monitor/observation.h"
#include "domain/workflow/cells.h"

// What the blocks enrich_lead and enrich_company ask about a row, and where the answer goes. Pure.
namespace vedette::domain {

struct EnrichPlan {
  Columns input;
  std::vector<std::string> keys;  // of `input`, each as a member of an object begins: "name":
  Columns output;
  Tier tier = Tier::kLow;
  std::vector<WatchedField> fields;
  std::optional<std::string> research_plan;
  enum class Present { kKeep, kOverwrite } present = Present::kKeep;  // a value that is there
  // Places in the output.
  std::vector<std::size_t> field_at;  // of `fields`
  std::size_t sources_at = 0;
  std::size_t confidence_at = 0;
  std::size_t error_at = 0;
};
// `specs` are whole.
EnrichPlan PlanEnrich(const base::Json& specs, const Columns& input);

// The row's values by column, as the probe is told them: the text of an object, in which each value
// is as the row has it. Throws std::invalid_argument for a cell that cannot be read.
std::string SubjectText(const EnrichPlan& plan, const TextCells& row);
// The row with what was observed; its error is null.
TextCells EnrichedRow(const EnrichPlan& plan, const TextCells& row, const Observation& observed);
// The row as it was, with its error.
TextCells FailedRow(const EnrichPlan& plan, const TextCells& row, const std::string& error);

}  // namespace vedette::domain
