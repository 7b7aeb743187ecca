#include "domain/search/filter.h"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "domain/search/filter_reader.h"
#include "domain/text/exact_number.h"

namespace vedette::domain::search {

bool IsWordByte(char c) {
  return base::IsAsciiLetter(c) || base::IsAsciiDigit(c) || (static_cast<unsigned char>(c) & 0x80);
}

std::vector<std::string> WordsOf(std::string_view text) {
  std::vector<std::string> words;
  bool within = false;
  for (const char c : text) {
    if (!IsWordByte(c)) {
      within = false;
      continue;
    }
    if (!within) words.emplace_back();
    words.back() += base::AsciiLower(c);
    within = true;
  }
  return words;
}

namespace {

// The value that a listed text stands for, if a filter can have it.
std::optional<base::Json> TypedValue(const Field& field, std::string_view text) {
  if (field.type == FieldType::kBoolean) return base::Json(text == "true");
  if (!IsNumber(field.type)) return base::Json(text);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  base::Json value = JsonOf(number);
  // More digits than a double has.
  if (!IsSameNumber(base::DumpJson(value), text)) return std::nullopt;
  return value;
}

}  // namespace

base::Json JsonOf(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* flag = std::get_if<bool>(&value)) return *flag;
  const double number = std::get<double>(value);
  if (std::trunc(number) == number && std::abs(number) <= kExactNumberMax) {
    return static_cast<std::int64_t>(number);
  }
  return number;
}

std::string TextOf(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  return base::DumpJson(JsonOf(value));
}

base::Json FilterSnippet(const Field& field, std::string_view text) {
  if (!field.has_values()) return base::Json::object();
  const auto value = TypedValue(field, text);
  if (!value) return base::Json::object();
  base::Json clause = {{"term", {{field.aggregation_field, *value}}}};
  if (!field.nested_path.empty()) {
    clause = {{"nested", {{"path", field.nested_path}, {"query", std::move(clause)}}}};
  }
  // What the reader refuses, such as a text that is too long, is no filter.
  Fields only({field});
  if (std::holds_alternative<FilterError>(ReadDslFilter(clause, only))) return base::Json::object();
  return clause;
}

}  // namespace vedette::domain::search
