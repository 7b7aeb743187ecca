#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The fields of people and companies that filters and counts may name. Nothing is guessed from
// data: what is not in the catalogue does not exist. Pure; immutable once parsed.
namespace vedette::domain::search {

// The kind of documents that is meant. The numbers are stored: never renumber.
enum class Mode : std::uint8_t { kPeople = 0, kCompany = 1 };
inline constexpr std::size_t kModeCount = 2;
std::string_view ModeName(Mode mode);  // "people", "company"
std::optional<Mode> ParseMode(std::string_view name);

// What values a field has. A value of another kind of JSON counts as no value at all. A date is a
// string such as 2024, 2024-05, 2024-05-31 or 2024-05-31T09:30:00Z; dates are compared as text.
enum class FieldType : std::uint8_t { kKeyword, kText, kLong, kDouble, kBoolean, kDate };
std::string_view FieldTypeName(FieldType type);  // "keyword", ...

constexpr bool IsNumber(FieldType type) {
  return type == FieldType::kLong || type == FieldType::kDouble;
}
constexpr bool IsText(FieldType type) {
  return !IsNumber(type) && type != FieldType::kBoolean;
}

struct Field {
  std::string name;  // the canonical path: "experience.title"
  FieldType type = FieldType::kKeyword;
  // The object or list of objects that the field is in, where several fields of one of them belong
  // together: "experience". Empty: the document itself. A prefix of `name`, followed by a dot.
  std::string nested_path;
  // The name under which whole values are compared and counted: `name` itself, or of a text its
  // exact twin ("name.keyword"). Empty: the field has no values to compare or count. It is an alias
  // of the field wherever a field is named.
  std::string aggregation_field;
  std::vector<std::string> related;  // other paths for the same concept
  bool preferred = false;            // for an exact match, among the related ones

  bool has_values() const { return !aggregation_field.empty(); }
  // What whole values are: those of a text are keywords.
  FieldType value_type() const { return type == FieldType::kText ? FieldType::kKeyword : type; }
  // The keys that lead to it from the document, or from the object at `nested_path`.
  std::vector<std::string> Path() const;
};

// The keys of "a.b.c".
std::vector<std::string> SplitPath(std::string_view path);

// The fields of one mode.
class Fields {
 public:
  // Throws std::invalid_argument with a sentence where they contradict each other.
  explicit Fields(std::vector<Field> fields);

  const std::vector<Field>& all() const { return fields_; }  // by name
  const std::vector<std::string>& nested_paths() const { return nested_paths_; }
  // By name or alias; null where there is none. It lives as long as this object.
  const Field* Find(std::string_view name) const;
  bool HasNestedPath(std::string_view path) const;
  // Up to three names that look like this one, the nearest first.
  std::vector<std::string> Near(std::string_view name) const;
  // Changes whenever a field does: hex digits.
  const std::string& hash() const { return hash_; }

 private:
  std::vector<Field> fields_;
  std::vector<std::string> nested_paths_;
  std::string hash_;
};

// The fields of both modes.
class Catalogue {
 public:
  // Reads the text of a catalogue, as fields.json has it. Throws std::invalid_argument with a
  // sentence that names the field.
  explicit Catalogue(std::string_view json);
  // The one that is compiled in.
  Catalogue();

  const Fields& of(Mode mode) const { return modes_[static_cast<std::size_t>(mode)]; }

 private:
  std::vector<Fields> modes_;  // by mode
};

}  // namespace vedette::domain::search
