#include "domain/monitor/current_values.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/crypto.h"
#include "base/json.h"
#include "base/text.h"
#include "domain/monitor/observation.h"
#include "domain/monitor/row_values.h"

namespace vedette::domain {
namespace {

using base::Json;

constexpr std::size_t kFingerprintChars = 8;

std::string Fingerprint(const Json& value) {
  return base::HexEncode(base::Sha256(base::DumpJson(value)).substr(0, kFingerprintChars / 2));
}

bool Keepable(const std::string& text) {
  return text.find('\0') == std::string::npos && base::IsValidUtf8(text);
}

bool IsNoValue(const Json& value) {
  return value.is_null() || (value.is_string() && IsBlank(value.get_ref<const std::string&>()));
}

bool IsForgotten(const FieldVersions& versions, const std::string& field, int row_version) {
  const auto it = versions.find(field);
  return it != versions.end() && it->second > row_version;
}

const Json* Find(const Json& object, const std::string& member) {
  const auto it = object.find(member);
  return it == object.end() ? nullptr : &*it;
}

// Numbers are shown as they were given.
Json ParseOr(const std::optional<std::string_view>& text, Json otherwise) {
  return text ? base::ReadJsonCell(*text) : std::move(otherwise);
}

}  // namespace

FieldVersions ParseFieldVersions(const std::optional<std::string>& json) {
  FieldVersions versions;
  if (!json) return versions;
  const Json object = base::ParseJsonOrThrow(*json);
  for (const auto& [field, version] : object.items()) versions.emplace(field, version.get<int>());
  return versions;
}

std::string FieldVersionsJson(const FieldVersions& versions) {
  Json object = Json::object();
  for (const auto& [field, version] : versions) object[field] = version;
  return base::DumpJson(object);
}

std::vector<std::string> ChangedFields(const Json& before, const Json& after) {
  std::vector<std::string> changed;
  for (const auto& [field, description] : before.items()) {
    const Json* now = Find(after, field);
    if (now == nullptr || *now != description) changed.push_back(field);
  }
  for (const auto& [field, description] : after.items()) {
    if (!before.contains(field)) changed.push_back(field);
  }
  return changed;
}

bool ForgetsAny(const FieldVersions& versions, int row_version) {
  return std::any_of(versions.begin(), versions.end(),
                     [&](const auto& field) { return field.second > row_version; });
}

Json WithoutForgotten(const Json& values, const FieldVersions& versions, int row_version) {
  Json kept = Json::object();
  for (const auto& [field, value] : values.items()) {
    if (!IsForgotten(versions, field, row_version)) kept[field] = value;
  }
  return kept;
}

Json FactsOf(const FieldObservation& observed, base::Timestamp since) {
  Json facts{{"since", base::FormatTimestamp(since)}};
  if (!observed.evidence.empty() && Keepable(observed.evidence)) {
    facts["evidence"] = observed.evidence;
  }
  const bool sources_keepable =
      std::all_of(observed.sources.begin(), observed.sources.end(), Keepable);
  if (!observed.sources.empty() && sources_keepable) facts["sources"] = observed.sources;
  if (observed.confidence) facts["confidence"] = *observed.confidence;
  facts["of"] = Fingerprint(observed.value.Value());
  return facts;
}

CurrentValues CurrentValuesOf(const Json& watched, const FieldVersions& versions,
                              const KnownOfRow& row) {
  const Json baseline = base::ReadJsonCell(row.baseline_json);
  const Json known = ParseOr(row.known_json, baseline);
  const Json seen = ParseOr(row.seen_json, Json::object());
  CurrentValues current;
  Json shown_baseline = Json::object();
  for (const auto& [field, value] : baseline.items()) {
    const bool forgotten = IsForgotten(versions, field, row.struct_version);
    if (!forgotten && watched.contains(field)) shown_baseline[field] = value;
  }
  current.baseline = std::move(shown_baseline);
  Json values = Json::object();
  for (const auto& [field, description] : watched.items()) {
    Json shown{{"value", nullptr},
               {"since", nullptr},
               {"evidence", nullptr},
               {"sources", nullptr},
               {"confidence", nullptr}};
    const bool forgotten = IsForgotten(versions, field, row.struct_version);
    const Json* value = forgotten ? nullptr : Find(known, field);
    if (value != nullptr) shown["value"] = *value;
    const Json* facts = forgotten ? nullptr : Find(seen, field);
    const bool about_it = facts != nullptr && facts->is_object() && value != nullptr &&
                          facts->value("of", "") == Fingerprint(*value);
    if (about_it) {
      for (const char* member : {"since", "evidence", "sources", "confidence"}) {
        if (const Json* fact = Find(*facts, member)) shown[member] = *fact;
      }
    }
    const Json* given = forgotten ? nullptr : Find(baseline, field);
    const bool has_value = value != nullptr && !IsNoValue(*value);
    const bool had_value = about_it || (given != nullptr && !IsNoValue(*given));
    if (!has_value && !had_value) current.never_observed.push_back(field);
    values[field] = std::move(shown);
  }
  current.values = std::move(values);
  return current;
}

std::optional<std::string> ContextOf(std::optional<std::string> context_json,
                                     const FieldVersions& versions,
                                     const std::function<bool(std::string_view)>& is_watched) {
  if (!context_json || versions.empty()) return context_json;
  const Json stored = base::ReadJsonCell(*context_json);
  Json context = Json::object();
  for (const auto& [name, value] : stored.items()) {
    if (!is_watched(name)) context[name] = value;
  }
  return context.empty() ? std::nullopt : std::optional(base::DumpJson(context));
}

}  // namespace vedette::domain
