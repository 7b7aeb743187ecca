#pragma once

#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_rows.h"
#include "domain/workflow/block_type.h"
#include "domain/workflow/payload.h"

// The rows of a stored part. Pure; for a pool's thread, as parts can be large.
namespace vedette::domain {

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
