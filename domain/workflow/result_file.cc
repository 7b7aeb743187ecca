#include "domain/workflow/result_file.h"

#include <charconv>
#include <cstdint>

#include <fmt/format.h>

#include "base/crypto.h"
#include "base/text.h"
#include "domain/workflow/cells.h"

namespace vedette::domain {
namespace {

constexpr std::string_view kKeyUse = "vedette download 1";
constexpr std::size_t kFileNameCharsMax = 40;
constexpr std::size_t kIdCharsShown = 8;

std::string Sign(std::string_view run_id, std::string_view block, std::string_view format,
                 std::string_view expires, std::string_view encryption_key) {
  const std::string key = base::HmacSha256(encryption_key, kKeyUse);
  return base::Base64UrlEncode(
      base::HmacSha256(key, fmt::format("v1\n{}\n{}\n{}\n{}", run_id, block, format, expires)));
}

std::int64_t UnixSeconds(base::Timestamp time) {
  return std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
}

// Text that a number was written as, without anything around it.
template <typename Number>
std::optional<Number> ParseNumber(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<ResultFormat> ParseFormat(std::string_view name) {
  for (const ResultFormat format : {ResultFormat::kCsv, ResultFormat::kNdjson}) {
    if (ResultFormatName(format) == name) return format;
  }
  return std::nullopt;
}

}  // namespace

std::string_view ResultFormatName(ResultFormat format) {
  return format == ResultFormat::kCsv ? "csv" : "ndjson";
}

std::string_view ResultContentType(ResultFormat format) {
  return format == ResultFormat::kCsv ? "text/csv; charset=utf-8" : "application/x-ndjson";
}

std::string DownloadPath(const ResultFile& file, base::Timestamp expires,
                         std::string_view encryption_key) {
  const std::string run_id = file.run_id.ToString();
  const std::string block = std::to_string(file.block);
  const std::string until = std::to_string(UnixSeconds(expires));
  const std::string_view format = ResultFormatName(file.format);
  return fmt::format("/storage/download/{}/{}.{}?expires={}&signature={}", run_id, block, format,
                     until, Sign(run_id, block, format, until, encryption_key));
}

LinkCheck VerifyLink(const GivenLink& link, const std::vector<std::string>& encryption_keys,
                     base::Timestamp now) {
  const std::size_t dot = link.file.find('.');
  if (!link.expires || !link.signature || dot == std::string::npos) return LinkRefused::kInvalid;
  const std::string block = link.file.substr(0, dot);
  const std::string format = link.file.substr(dot + 1);
  // Every key is tried, whichever signed it.
  bool is_signed = false;
  for (const std::string& key : encryption_keys) {
    const std::string expected = Sign(link.run_id, block, format, *link.expires, key);
    if (base::ConstantTimeEqual(expected, *link.signature)) is_signed = true;
  }
  if (!is_signed) return LinkRefused::kInvalid;
  const auto run_id = base::Uuid::Parse(link.run_id);
  const auto number = ParseNumber<int>(block);
  const auto known = ParseFormat(format);
  const auto expires = ParseNumber<std::int64_t>(*link.expires);
  if (!run_id || !number || !known || !expires) return LinkRefused::kInvalid;
  if (UnixSeconds(now) > *expires) return LinkRefused::kExpired;
  return LinkTaken{{*run_id, *number, *known}};
}

std::string ResultFileName(std::string_view workflow_name, int sequence_number,
                           std::string_view block_name, const ResultFile& file) {
  std::string name;
  for (const char c : workflow_name) {
    if (name.size() == kFileNameCharsMax) break;
    const bool plain = base::IsAsciiLetter(c) || base::IsAsciiDigit(c) || c == '_' || c == '-';
    // A character of several bytes leaves one.
    if (plain || !base::ContinuesCharacter(c)) name += plain ? c : '_';
  }
  return fmt::format("{}_{}_{}_{}.{}", name, sequence_number, block_name,
                     file.run_id.ToString().substr(0, kIdCharsShown),
                     ResultFormatName(file.format));
}

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
    ++rows_written_;
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
