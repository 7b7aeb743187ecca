#include "domain/monitor/row_values.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "base/crypto.h"
#include "base/json.h"
#include "base/text.h"
#include "domain/text/exact_number.h"

namespace vedette::domain {
namespace {

constexpr std::size_t kKeyHashBytes = 16;
// Beyond it a double no longer holds every integer.
constexpr double kExactIntegerMax = 9007199254740992.0;

// The number as NormaliseValue has it where a double holds it exactly, so that it does not matter
// how it was written; its own digits otherwise.
std::string NormaliseNumberText(std::string_view number) {
  const std::string text(number);
  const auto as_double = NormaliseValue(base::Json(std::strtod(text.c_str(), nullptr)));
  if (as_double && IsSameNumber(*as_double, text)) return *as_double;
  return PlainNumber(text);
}

}  // namespace

void AppendKeyPart(const std::optional<std::string>& value, std::string* text) {
  text->push_back(value ? '\1' : '\0');
  std::uint64_t length = value ? value->size() : 0;
  for (int i = 0; i < 8; ++i, length >>= 8) text->push_back(static_cast<char>(length & 0xFF));
  if (value) text->append(*value);
}

std::size_t ColumnBytes(std::string_view name, std::size_t value_bytes) {
  constexpr std::size_t kQuotesColonAndComma = 6;
  return name.size() + value_bytes + kQuotesColonAndComma;
}

bool IsBlank(std::string_view text) {
  return base::Trim(text).empty();
}

std::optional<std::string> NormaliseValue(const base::Json& scalar) {
  if (scalar.is_null()) return std::nullopt;
  if (const auto number = base::NumberText(scalar)) return NormaliseNumberText(*number);
  if (scalar.is_string()) {
    const std::string_view text = base::Trim(scalar.get_ref<const std::string&>());
    if (text.empty()) return std::nullopt;
    return std::string(text);
  }
  if (scalar.is_number_float()) {
    const double number = scalar.get<double>();
    if (number == std::floor(number) && std::fabs(number) < kExactIntegerMax) {
      return std::to_string(static_cast<std::int64_t>(number));
    }
  }
  return base::DumpJson(scalar);
}

RowValues SplitRow(const base::Json& columns, const ColumnRoles& roles) {
  RowValues row;
  std::string key;
  base::Json subject = base::Json::object();
  for (const std::string& name : roles.key_columns) {
    const auto it = columns.find(name);
    const auto value = it == columns.end() ? std::nullopt : NormaliseValue(*it);
    if (it != columns.end()) subject[name] = *it;
    row.has_key = row.has_key || value.has_value();
    AppendKeyPart(value, &key);
  }
  row.key_hash = base::Sha256(key).substr(0, kKeyHashBytes);
  base::Json baseline = base::Json::object();
  base::Json context = base::Json::object();
  for (const auto& [name, value] : columns.items()) {
    if (subject.contains(name)) continue;
    if (!roles.watched.contains(name)) {
      context[name] = value;
    } else if (NormaliseValue(value)) {
      baseline[name] = value;
    }
  }
  row.subject_json = base::DumpJson(subject);
  row.baseline_json = base::DumpJson(baseline);
  if (!context.empty()) row.context_json = base::DumpJson(context);
  return row;
}

}  // namespace vedette::domain
