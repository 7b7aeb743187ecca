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
  if (text.starts_with('+')) text.remove_prefix(1);
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

// How many characters at the start of the text are digits.
std::size_t Digits(std::string_view text) {
  const std::size_t end = text.find_first_not_of("0123456789");
  return end == std::string_view::npos ? text.size() : end;
}

// Of two numbers of the same sign that is not negative.
int CompareSizes(const Decimal& a, const Decimal& b) {
  const auto point = [](const Decimal& number) {
    return static_cast<std::int64_t>(number.digits.size()) + number.exponent;
  };
  if (a.digits.empty() || b.digits.empty() || point(a) == point(b)) {
    return a.digits.compare(b.digits);
  }
  return point(a) < point(b) ? -1 : 1;
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

int CompareNumbers(std::string_view a, std::string_view b) {
  const Decimal first = ReadDecimal(a);
  const Decimal second = ReadDecimal(b);
  if (first.negative != second.negative) return first.negative ? -1 : 1;
  return first.negative ? CompareSizes(second, first) : CompareSizes(first, second);
}

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
