#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_rows.h"
#include "base/json_text.h"
#include "domain/workflow/block_type.h"
#include "domain/workflow/payload.h"

namespace vedette::domain {

// A cell as blocks compare it: a scalar as monitors compare it (domain/monitor/row_values.h), an
// object or an array as its JSON text; nothing where it is null or blank. Pure.
std::optional<std::string> CellValue(const base::Json& cell);

// What blocks that ask services add to a row. Pure.

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

// The rows of a stored part. Pure; for a pool's thread, as parts can be large.

// Every row filled up with nulls to `width` cells; one that was not recorded is left out. Numbers
// stay as they were written. Throws std::invalid_argument for what is no part.
std::vector<Cells> ReadRows(std::string_view rows_json, std::size_t width);

// What a block makes of a part is larger than a part may be: the sentence is for the client.
class PartTooLarge : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Appends a row as an object, with every column: {"<column>": cell, ..}.
void AppendRowObject(const Columns& columns, const base::CellTexts& row, std::string* out);

// The same up to the end of one member, for a caller that writes a row in stretches: the column at
// `at`, with what stands before it.
void AppendRowMember(const Columns& columns, const base::CellTexts& row, std::size_t at,
                     std::string* out);

// Gathers the rows of one part.
class RowsWriter {
 public:
  // `bytes_max`: of the part.
  explicit RowsWriter(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  // Throw PartTooLarge.
  void Add(const Cells& row);
  void Add(const base::CellTexts& row);
  // The fields of a record of a file; a blank one is null.
  void AddFields(const std::vector<std::string>& fields);
  int row_count() const { return part_.row_count; }
  // The part; the next one begins.
  RowsPart Take();

 private:
  template <typename F>
  void AddRow(std::size_t width, F&& append);

  const std::size_t bytes_max_;
  RowsPart part_;
};

// Every row as ReadRows has it, its cells still texts. Throws std::invalid_argument likewise.
void ForEachRow(std::string_view rows_json, std::size_t width,
                const std::function<void(const base::CellTexts& row)>& row);

}  // namespace vedette::domain
