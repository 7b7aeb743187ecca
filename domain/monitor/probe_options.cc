#include "domain/monitor/probe_options.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/json.h"
#include "domain/text/json_schema.h"

namespace vedette::domain {
namespace {

using base::Json;

constexpr std::array<std::string_view, 3> kRenderNames{"never", "auto", "always"};

const Json& Schema() {
  static const Json kSchema{
      {"type", "object"},
      {"additionalProperties", false},
      {"properties",
       {{"render", {{"type", "string"}, {"enum", {"never", "auto", "always"}}}},
        {"wait_for", {{"type", "string"}, {"minLength", 1}, {"maxLength", kSelectorCharsMax}}},
        {"session", {{"type", "string"}, {"enum", {"none", "kept"}}}}}}};
  return kSchema;
}

void Add(ValidationFaults more, ValidationFaults* faults) {
  faults->insert(faults->end(), more.begin(), more.end());
}

// The names of secrets that validated steps type.
std::set<std::string> NamesInSteps(const std::vector<PageStep>& steps) {
  std::set<std::string> names;
  for (const PageStep& step : steps) {
    if (!step.secret.empty()) names.insert(step.secret);
  }
  return names;
}

// Steps name the secrets that there are, and each of those is named.
void CheckNames(const Json& loc, const std::vector<PageStep>& steps, const Json& secrets,
                ValidationFaults* faults) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].secret.empty() || secrets.contains(steps[i].secret)) continue;
    faults->push_back(
        {LocOf(LocOf(LocOf(loc, "steps"), i), "value"), "step",
         fmt::format("There is no secret {} in probe.secrets", base::DumpJson(steps[i].secret))});
  }
  const std::set<std::string> used = NamesInSteps(steps);
  for (const auto& [name, value] : secrets.items()) {
    if (used.contains(name)) continue;
    faults->push_back({LocOf(LocOf(loc, "secrets"), name), "secret_name", "No step types it"});
  }
}

}  // namespace

std::string_view RenderName(Render render) {
  return kRenderNames[static_cast<std::size_t>(render)];
}

std::optional<Render> ParseRender(std::string_view name) {
  const auto* const at = std::find(kRenderNames.begin(), kRenderNames.end(), name);
  if (at == kRenderNames.end()) return std::nullopt;
  return static_cast<Render>(at - kRenderNames.begin());
}

ValidationFaults ValidateProbeOptions(const Json& loc, Json options) {
  ValidationFaults faults;
  Json steps = Json::array();
  Json secrets = Json::object();
  if (options.is_object()) {
    if (options.contains("steps")) steps = options["steps"];
    if (options.contains("secrets")) secrets = options["secrets"];
    options.erase("steps");
    options.erase("secrets");
  }
  ApplySchema(Schema(), loc, &options, &faults);
  Add(ValidatePageSteps(LocOf(loc, "steps"), steps), &faults);
  Add(ValidateProbeSecrets(LocOf(loc, "secrets"), secrets), &faults);
  if (!faults.empty()) return faults;
  const char* acting = !steps.empty()                               ? "steps"
                       : options.value("session", "none") == "kept" ? "session"
                                                                    : nullptr;
  if (acting != nullptr && options.value("render", "") != "always") {
    faults.push_back(
        {LocOf(loc, acting), "value_error",
         "It is for pages that are always rendered: give \"render\": \"always\", too"});
  }
  CheckNames(loc, ReadPageSteps(steps), secrets, &faults);
  return faults;
}

bool ProbeOptions::NeedsLogin() const {
  return keeps_session || !NamesInSteps(steps).empty();
}

ProbeSecrets TakeSecrets(Json* options) {
  ProbeSecrets taken;
  const auto secrets = options->find("secrets");
  if (secrets == options->end()) return taken;
  for (auto& [name, value] : secrets->items()) {
    if (value.is_string()) taken[name] = value.get<std::string>();
    value = nullptr;
  }
  return taken;
}

std::vector<std::string> SecretsToKeep(const Json& options) {
  std::vector<std::string> names;
  const auto secrets = options.find("secrets");
  if (secrets == options.end()) return names;
  for (const auto& [name, value] : secrets->items()) {
    if (value.is_null()) names.push_back(name);
  }
  return names;
}

ProbeOptions ReadProbeOptions(const Json& options) {
  ProbeOptions read;
  if (const auto it = options.find("render"); it != options.end()) {
    read.render = ParseRender(it->get_ref<const std::string&>());
  }
  if (const auto it = options.find("wait_for"); it != options.end()) {
    read.wait_for = it->get<std::string>();
  }
  if (const auto it = options.find("steps"); it != options.end()) read.steps = ReadPageSteps(*it);
  read.keeps_session = options.value("session", "none") == "kept";
  return read;
}

ProbeOptions ParseProbeOptions(const std::optional<std::string>& json) {
  return json ? ReadProbeOptions(base::ParseJsonOrThrow(*json)) : ProbeOptions();
}

Render RenderIn(Render tier, const ProbeOptions& options) {
  return options.render ? std::min(*options.render, tier) : tier;
}

}  // namespace vedette::domain
