#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "base/uuid.h"
#include "domain/workflow/definition.h"

// Templates: workflows to begin with, and what a card shows of them. Some ship with the service and
// are everybody's; an organisation may have its own. Pure.
namespace vedette::domain {

struct WorkflowTemplate {
  base::Uuid id;
  std::string slug;  // [a-z0-9-]{1,100}, and no UUID
  std::string name;
  std::string description;
  std::string category;
  std::string difficulty;
  std::string estimated_time;
  std::string use_case;
  std::string author_name;
  std::vector<std::string> tags;
  bool featured = false;
  bool internal = false;  // shown to nobody
  base::Json definition;  // {"blocks", "edges"}
  base::Timestamp created_at{};
  base::Timestamp updated_at{};
};

inline constexpr std::size_t kTemplateKeyCharsMax = 200;
inline constexpr int kTemplatesPerOrgMax = 200;  // of its own

// Validates the document of a template, which stands at `loc`: its members are those of
// WorkflowTemplate without id and times, with `blocks` and `edges` in place of the definition.
// Gives the template, its definition with every id filled in, or everything that is wrong.
std::variant<WorkflowTemplate, ValidationFaults> ReadTemplate(const base::Json& document,
                                                              const base::Json& loc,
                                                              const DefinitionRules& rules);

// What is stored: ReadStoredTemplate gives the same template for it, but id and times.
base::Json TemplateDocument(const WorkflowTemplate& shown);
// Its definition is not checked: another version may have stored it. Throws std::exception for what
// is no document.
WorkflowTemplate ReadStoredTemplate(const base::Json& document);

// The shipped documents, as file name and JSON text: also those with blocks that this build lacks.
std::span<const std::pair<std::string_view, std::string_view>> TemplateFiles();
// The shipped templates of whose blocks this build has all, in the order in which they are shown.
// Their ids are UUIDv5(namespace: kTemplateNamespace, name: slug), the same everywhere.
const std::vector<WorkflowTemplate>& ShippedTemplates();
inline constexpr std::string_view kTemplateNamespace = "6f1d3c52-7a39-5d0e-9c41-2b8f4be0a7d3";

}  // namespace vedette::domain
