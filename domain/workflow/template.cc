#include "domain/workflow/template.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "domain/workflow/block_type.h"

namespace vedette::domain {
namespace {

using base::Json;

constexpr std::pair<std::string_view, std::string_view> kFiles[] = {
#include "workflow_templates.inc"
};

constexpr std::string_view kSchema = R"({
  "type": "object", "additionalProperties": false,
  "required": ["slug", "name", "description", "category", "difficulty", "estimated_time",
    "use_case", "blocks", "edges"],
  "properties": {
    "slug": {"type": "string", "minLength": 1, "maxLength": 100},
    "name": {"type": "string", "minLength": 1, "maxLength": 200},
    "description": {"type": "string", "maxLength": 10000},
    "category": {"type": "string", "minLength": 1, "maxLength": 100},
    "difficulty": {"type": "string", "minLength": 1, "maxLength": 100},
    "estimated_time": {"type": "string", "minLength": 1, "maxLength": 100},
    "use_case": {"type": "string", "minLength": 1, "maxLength": 2000},
    "author_name": {"type": "string", "maxLength": 200, "default": ""},
    "tags": {"type": "array", "maxItems": 20, "default": [],
      "items": {"type": "string", "minLength": 1, "maxLength": 100}},
    "featured": {"type": "boolean", "default": false},
    "internal": {"type": "boolean", "default": false},
    "blocks": {"type": "array"},
    "edges": {"type": "array"}
  }
})";

// When the shipped ones were last written.
constexpr std::string_view kShippedAt = "2026-11-22T00:00:00Z";

bool IsSlug(const std::string& text) {
  const auto may = [](char c) {
    return (c >= 'a' && c <= 'z') || base::IsAsciiDigit(c) || c == '-';
  };
  return std::all_of(text.begin(), text.end(), may) && !base::Uuid::Parse(text);
}

bool HasAllBlocks(const WorkflowTemplate& shown) {
  const Json& blocks = shown.definition.at("blocks");
  return std::all_of(blocks.begin(), blocks.end(), [](const Json& block) {
    return FindBlockType(block.at("block_name").get_ref<const std::string&>()) != nullptr;
  });
}

std::vector<WorkflowTemplate> ReadShipped() {
  const base::Uuid name_space = base::Uuid::Parse(kTemplateNamespace).value();
  std::vector<WorkflowTemplate> shipped;
  for (const auto& [file, text] : kFiles) {
    WorkflowTemplate shown = ReadStoredTemplate(base::ParseJsonOrThrow(text));
    if (!HasAllBlocks(shown)) continue;
    shown.id = base::Uuid::V5(name_space, shown.slug);
    shown.created_at = base::ParseTimestamp(kShippedAt);
    shown.updated_at = shown.created_at;
    shipped.push_back(std::move(shown));
  }
  return shipped;
}

}  // namespace

std::variant<WorkflowTemplate, ValidationFaults> ReadTemplate(const Json& document, const Json& loc,
                                                              const DefinitionRules& rules) {
  ValidationFaults faults;
  Json whole = document;
  ApplySchema(base::ParseJsonOrThrow(kSchema), loc, &whole, &faults);
  if (!faults.empty()) return faults;
  if (!IsSlug(whole.at("slug").get_ref<const std::string&>())) {
    faults.push_back({LocOf(loc, "slug"), "invalid_slug",
                      "A slug has the characters a to z, 0 to 9 and -, and is no UUID",
                      whole.at("slug")});
  }
  const Json definition{{"blocks", whole.at("blocks")}, {"edges", whole.at("edges")}};
  auto read = ReadDefinition(definition, loc, rules);
  if (auto* wrong = std::get_if<ValidationFaults>(&read)) {
    faults.insert(faults.end(), wrong->begin(), wrong->end());
  }
  if (!faults.empty()) return faults;
  WorkflowTemplate shown = ReadStoredTemplate(whole);
  shown.definition = DefinitionJson(std::get<Definition>(read));
  return shown;
}

Json TemplateDocument(const WorkflowTemplate& shown) {
  return {{"slug", shown.slug},
          {"name", shown.name},
          {"description", shown.description},
          {"category", shown.category},
          {"difficulty", shown.difficulty},
          {"estimated_time", shown.estimated_time},
          {"use_case", shown.use_case},
          {"author_name", shown.author_name},
          {"tags", shown.tags},
          {"featured", shown.featured},
          {"internal", shown.internal},
          {"blocks", shown.definition.at("blocks")},
          {"edges", shown.definition.at("edges")}};
}

WorkflowTemplate ReadStoredTemplate(const Json& document) {
  WorkflowTemplate shown;
  shown.slug = document.at("slug").get<std::string>();
  shown.name = document.at("name").get<std::string>();
  shown.description = document.at("description").get<std::string>();
  shown.category = document.at("category").get<std::string>();
  shown.difficulty = document.at("difficulty").get<std::string>();
  shown.estimated_time = document.at("estimated_time").get<std::string>();
  shown.use_case = document.at("use_case").get<std::string>();
  shown.author_name = document.at("author_name").get<std::string>();
  shown.tags = NamesIn(document.at("tags"));
  shown.featured = document.at("featured").get<bool>();
  shown.internal = document.at("internal").get<bool>();
  shown.definition = {{"blocks", document.at("blocks")}, {"edges", document.at("edges")}};
  return shown;
}

std::span<const std::pair<std::string_view, std::string_view>> TemplateFiles() {
  return kFiles;
}

const std::vector<WorkflowTemplate>& ShippedTemplates() {
  static const std::vector<WorkflowTemplate> kShipped = ReadShipped();
  return kShipped;
}

}  // namespace vedette::domain
