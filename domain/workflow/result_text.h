#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/json_rows.h"
#include "domain/csv_writer.h"
#include "domain/workflow/block_type.h"
#include "domain/workflow/download_link.h"

// The text of a result file, made of the rows of stored parts. Pure; one thread at a time.
namespace vedette::domain {

// Writes part after part in stretches of bounded length: a row of ndjson repeats the names of all
// columns, which alone may be a megabyte.
class ResultText {
 public:
  ResultText(ResultFormat format, Columns columns, Formulas formulas)
      : format_(format), columns_(std::move(columns)), formulas_(formulas) {}

  // What stands before the rows.
  void AppendHead(std::string* out) const;

  // The rows that come next: a part from its beginning, or the part before once more, from the
  // place where it was left. `rows_json` must outlive the calls of Append.
  void Begin(std::string_view rows_json);
  void Resume(std::string_view rows_json);
  // Appends rows of the part until `out` has `bytes`, and ends within a cell of ndjson or a record
  // of CSV behind that. True: the part is over. Throws std::invalid_argument for what is no part.
  bool Append(std::size_t bytes, std::string* out);

 private:
  bool NextRow();
  // False: the row goes on.
  bool AppendObject(std::size_t bytes, std::string* out);

  ResultFormat format_;
  Columns columns_;
  Formulas formulas_;
  std::optional<base::RowReader> rows_;  // of the part
  std::size_t taken_ = 0;                // rows of it
  base::CellTexts row_;                  // the last of them
  std::size_t at_ = 0;                   // its next column; 0: it was written
};

}  // namespace vedette::domain
