#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "domain/workflow/block_type.h"

// What blocks that ask services add to a row. Pure.
namespace vedette::domain {

// A row as JSON texts, one a cell, as the worker has it.
using TextCells = std::vector<std::string>;
inline constexpr std::string_view kNullCell = "null";

// The place of the column of this name; it is added where there is none.
std::size_t PlaceOf(const std::string& name, Columns* columns);
// The place of a new column for errors. An error is never written over another one: the name gets
// a number.
std::size_t PlaceOfError(const std::string& name, Columns* columns);

// The row with `width` cells: those that it lacks are null.
TextCells Widened(const TextCells& row, std::size_t width);
bool HasValue(const std::string& cell);
// The database keeps no NUL, and reads no text that is not UTF-8.
base::Json Storable(const base::Json& value);

}  // namespace vedette::domain
