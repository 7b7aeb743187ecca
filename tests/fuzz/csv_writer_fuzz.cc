// What is written as CSV is read back cell for cell, and no cell of a guarded file begins as a
// formula does. Cells stand between bytes of 0x1f.
#include <cstdlib>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/text.h"
#include "domain/text/csv.h"
#include "domain/text/exact_number.h"
#include "tests/fuzz/target.h"

namespace vedette {
namespace {

std::vector<std::string> CellsOf(std::string_view text) {
  std::vector<std::string> cells(1);
  for (const char c : base::RepairUtf8(text)) {
    if (c == '\x1f') {
      cells.emplace_back();
    } else if (c != '\0') {  // no cell has one: the database could not store it
      cells.back() += c;
    }
  }
  return cells;
}

// Behind a header, as a byte order mark means something at the start of a file alone.
std::vector<std::string> WrittenAndRead(const std::vector<std::string>& cells,
                                        domain::Formulas formulas) {
  std::string csv;
  domain::AppendCsvHeader({"a"}, formulas, &csv);
  std::string written;
  domain::AppendCsvRecord(std::vector<base::Json>(cells.begin(), cells.end()), cells.size(),
                          formulas, &written);
  // The same of cells that are JSON texts, as the rows of a run are.
  std::vector<std::string> texts;
  for (const std::string& cell : cells) texts.push_back(base::DumpJson(base::Json(cell)));
  std::string of_texts;
  domain::AppendCsvTexts(base::CellTexts(texts.begin(), texts.end()), cells.size(), formulas,
                         &of_texts);
  if (of_texts != written) std::abort();
  csv += written;
  std::vector<std::vector<std::string>> read;
  const auto take = [&](domain::CsvRecord& record) -> std::optional<domain::CsvProblem> {
    read.push_back(record.fields);
    return std::nullopt;
  };
  domain::CsvReader reader(1, std::size_t{1} << 24);
  if (reader.Feed(csv, take) || reader.Finish(take) || read.size() != 2) std::abort();
  return read[1];
}

enum class Expected { kGuarded, kAsItIs, kEither };

// Between the two: what stands behind white space and marks that are not shown, which the
// writer looks through.
Expected ExpectedOf(std::string_view cell) {
  if (cell.empty() || domain::IsDecimalNumber(cell)) return Expected::kAsItIs;
  const char first = cell.front();
  if (std::string_view("=+-@\t\r\n").find(first) != std::string_view::npos) {
    return Expected::kGuarded;
  }
  return base::IsAsciiLetter(first) || base::IsAsciiDigit(first) ? Expected::kAsItIs
                                                                 : Expected::kEither;
}

bool IsAsExpected(const std::string& cell, const std::string& guarded) {
  const Expected expected = ExpectedOf(cell);
  if (guarded == cell) return expected != Expected::kGuarded;
  return guarded == "'" + cell && expected != Expected::kAsItIs;
}

}  // namespace

FUZZ_TARGET(csv_writer, bytes) {
  const auto cells = CellsOf(bytes);
  if (WrittenAndRead(cells, domain::Formulas::kAsTheyAre) != cells) std::abort();
  const auto guarded = WrittenAndRead(cells, domain::Formulas::kDefused);
  if (guarded.size() != cells.size()) std::abort();
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (!IsAsExpected(cells[i], guarded[i])) std::abort();
  }
}

}  // namespace vedette
