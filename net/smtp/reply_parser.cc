#include "net/smtp/reply_parser.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace vedette::net {
namespace {

using base::IsAsciiDigit;

constexpr std::size_t kCodeDigits = 3;
constexpr std::size_t kEnhancedDigitsMax = 3;

// Digits from `at` on, at most kEnhancedDigitsMax; the place after them, or npos.
std::size_t Digits(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && end - at < kEnhancedDigitsMax && IsAsciiDigit(text[end])) ++end;
  return end == at ? std::string_view::npos : end;
}

std::string Printable(std::string_view text) {
  std::string out(text);
  std::replace_if(
      out.begin(), out.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return out;
}

}  // namespace

std::string EnhancedCode(std::string_view text) {
  if (text.size() < 5 || text[1] != '.' || (text[0] != '2' && text[0] != '4' && text[0] != '5')) {
    return {};
  }
  const std::size_t subject = Digits(text, 2);
  if (subject == std::string_view::npos || subject >= text.size() || text[subject] != '.') {
    return {};
  }
  const std::size_t detail = Digits(text, subject + 1);
  if (detail == std::string_view::npos) return {};
  if (detail < text.size() && text[detail] != ' ') return {};
  return std::string(text.substr(0, detail));
}

SmtpReplyParser::Line SmtpReplyParser::Take(std::string_view line) {
  // No mail server says NUL (RFC 5321 2.3.8 and 4.2): something else listens there.
  if (line.find('\0') != std::string_view::npos) return Line::kBroken;
  if (line.size() < kCodeDigits || !std::all_of(line.begin(), line.begin() + 3, IsAsciiDigit)) {
    return Line::kBroken;
  }
  const char after = line.size() > kCodeDigits ? line[kCodeDigits] : ' ';
  const int code = (line[0] - '0') * 100 + (line[1] - '0') * 10 + (line[2] - '0');
  if (code < 200 || code > 599 || (after != ' ' && after != '-')) return Line::kBroken;
  if (!partial_) {
    partial_.emplace().code = code;
    reply_bytes_ = 0;
  }
  reply_bytes_ += line.size();
  if (partial_->code != code || reply_bytes_ > kSmtpReplyBytesMax ||
      partial_->lines.size() == kSmtpReplyLinesMax) {
    return Line::kBroken;
  }
  const std::string_view text =
      line.size() > kCodeDigits ? line.substr(kCodeDigits + 1) : std::string_view();
  if (std::string enhanced = EnhancedCode(text); !enhanced.empty()) {
    partial_->enhanced = std::move(enhanced);
  }
  partial_->lines.push_back(Printable(text));
  return after == '-' ? Line::kMore : Line::kLast;
}

std::optional<SmtpReply> SmtpReplyParser::Next() {
  while (!broken_) {
    const std::size_t end = buffer_.find('\n', scanned_);
    if (end == std::string::npos) {
      scanned_ = buffer_.size();
      broken_ = scanned_ > kSmtpLineBytesMax;
      return std::nullopt;
    }
    std::string_view line = std::string_view(buffer_).substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    const Line taken = line.size() > kSmtpLineBytesMax ? Line::kBroken : Take(line);
    buffer_.erase(0, end + 1);
    scanned_ = 0;
    broken_ = taken == Line::kBroken;
    if (taken == Line::kLast) return std::exchange(partial_, std::nullopt);
  }
  return std::nullopt;
}

}  // namespace vedette::net
