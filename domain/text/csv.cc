#include "domain/text/csv.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "domain/text/exact_number.h"

namespace vedette::domain {
CsvReader::CsvReader(std::int64_t first_line, std::size_t record_bytes_max)
    : record_bytes_max_(record_bytes_max), line_(first_line) {
  record_.line = first_line;
}

CsvProblem CsvReader::Problem(std::string message) const {
  return {record_.line, std::move(message)};
}

// How many characters at the start of the piece go into the field as they are. None while a byte
// order mark may be coming, and none beyond what a record may have.
std::size_t CsvReader::PlainRun(std::string_view piece) const {
  if (state_ != State::kPlain && state_ != State::kQuoted) return 0;
  if (offset_ < marks_ + base::kByteOrderMark.size()) return 0;
  const std::size_t most = std::min(piece.size(), record_bytes_max_ - record_bytes_);
  std::size_t run = 0;
  while (run < most && piece[run] != ',' && piece[run] != '"' && piece[run] != '\n' &&
         piece[run] != '\0') {
    ++run;
  }
  return run;
}

std::optional<CsvProblem> CsvReader::Feed(std::string_view piece, const Take& take) {
  while (!piece.empty()) {
    if (const std::size_t run = PlainRun(piece); run > 0) {
      field_.append(piece.substr(0, run));
      offset_ += run;
      record_bytes_ += run;
      piece.remove_prefix(run);
      continue;
    }
    const char c = piece.front();
    piece.remove_prefix(1);
    ++offset_;
    ++record_bytes_;
    if (c == '\n') ++line_;
    if (auto problem = Step(c, take)) return problem;
    // A mark is not part of a file's first field.
    if (offset_ == marks_ + base::kByteOrderMark.size() && line_ == 1 &&
        field_ == base::kByteOrderMark) {
      field_.clear();
      state_ = State::kFieldStart;
      marks_ = offset_;
    }
    if (record_bytes_ > record_bytes_max_) {
      CsvProblem problem =
          Problem("the record is longer than " + std::to_string(record_bytes_max_) +
                  " bytes; is a quote left open, or do lines end otherwise than with LF or CRLF?");
      problem.too_long = true;
      return problem;
    }
  }
  return std::nullopt;
}

std::optional<CsvProblem> CsvReader::Step(char c, const Take& take) {
  if (c == '\0') return Problem("the record contains a NUL byte: save the file as UTF-8");
  switch (state_) {
    case State::kFieldStart:
      if (c == '"') {
        state_ = State::kQuoted;
        return std::nullopt;
      }
      state_ = State::kPlain;
      [[fallthrough]];
    case State::kPlain:
      if (c == '\n') return EndRecord(take);
      if (c == ',') {
        EndField();
      } else if (c == '"') {
        return Problem("a quote inside a field that does not begin with one");
      } else {
        field_ += c;
      }
      return std::nullopt;
    case State::kQuoted:
      if (c == '"') {
        state_ = State::kQuoteInQuoted;
      } else {
        field_ += c;
      }
      return std::nullopt;
    case State::kQuoteInQuoted:
      if (c == '"') {
        field_ += c;
        state_ = State::kQuoted;
      } else if (c == ',') {
        EndField();
      } else if (c == '\n') {
        return EndRecord(take);
      } else if (c == '\r') {
        state_ = State::kCarriageReturn;
      } else {
        return Problem("text behind the closing quote of a field");
      }
      return std::nullopt;
    case State::kCarriageReturn:
      if (c == '\n') return EndRecord(take);
      return Problem("text behind the closing quote of a field");
  }
  return std::nullopt;
}

void CsvReader::EndField() {
  record_.fields.push_back(std::move(field_));
  field_.clear();
  state_ = State::kFieldStart;
}

std::optional<CsvProblem> CsvReader::EndRecord(const Take& take) {
  if (state_ == State::kPlain && field_.ends_with('\r')) field_.pop_back();
  const bool quoted = state_ == State::kQuoteInQuoted || state_ == State::kCarriageReturn;
  const bool empty_line = record_.fields.empty() && field_.empty() && !quoted;
  EndField();
  record_.end = offset_;
  std::optional<CsvProblem> problem;
  if (!empty_line) {
    for (const std::string& field : record_.fields) {
      if (!base::IsValidUtf8(field)) return Problem("the record is not valid UTF-8");
    }
    problem = take(record_);
  }
  record_.fields.clear();
  record_.line = line_;
  record_bytes_ = 0;
  return problem;
}

std::optional<CsvProblem> CsvReader::Finish(const Take& take) {
  if (state_ == State::kQuoted) return Problem("a quote is left open");
  if (record_bytes_ == 0 || (state_ == State::kFieldStart && record_.fields.empty())) {
    return std::nullopt;
  }
  return EndRecord(take);
}

namespace {

// What stands before a formula without being seen: white space, and marks that are not shown.
bool IsUnseen(std::uint32_t code) {
  constexpr std::array<std::uint32_t, 9> kUnseen{0x85,   0xA0,   0x1680, 0x2028, 0x2029,
                                                 0x202F, 0x205F, 0x3000, 0xFEFF};
  return (code >= 0x2000 && code <= 0x200F) || code == 0x2060 ||
         std::find(kUnseen.begin(), kUnseen.end(), code) != kUnseen.end();
}

std::string_view WithoutUnseen(std::string_view text) {
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(base::kAsciiSpace), text.size()));
    std::uint32_t code = 0;
    const std::size_t length = base::DecodeUtf8(text, &code);
    if (length < 2 || !IsUnseen(code)) return text;
    text.remove_prefix(length);
  }
}

