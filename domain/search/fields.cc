#include "domain/search/fields.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/crypto.h"
#include "base/json.h"
#include "domain/text/limits.h"
#include "domain/text/name_table.h"

namespace vedette::domain::search {
namespace {

constexpr std::array<std::string_view, kModeCount> kModeNames = {"people", "company"};
constexpr std::array<std::string_view, 6> kTypeNames = {"keyword", "text",    "long",
                                                        "double",  "boolean", "date"};
constexpr std::size_t kNearMax = 3;
constexpr std::size_t kFieldsMax = 1000;

[[noreturn]] void Refuse(std::string_view field, std::string_view why) {
  throw std::invalid_argument(fmt::format("the field \"{}\" of the catalogue {}", field, why));
}

std::string TextOf(const base::Json& field, const std::string& key, std::string_view name) {
  const auto it = field.find(key);
  if (it == field.end() || it->is_null()) return {};
  if (!it->is_string()) Refuse(name, "has a member " + key + " that is not a string");
  return it->get<std::string>();
}

Field ReadField(const std::string& name, const base::Json& given) {
  if (!given.is_object()) Refuse(name, "is not an object");
  for (const auto& [key, value] : given.items()) {
    const bool known = key == "type" || key == "nested_path" || key == "aggregation_field" ||
                       key == "related" || key == "preferred";
    if (!known) Refuse(name, "has the unknown member " + key);
  }
  Field field;
  field.name = name;
  const auto type = FindIn<FieldType>(kTypeNames, TextOf(given, "type", name));
  if (!type) Refuse(name, "has no type out of keyword, text, long, double, boolean and date");
  field.type = *type;
  field.nested_path = TextOf(given, "nested_path", name);
  field.aggregation_field = TextOf(given, "aggregation_field", name);
  // Whole values of a text are those of its exact twin, if it has one.
  if (field.aggregation_field.empty() && *type != FieldType::kText) field.aggregation_field = name;
  if (const auto it = given.find("preferred"); it != given.end()) {
    if (!it->is_boolean()) Refuse(name, "has a member preferred that is neither true nor false");
    field.preferred = it->get<bool>();
  }
  const auto related = given.find("related");
  if (related == given.end()) return field;
  if (!related->is_array()) Refuse(name, "has a member related that is not an array");
  for (const base::Json& other : *related) {
    if (!other.is_string()) Refuse(name, "has a related field that is not a string");
    field.related.push_back(other.get<std::string>());
  }
  return field;
}

// How many characters have to be added, left out or replaced to make one of the other.
std::size_t Distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({changed, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

std::vector<Fields> ReadModes(std::string_view text) {
  const base::Json modes = base::ParseJsonOrThrow(text);
  std::vector<Fields> read;
  for (const std::string_view mode : kModeNames) {
    const auto it = modes.is_object() ? modes.find(mode) : modes.end();
    if (it == modes.end() || !it->is_object()) {
      throw std::invalid_argument(fmt::format("the catalogue has no fields of {}", mode));
    }
    std::vector<Field> fields;
    for (const auto& [name, field] : it->items()) fields.push_back(ReadField(name, field));
    read.emplace_back(std::move(fields));
  }
  return read;
}

std::string HashOf(const std::vector<Field>& fields) {
  std::string text;
  for (const Field& f : fields) {
    text += fmt::format("{}\n{}\n{}\n{}\n{}\n", f.name, FieldTypeName(f.type), f.nested_path,
                        f.aggregation_field, f.preferred);
    for (const std::string& related : f.related) text += " " + related + "\n";
  }
  return base::HexEncode(base::Sha256(text));
}

void CheckField(const Field& field) {
  if (field.name.size() > kNameCharsMax) Refuse(field.name, "has too long a name");
  for (const std::string& key : SplitPath(field.name)) {
    if (key.empty()) Refuse(field.name, "has an empty key in its path");
  }
  if (!field.nested_path.empty() && !field.name.starts_with(field.nested_path + ".")) {
    Refuse(field.name, "does not begin with its nested path");
  }
}

}  // namespace

std::string_view ModeName(Mode mode) {
  return NameIn(kModeNames, mode);
}

std::optional<Mode> ParseMode(std::string_view name) {
  return FindIn<Mode>(kModeNames, name);
}

std::string_view FieldTypeName(FieldType type) {
  return NameIn(kTypeNames, type);
}

std::vector<std::string> SplitPath(std::string_view path) {
  std::vector<std::string> keys;
  for (;;) {
    const std::size_t dot = path.find('.');
    keys.emplace_back(path.substr(0, dot));
    if (dot == std::string_view::npos) return keys;
    path.remove_prefix(dot + 1);
  }
}

std::vector<std::string> Field::Path() const {
  const std::size_t skipped = nested_path.empty() ? 0 : nested_path.size() + 1;
  return SplitPath(std::string_view(name).substr(skipped));
}

Fields::Fields(std::vector<Field> fields) : fields_(std::move(fields)) {
  if (fields_.size() > kFieldsMax) {
    throw std::invalid_argument(fmt::format("the catalogue has over {} fields", kFieldsMax));
  }
  std::sort(fields_.begin(), fields_.end(),
            [](const Field& a, const Field& b) { return a.name < b.name; });
  for (const Field& field : fields_) {
    CheckField(field);
    const bool is_alias = field.has_values() && field.aggregation_field != field.name;
    const auto same = [&](const Field& other) {
      return &other != &field &&
             (other.name == field.name ||
              (is_alias && (other.name == field.aggregation_field ||
                            other.aggregation_field == field.aggregation_field)));
    };
    if (std::any_of(fields_.begin(), fields_.end(), same)) Refuse(field.name, "is there twice");
    if (!field.nested_path.empty() && !HasNestedPath(field.nested_path)) {
      nested_paths_.push_back(field.nested_path);
    }
  }
  std::sort(nested_paths_.begin(), nested_paths_.end());
  hash_ = HashOf(fields_);
}

const Field* Fields::Find(std::string_view name) const {
  const auto at = std::lower_bound(fields_.begin(), fields_.end(), name,
                                   [](const Field& f, std::string_view n) { return f.name < n; });
  if (at != fields_.end() && at->name == name) return &*at;
  const auto alias = std::find_if(fields_.begin(), fields_.end(), [name](const Field& f) {
    return f.has_values() && f.aggregation_field == name;
  });
  return alias == fields_.end() ? nullptr : &*alias;
}

bool Fields::HasNestedPath(std::string_view path) const {
  return std::find(nested_paths_.begin(), nested_paths_.end(), path) != nested_paths_.end();
}

std::vector<std::string> Fields::Near(std::string_view name) const {
  name = name.substr(0, kNameCharsMax);
  std::vector<std::pair<std::size_t, std::string>> found;
  for (const Field& field : fields_) {
    const bool within = field.name.ends_with("." + std::string(name));
    const std::size_t distance = within ? 0 : Distance(name, field.name);
    if (distance <= std::max<std::size_t>(2, name.size() / 3)) {
      found.emplace_back(distance, field.name);
    }
  }
  std::sort(found.begin(), found.end());
  if (found.size() > kNearMax) found.resize(kNearMax);
  std::vector<std::string> names;
  names.reserve(found.size());
  for (auto& [distance, near] : found) names.push_back(std::move(near));
  return names;
}

Catalogue::Catalogue(std::string_view json) : modes_(ReadModes(json)) {}

namespace {

constexpr std::pair<std::string_view, std::string_view> kFiles[] = {
#include "search_fields.inc"
};

}  // namespace

Catalogue::Catalogue() : Catalogue(kFiles[0].second) {}

}  // namespace vedette::domain::search
