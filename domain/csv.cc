#include "domain/csv.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace vedette::domain {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

}  // namespace

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
  if (offset_ < marks_ + kByteOrderMark.size()) return 0;
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
    if (offset_ == marks_ + kByteOrderMark.size() && line_ == 1 && field_ == kByteOrderMark) {
      field_.clear();
      state_ = State::kFieldStart;
      marks_ = offset_;
    }
    if (record_bytes_ > record_bytes_max_) {
      CsvProblem problem =
          Problem("the record is longer than " + std::to_string(record_bytes_max_) +
                  " bytes; is a quote left open?");
      problem.too_long = true;
      return problem;
    }
  }
  return std::nullopt;
}

std::optional<CsvProblem> CsvReader::Step(char c, const Take& take) {
  if (c == '\0') return Problem("the record contains a NUL byte");
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

}  // namespace vedette::domain
