#include "domain/text/exact_number.h"

#include <algorithm>
#include <cstdint>

namespace vedette::domain {
namespace {

// Longer ones are written with an exponent.
constexpr std::int64_t kPlainDigitsMax = 100;
// More than any number that a sender would tell from another one; keeps the sums below exact.
constexpr std::int64_t kExponentMax = 1'000'000'000'000;

std::int64_t ReadExponent(std::string_view text) {
  const bool negative = text.starts_with('-');
  std::int64_t value = 0;
  for (const char c : text) {
    if (c >= '0' && c <= '9') value = std::min(value * 10 + (c - '0'), kExponentMax);
  }
  return negative ? -value : value;
}

// How many characters at the start of the text are digits.
std::size_t Digits(std::string_view text) {
  const std::size_t end = text.find_first_not_of("0123456789");
  return end == std::string_view::npos ? text.size() : end;
}

}  // namespace

bool IsDecimalNumber(std::string_view text) {
  if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
  const std::size_t whole = Digits(text);
  if (whole == 0) return false;
  text.remove_prefix(whole);
  if (text.starts_with('.')) {
    const std::size_t fraction = Digits(text.substr(1));
    if (fraction == 0) return false;
    text.remove_prefix(1 + fraction);
  }
  if (text.empty()) return true;
  if (text.front() != 'e' && text.front() != 'E') return false;
  text.remove_prefix(1);
  if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && Digits(text) == text.size();
}

ExactNumber::ExactNumber(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  negative_ = text.starts_with('-');
  bool behind_point = false;
  for (std::size_t i = negative_ ? 1 : 0; i < text.size(); ++i) {
    if (text[i] == 'e' || text[i] == 'E') {
      exponent_ += ReadExponent(text.substr(i + 1));
      break;
    }
    if (text[i] == '.') {
      behind_point = true;
      continue;
    }
    if (behind_point) --exponent_;
    if (!digits_.empty() || text[i] != '0') digits_ += text[i];
  }
  while (digits_.ends_with('0')) {
    digits_.pop_back();
    ++exponent_;
  }
  if (!digits_.empty()) return;
  negative_ = false;
  exponent_ = 0;
}

std::optional<ExactNumber> ExactNumber::Read(std::string_view text) {
  if (!IsDecimalNumber(text)) return std::nullopt;
  return ExactNumber(text);
}

std::strong_ordering ExactNumber::operator<=>(const ExactNumber& other) const {
  if (negative_ != other.negative_) {
    return negative_ ? std::strong_ordering::less : std::strong_ordering::greater;
  }
  return negative_ ? other.CompareSizes(*this) : CompareSizes(other);
}

// Both numbers have the same sign, which is passed over.
std::strong_ordering ExactNumber::CompareSizes(const ExactNumber& other) const {
  const auto point = [](const ExactNumber& number) {
    return static_cast<std::int64_t>(number.digits_.size()) + number.exponent_;
  };
  if (digits_.empty() || other.digits_.empty() || point(*this) == point(other)) {
    return digits_ <=> other.digits_;
  }
  return point(*this) <=> point(other);
}

bool IsSameNumber(std::string_view a, std::string_view b) {
  return ExactNumber(a) == ExactNumber(b);
}

std::string PlainNumber(std::string_view text) {
  const ExactNumber number(text);
  if (number.digits_.empty()) return "0";
  const std::string sign = number.negative_ ? "-" : "";
  const auto size = static_cast<std::int64_t>(number.digits_.size());
  const std::int64_t before_point = size + number.exponent_;
  if (std::max(before_point, size) > kPlainDigitsMax || before_point < -kPlainDigitsMax) {
    return sign + number.digits_ + 'e' + std::to_string(number.exponent_);
  }
  if (number.exponent_ >= 0) {
    return sign + number.digits_ + std::string(static_cast<std::size_t>(number.exponent_), '0');
  }
  if (before_point > 0) {
    std::string plain = number.digits_;
    return sign + plain.insert(static_cast<std::size_t>(before_point), ".");
  }
  return sign + "0." + std::string(static_cast<std::size_t>(-before_point), '0') + number.digits_;
}

}  // namespace vedette::domain
