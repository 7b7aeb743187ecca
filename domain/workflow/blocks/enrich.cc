#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/text.h"
#include "domain/monitor/row_values.h"
#include "domain/text/limits.h"
#include "domain/workflow/blocks/blocks.h"

namespace vedette::domain {
namespace {

using base::Json;

constexpr std::string_view kSchema = R"({
  "type": "object", "additionalProperties": false, "required": ["struct"],
  "properties": {
    "struct": {"type": "object", "minProperties": 1, "maxProperties": 64,
      "additionalProperties": {"type": "string", "minLength": 1, "maxLength": 10000},
      "description": "Field name, of at most 200 characters with output_prefix, to a description of what to find."},
    "tier": {"type": "string", "enum": ["micro", "low", "medium", "high", "xhigh"],
      "default": "low", "description": "micro and high need the feature high_tier, xhigh needs xhigh."},
    "research_plan": {"type": ["string", "null"], "maxLength": 20000, "default": null},
    "overwrite": {"type": "boolean", "default": false,
      "description": "Whether a value that a row has already is replaced."},
    "output_prefix": {"type": "string", "maxLength": 50, "default": "",
      "description": "Stands before the name of each added column."}
  }
})";

// Asked of web pages or models, which takes this long.
constexpr std::chrono::milliseconds kPace{5000};

Columns Bind(const Json& specs, const Columns& input) {
  return PlanEnrich(specs, input).output;
}

std::optional<SpecFault> Validate(const Json& specs) {
  return ValidateFields(specs.at("struct"),
                        specs.at("output_prefix").get_ref<const std::string&>());
}

constexpr BlockType Enrich(std::string_view name, std::string_view description, Frame takes) {
  BlockType type;
  type.name = name;
  type.description = description;
  type.specs_schema = kSchema;
  type.category = BlockCategory::kEnrich;
  type.work = BlockWork::kResearch;
  type.lane = Lane::kResearch;
  type.takes = takes;
  type.pace = kPace;
  type.price = BlockPrice::kTier;
  type.bind = Bind;
  type.validate = Validate;
  return type;
}

}  // namespace

std::optional<SpecFault> ValidateFields(const Json& fields, std::string_view prefix) {
  const std::size_t prefix_chars = base::CountCharacters(prefix);
  for (const auto& [name, description] : fields.items()) {
    if (name.empty()) {
      return SpecFault{Json::array({"struct"}), "string_too_short", "A field has a name"};
    }
    const std::size_t chars_max = kColumnCharsMax - prefix_chars;
    if (base::CountCharacters(name) > chars_max) {
      return SpecFault{Json::array({"struct", base::CutCharacters(name, chars_max)}),
                       "string_too_long",
                       fmt::format("A field's name has 1 to {} characters{}", kColumnCharsMax,
                                   prefix.empty() ? "" : " with output_prefix before it"),
                       nullptr,
                       {{"max_length", chars_max}}};
    }
    if (IsBlank(description.get_ref<const std::string&>())) {
      return SpecFault{Json::array({"struct", name}), "string_too_short",
                       "The description should not be empty"};
    }
  }
  return std::nullopt;
}

EnrichPlan PlanEnrich(const Json& specs, const Columns& input) {
  EnrichPlan plan;
  plan.input = input;
  plan.output = input;
  for (const std::string& name : input) plan.keys.push_back(base::DumpJson(name) + ':');
  plan.tier = ParseTier(specs.at("tier").get_ref<const std::string&>()).value_or(Tier::kLow);
  if (specs.at("research_plan").is_string()) {
    plan.research_plan = specs.at("research_plan").get<std::string>();
  }
  if (specs.at("overwrite").get<bool>()) plan.present = EnrichPlan::Present::kOverwrite;
  const auto& prefix = specs.at("output_prefix").get_ref<const std::string&>();
  for (const auto& [name, description] : specs.at("struct").items()) {
    plan.fields.push_back({name, description.get<std::string>()});
    plan.field_at.push_back(PlaceOf(prefix + name, &plan.output));
  }
  plan.sources_at = PlaceOf(prefix + "enrich_sources", &plan.output);
  plan.confidence_at = PlaceOf(prefix + "enrich_confidence", &plan.output);
  plan.error_at = PlaceOfError(prefix + "enrich_error", &plan.output);
  return plan;
}

std::string SubjectText(const EnrichPlan& plan, const TextCells& row) {
  std::string subject = "{";
  for (std::size_t i = 0; i < plan.keys.size() && i < row.size(); ++i) {
    if (!HasValue(row[i])) continue;
    if (subject.size() > 1) subject.push_back(',');
    subject.append(plan.keys[i]).append(row[i]);
  }
  return subject + '}';
}

TextCells EnrichedRow(const EnrichPlan& plan, const TextCells& row, const Observation& observed) {
  TextCells cells = Widened(row, plan.output.size());
  Json sources = Json::array();
  std::optional<double> confidence;  // the lowest of those that are told
  for (std::size_t i = 0; i < plan.fields.size(); ++i) {
    const auto found = observed.fields.find(plan.fields[i].name);
    if (found == observed.fields.end()) continue;
    const FieldObservation& field = found->second;
    std::string& cell = cells.at(plan.field_at[i]);
    const bool keeps = plan.present == EnrichPlan::Present::kKeep && HasValue(cell);
    if (!keeps) cell = base::DumpJson(Storable(field.value.Value()));
    for (const std::string& source : field.sources) {
      const Json storable = Storable(source);
      if (std::find(sources.begin(), sources.end(), storable) == sources.end()) {
        sources.push_back(storable);
      }
    }
    if (field.confidence)
      confidence = std::min(*field.confidence, confidence.value_or(*field.confidence));
  }
  cells.at(plan.sources_at) = sources.empty() ? std::string(kNullCell) : base::DumpJson(sources);
  cells.at(plan.confidence_at) = confidence ? base::DumpJson(*confidence) : std::string(kNullCell);
  return cells;
}

TextCells FailedRow(const EnrichPlan& plan, const TextCells& row, const std::string& error) {
  TextCells cells = Widened(row, plan.output.size());
  cells.at(plan.error_at) = base::DumpJson(Storable(error));
  return cells;
}

const BlockType kEnrichLeadBlock =
    Enrich("enrich_lead", "Finds out about the person of each row what its struct asks for.",
           Frame::kLead);

const BlockType kEnrichCompanyBlock =
    Enrich("enrich_company", "Finds out about the company of each row what its struct asks for.",
           Frame::kCompany);

}  // namespace vedette::domain
