#include "domain/exact_number.h"

#include <algorithm>
#include <cstdint>

namespace vedette::domain {
namespace {

// Longer ones are written with an exponent.
constexpr std::int64_t kPlainDigitsMax = 100;
// More than any number that a sender would tell from another one; keeps the sums below exact.
constexpr std::int64_t kExponentMax = 1'000'000'000'000;

// (-1)^negative * digits * 10^exponent; digits neither begin nor end with a zero. Zero has none.
struct Decimal {
  bool negative = false;
  std::string digits;
  std::int64_t exponent = 0;

  bool operator==(const Decimal&) const = default;
};

std::int64_t ReadExponent(std::string_view text) {
  const bool negative = text.starts_with('-');
  std::int64_t value = 0;
  for (const char c : text) {
    if (c >= '0' && c <= '9') value = std::min(value * 10 + (c - '0'), kExponentMax);
  }
  return negative ? -value : value;
}

Decimal ReadDecimal(std::string_view text) {
  Decimal number;
  number.negative = text.starts_with('-');
  bool behind_point = false;
  for (std::size_t i = number.negative ? 1 : 0; i < text.size(); ++i) {
    if (text[i] == 'e' || text[i] == 'E') {
      number.exponent += ReadExponent(text.substr(i + 1));
      break;
    }
    if (text[i] == '.') {
      behind_point = true;
      continue;
    }
    if (behind_point) --number.exponent;
    if (!number.digits.empty() || text[i] != '0') number.digits += text[i];
  }
  while (number.digits.ends_with('0')) {
    number.digits.pop_back();
    ++number.exponent;
  }
  if (number.digits.empty()) return {};
  return number;
}

}  // namespace

bool IsSameNumber(std::string_view a, std::string_view b) {
  return ReadDecimal(a) == ReadDecimal(b);
}

std::string PlainNumber(std::string_view text) {
  const Decimal number = ReadDecimal(text);
  if (number.digits.empty()) return "0";
  const std::string sign = number.negative ? "-" : "";
  const auto size = static_cast<std::int64_t>(number.digits.size());
  const std::int64_t before_point = size + number.exponent;
  if (std::max(before_point, size) > kPlainDigitsMax || before_point < -kPlainDigitsMax) {
    return sign + number.digits + 'e' + std::to_string(number.exponent);
  }
  if (number.exponent >= 0) {
    return sign + number.digits + std::string(static_cast<std::size_t>(number.exponent), '0');
  }
  if (before_point > 0) {
    std::string plain = number.digits;
    return sign + plain.insert(static_cast<std::size_t>(before_point), ".");
  }
  return sign + "0." + std::string(static_cast<std::size_t>(-before_point), '0') + number.digits;
}

}  // namespace vedette::domain
