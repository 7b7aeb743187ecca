#include "base/json_rows.h"

#include <algorithm>
#include <stdexcept>

#include "base/text.h"

namespace vedette::base {

bool RowReader::Next(CellTexts* cells) {
  for (;;) {
    if (at_ == 0) {
      Enter('[');
      if (Take(']')) return End();
    } else if (!Take(',')) {
      Enter(']');
      return End();
    }
    if (Peek() == '[') {
      Row(cells);
      return true;
    }
    Value();
  }
}

void RowReader::Refuse() {
  throw std::invalid_argument("not an array of rows");
}

void RowReader::Space() {
  while (at_ < text_.size() && IsSpace(text_[at_], kLineSpace)) ++at_;
}

// The next character that is not blank; NUL at the end.
char RowReader::Peek() {
  Space();
  return at_ < text_.size() ? text_[at_] : '\0';
}

// Passes over the character, and what is blank around it, if it comes next.
bool RowReader::Take(char c) {
  if (Peek() != c) return false;
  ++at_;
  Space();
  return true;
}

void RowReader::Enter(char c) {
  if (!Take(c)) Refuse();
}

// Behind the array.
bool RowReader::End() const {
  if (at_ != text_.size()) Refuse();
  return false;
}

void RowReader::Row(CellTexts* cells) {
  cells->clear();
  Enter('[');
  if (Take(']')) return;
  do {
    cells->push_back(Value());
  } while (Take(','));
  Enter(']');
}

std::string_view RowReader::Value() {
  const char first = Peek();
  const std::size_t from = at_;
  if (first == '"') {
    String();
  } else if (first == '[' || first == '{') {
    Container();
  } else {
    at_ = std::min(text_.find_first_of(",]} \t\r\n", at_), text_.size());
  }
  if (at_ == from) Refuse();
  return text_.substr(from, at_ - from);
}

void RowReader::Container() {
  std::size_t depth = 0;
  do {
    if (at_ >= text_.size()) Refuse();
    const char c = text_[at_];
    if (c == '"') {
      String();
      continue;
    }
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    ++at_;
  } while (depth > 0);
}

// Reads from one quote to behind the other.
void RowReader::String() {
  ++at_;
  for (;;) {
    const std::size_t quote = text_.find('"', at_);
    if (quote == std::string_view::npos) Refuse();
    const std::size_t escape = text_.substr(at_, quote - at_).find('\\');
    if (escape == std::string_view::npos) {
      at_ = quote + 1;
      return;
    }
    at_ += escape + 2;  // over the backslash and what it escapes
  }
}

void ForEachRow(std::string_view text, const std::function<void(CellTexts& row)>& row) {
  RowReader reader(text);
  CellTexts cells;
  while (reader.Next(&cells)) row(cells);
}

}  // namespace vedette::base
