#include "domain/monitor/probe_options.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "domain/monitor/change_rules.h"
#include "domain/monitor/field_description.h"
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

// Dates and times as pages in the larger languages write them: 2026-11-26T09:30:00Z, 26.11.2026,
// 11/26/26, 26 November 2026, Nov 26, 2026, 26. Nov., 9:30 pm.
constexpr const char* kDatesPattern =
    R"re((?i)\b[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?\b)re"
    R"re(|\b[0-9]{1,2}[./-][0-9]{1,2}[./-](?:[0-9]{4}|[0-9]{2})\b)re"
    R"re(|\b[0-9]{1,2}(?:st|nd|rd|th|er|\.|º)? (?:de |of )?MONTH(?:,? (?:de )?[0-9]{4})?\b)re"
    R"re(|\bMONTH [0-9]{1,2}(?:st|nd|rd|th)?\b(?:,? [0-9]{4}\b)?)re"
    R"re(|\bMONTH [0-9]{4}\b)re"
    R"re(|\b[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?(?: ?[ap]\.?m\b\.?)?)re";
// Their names and short forms in English, German, French, Spanish, Italian, Dutch and Portuguese.
constexpr const char* kMonthPattern =
    R"re((?:jan(?:uary|uar|uari|v|vier|eiro)?|jänner|ene(?:ro)?|gen(?:naio)?)re"
    R"re(|feb(?:ruary|ruar|ruari|rero|braio)?|févr?(?:ier)?|fev(?:ereiro)?)re"
    R"re(|mar(?:ch|s|zo|ço)?|märz|mrz|maart|mrt|apr(?:il|ile)?|avr(?:il)?|abr(?:il)?)re"
    R"re(|may|mayo|mai|maio|mei|mag(?:gio)?|june?|juni|juin|junio|junho|giu(?:gno)?)re"
    R"re(|july?|juli|juil(?:let)?|julio|julho|lug(?:lio)?|aug(?:ust|ustus)?|août|ago(?:sto)?)re"
    R"re(|sept?(?:ember|embre|iembre)?|sett?(?:embre|embro)?|o[ck]t(?:ober|obre|ubre)?)re"
    R"re(|ott(?:obre)?|out(?:ubro)?|nov(?:ember|embre|iembre|embro)?)re"
    R"re(|de[cz](?:ember|embro)?|déc(?:embre)?|dic(?:iembre|embre)?)\b\.?)re";
// 1,299.00 and 1 299 are one number each.
constexpr const char* kNumbersPattern = R"re([0-9]+(?:[.,'’ \x{a0}\x{202f}][0-9]+)*)re";

std::string DatesPattern() {
  constexpr std::string_view kPlace = "MONTH";
  std::string dates = kDatesPattern;
  for (std::size_t at = dates.find(kPlace); at != std::string::npos; at = dates.find(kPlace)) {
    dates.replace(at, kPlace.size(), kMonthPattern);
  }
  return dates;
}

// What is wrong with one thing that is ignored, as a sentence.
std::optional<std::string> IgnoredFault(const Json& part) {
  if (part == "numbers" || part == "dates") return std::nullopt;
  const bool is_named = part.is_object() && part.size() == 1 && part.begin()->is_string();
  if (!is_named || (part.begin().key() != "regex" && part.begin().key() != "selector")) {
    return "It should be \"numbers\", \"dates\", {\"regex\": PATTERN} or {\"selector\": CSS}";
  }
  const auto& text = part.begin()->get_ref<const std::string&>();
  if (part.begin().key() == "regex") return IgnoredPatternFault(text);
  if (text.empty() || base::CountCharacters(text) > kSelectorCharsMax) {
    return fmt::format("A selector has 1 to {} characters", kSelectorCharsMax);
  }
  const FieldDescription description = ParseFieldDescription("css:" + text);
  if (description.attribute.empty() && description.filters.empty()) return std::nullopt;
  return "A selector of elements takes no attribute and no filter";
}

IgnoreRules ReadIgnored(const Json& parts) {
  IgnoreRules read;
  for (const Json& part : parts) {
    if (!part.is_object()) continue;
    (part.contains("regex") ? read.patterns : read.selectors)
        .push_back(part.begin()->get<std::string>());
  }
  const auto has = [&](const char* word) {
    return std::find(parts.begin(), parts.end(), word) != parts.end();
  };
  if (has("dates")) read.patterns.push_back(DatesPattern());
  if (has("numbers")) read.patterns.emplace_back(kNumbersPattern);
  return read;
}

void AddIgnoredFaults(const Json& loc, const Json& parts, ValidationFaults* faults) {
  if (!parts.is_array() || parts.empty() || parts.size() > kIgnoreRulesMax) {
    faults->push_back({loc, "list_type",
                       fmt::format("Input should be an array of 1 to {} parts that do not count",
                                   kIgnoreRulesMax)});
    return;
  }
  const std::size_t before = faults->size();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (auto fault = IgnoredFault(parts[i])) {
      faults->push_back({LocOf(loc, i), "ignored_part", std::move(*fault)});
    }
  }
  if (faults->size() > before || GoTogether(ReadIgnored(parts).patterns)) return;
  faults->push_back({loc, "ignored_part", "The patterns are too much together"});
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
    if (options.contains("ignore")) {
      AddIgnoredFaults(LocOf(loc, "ignore"), options["ignore"], &faults);
    }
    options.erase("ignore");
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
  if (const auto it = options.find("ignore"); it != options.end()) read.ignore = ReadIgnored(*it);
  return read;
}

ProbeOptions ParseProbeOptions(const std::optional<std::string>& json) {
  return json ? ReadProbeOptions(base::ParseJsonOrThrow(*json)) : ProbeOptions();
}

Render RenderIn(Render tier, const ProbeOptions& options) {
  return options.render ? std::min(*options.render, tier) : tier;
}

}  // namespace vedette::domain
