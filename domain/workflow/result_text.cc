#include "domain/workflow/result_text.h"

#include "domain/workflow/part_rows.h"

namespace vedette::domain {

void ResultText::AppendHead(std::string* out) const {
  if (format_ == ResultFormat::kCsv) AppendCsvHeader(columns_, formulas_, out);
}

void ResultText::Begin(std::string_view rows_json) {
  rows_.emplace(rows_json);
  taken_ = 0;
}

void ResultText::Resume(std::string_view rows_json) {
  const std::size_t taken = taken_;
  Begin(rows_json);
  while (taken_ < taken && NextRow()) {
  }
}

bool ResultText::NextRow() {
  if (!rows_->Next(&row_)) return false;
  ++taken_;
  return true;
}

bool ResultText::Append(std::size_t bytes, std::string* out) {
  while (out->size() < bytes) {
    if (at_ == 0 && !NextRow()) return true;
    if (format_ == ResultFormat::kCsv) {
      AppendCsvTexts(row_, columns_.size(), formulas_, out);
    } else if (!AppendObject(bytes, out)) {
      return false;
    }
  }
  return false;
}

bool ResultText::AppendObject(std::size_t bytes, std::string* out) {
  for (; at_ < columns_.size(); ++at_) {
    if (out->size() >= bytes) return false;
    AppendRowMember(columns_, row_, at_, out);
  }
  at_ = 0;
  out->append(columns_.empty() ? "{}\n" : "}\n");
  return true;
}

}  // namespace vedette::domain
