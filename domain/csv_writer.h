#pragma once

#include <string>
#include <vector>

#include "base/json_rows.h"
#include "base/json_text.h"

// CSV as RFC 4180 has it, for programs and for spreadsheets: UTF-8 without a byte order mark,
// records ended by CRLF, quotes where they are needed. What is written is read back cell for cell
// by every reader of that form. Pure.
namespace vedette::domain {

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