bool BeginsFormula(std::string_view text) {
  constexpr std::string_view kBeginnings = "=+-@";
  // Signs of full width, which spreadsheets in East Asia take for the others.
  constexpr std::array<std::uint32_t, 4> kWide{0xFF1D, 0xFF0B, 0xFF0D, 0xFF20};
  std::uint32_t code = 0;
  if (base::DecodeUtf8(text, &code) == 0) return false;
  if (code < 0x80) return kBeginnings.find(text.front()) != std::string_view::npos;
  return std::find(kWide.begin(), kWide.end(), code) != kWide.end();
}

bool IsFormula(std::string_view text) {
  if (text.empty() || base::IsAsciiLetter(text.front()) || base::IsAsciiDigit(text.front())) {
    return false;  // as most are
  }
  constexpr std::string_view kLineBeginnings = "\t\r\n";
  if (kLineBeginnings.find(text.front()) != std::string_view::npos) return true;
  const std::string_view seen = WithoutUnseen(text);
  return BeginsFormula(seen) && !IsDecimalNumber(seen);
}

// Looks at every character, so that the compiler makes it look at many at a time.
bool NeedsQuotes(std::string_view text) {
  unsigned special = 0;
  for (const char c : text) {
    special |= static_cast<unsigned>(c == ',') | static_cast<unsigned>(c == '"') |
               static_cast<unsigned>(c == '\r') | static_cast<unsigned>(c == '\n');
  }
  return special != 0;
}

void AppendField(std::string_view text, std::string* out) {
  if (!NeedsQuotes(text)) {
    out->append(text);
    return;
  }
  out->push_back('"');
  for (const char c : text) {
    if (c == '"') out->push_back('"');
    out->push_back(c);
  }
  out->push_back('"');
}

void AppendText(std::string_view text, Formulas formulas, std::string* out) {
  if (formulas == Formulas::kDefused && IsFormula(text)) {
    AppendField("'" + std::string(text), out);
  } else {
    AppendField(text, out);
  }
}

void AppendCell(const base::Json& cell, Formulas formulas, std::string* out) {
  if (cell.is_null()) return;
  if (cell.is_string()) {
    AppendText(cell.get_ref<const std::string&>(), formulas, out);
  } else {
    AppendField(base::DumpJson(cell), out);
  }
}

// A string without escapes, which most cells are, is not read.
void AppendCell(std::string_view cell, Formulas formulas, std::string* out) {
  const bool plain = cell.size() >= 2 && cell.front() == '"' && cell.back() == '"' &&
                     cell.find('\\') == std::string_view::npos;
  if (plain) {
    AppendText(cell.substr(1, cell.size() - 2), formulas, out);
  } else {
    AppendCell(base::ReadJsonCell(cell), formulas, out);
  }
}

// A record of one empty field would be an empty line, which readers pass over.
void EndRecord(std::size_t began, std::string* out) {
  if (out->size() == began) out->append("\"\"");
  out->append("\r\n");
}

template <typename Row>
void AppendRecord(const Row& cells, std::size_t width, Formulas formulas, std::string* out) {
  const std::size_t began = out->size();
  for (std::size_t i = 0; i < width; ++i) {
    if (i > 0) out->push_back(',');
    if (i < cells.size()) AppendCell(cells[i], formulas, out);
  }
  EndRecord(began, out);
}

}  // namespace

void AppendCsvRecord(const std::vector<base::Json>& cells, std::size_t width, Formulas formulas,
                     std::string* out) {
  AppendRecord(cells, width, formulas, out);
}

void AppendCsvTexts(const base::CellTexts& cells, std::size_t width, Formulas formulas,
                    std::string* out) {
  AppendRecord(cells, width, formulas, out);
}

void AppendCsvHeader(const std::vector<std::string>& columns, Formulas formulas, std::string* out) {
  const std::size_t began = out->size();
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (i > 0) out->push_back(',');
    AppendText(columns[i], formulas, out);
  }
  EndRecord(began, out);
}

}  // namespace vedette::domain
