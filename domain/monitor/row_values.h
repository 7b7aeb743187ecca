#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_text.h"

// How a row of columns becomes a subject, a baseline and a context, and when two rows have the same
// key. Pure; the same for rows of a request and of a file.
namespace vedette::domain {

// Which columns mean what, of one monitor.
struct ColumnRoles {
  std::vector<std::string> key_columns;
  std::set<std::string, std::less<>> watched;
};

// The value as compared: absent, null and blank are no value; strings trimmed; 1 equals "1".
// Numbers compare by value: those kept as text (base::NumberText) exactly.
std::optional<std::string> NormaliseValue(const base::Json& scalar);

// Nothing but white space: no value.
bool IsBlank(std::string_view text);

// Adds a value of a key to the key's text. Presence and length go before the bytes, so that no two
// different keys have the same text.
void AppendKeyPart(const std::optional<std::string>& value, std::string* text);

// What a column adds to the size of its row as JSON, on which [limits] row_bytes_max stands; the
// row itself begins with kRowBytes: two braces, and no comma before the first column.
inline constexpr std::size_t kRowBytes = 1;
std::size_t ColumnBytes(std::string_view name, std::size_t value_bytes);

struct RowValues {
  std::string subject_json;                 // the key columns, in the monitor's order
  std::string baseline_json;                // watched columns that have a value
  std::optional<std::string> context_json;  // all others
  std::string key_hash;                     // 16 bytes, equal where the key values are
  bool has_key = false;                     // a value in at least one key column
};

// `columns` is an object whose members are scalars.
RowValues SplitRow(const base::Json& columns, const ColumnRoles& roles);

}  // namespace vedette::domain
