#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_rows.h"
#include "base/json_text.h"

// CSV as RFC 4180 has it: commas, records ended by LF or CRLF, fields optionally in double quotes
// with "" for a quote, quoted line breaks. UTF-8; byte order marks at the start, of which programs
// that save a file again write one more, are passed over, and so are empty lines. Pure.
namespace vedette::domain {

struct CsvProblem {
  std::int64_t line;  // counted from 1, as an editor shows it
  std::string message;
  bool too_long = false;  // a record over the limit rather than malformed text
};

struct CsvRecord {
  std::vector<std::string> fields;
  std::int64_t line = 0;  // where it begins
  std::uint64_t end = 0;  // bytes from the start of the text to behind it, its line end included
};

// Reads text in pieces, cut anywhere, holding one record at a time. A field's way:
//
//   field start --"--> quoted --"--> quote in quoted --"--> quoted
//      |                                  |
//      |                                  +--CR--> carriage return
//      +--another character--> plain
//
// In plain, and after the closing quote, a comma leads to the start of the next field, and a line
// end to that of the next record.
class CsvReader {
 public:
  // `first_line`: the number of the text's first line; a byte order mark is one in line 1 alone.
  // `record_bytes_max`: a longer record is a problem.
  CsvReader(std::int64_t first_line, std::size_t record_bytes_max);

  // Calls `take` for every record that ends in the piece; a problem that it gives ends the reading.
  // After a problem the reader is of no more use.
  using Take = std::function<std::optional<CsvProblem>(CsvRecord& record)>;
  std::optional<CsvProblem> Feed(std::string_view piece, const Take& take);
  // The text is over: the last record may lack its line end.
  std::optional<CsvProblem> Finish(const Take& take);

  std::int64_t line() const { return line_; }  // reached so far

 private:
  enum class State { kFieldStart, kPlain, kQuoted, kQuoteInQuoted, kCarriageReturn };

  std::size_t PlainRun(std::string_view piece) const;
  std::optional<CsvProblem> Step(char c, const Take& take);
  std::optional<CsvProblem> EndRecord(const Take& take);
  void EndField();
  CsvProblem Problem(std::string message) const;

  const std::size_t record_bytes_max_;
  State state_ = State::kFieldStart;
  CsvRecord record_;
  std::string field_;
  std::size_t record_bytes_ = 0;
  std::uint64_t offset_ = 0;  // of the next byte
  std::uint64_t marks_ = 0;   // bytes of byte order marks at the start
  std::int64_t line_;
};

// CSV as RFC 4180 has it, for programs and for spreadsheets: UTF-8 without a byte order mark,
// records ended by CRLF, quotes where they are needed. What is written is read back cell for cell
// by every reader of that form. Pure.

// What is done with a text that a spreadsheet would take for a formula: one that begins with a tab
// or a line break, or, behind white space and marks that are not seen, with =, +, - or @, also of
// full width, and is no number from there on. kDefused: an apostrophe stands before it. Numbers,
// and phones that are a plus sign and digits, are never changed.
enum class Formulas { kAsTheyAre, kDefused };

// Appends one record. A null, and each cell that `cells` lacks up to `width`, is empty; an object
// or an array is its JSON text.
void AppendCsvRecord(const std::vector<base::Json>& cells, std::size_t width, Formulas formulas,
                     std::string* out);

// The same of cells that are JSON texts. Throws std::invalid_argument for one that cannot be read.
void AppendCsvTexts(const base::CellTexts& cells, std::size_t width, Formulas formulas,
                    std::string* out);

// The record with the columns' names.
void AppendCsvHeader(const std::vector<std::string>& columns, Formulas formulas, std::string* out);

}  // namespace vedette::domain
