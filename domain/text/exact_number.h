#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// Numbers of JSON by their exact decimal value, whatever their length and notation. Pure.
namespace vedette::domain {

// Whether the text is a number in decimal digits: [+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)? JSON's
// numbers are, and a plus sign and leading zeros may stand before.
bool IsDecimalNumber(std::string_view text);

// A number that is read once, for many comparisons by its value. Immutable.
class ExactNumber {
 public:
  // Nothing: the text is no decimal number.
  static std::optional<ExactNumber> Read(std::string_view text);

  bool operator==(const ExactNumber&) const = default;
  std::strong_ordering operator<=>(const ExactNumber& other) const;

 private:
  friend std::string PlainNumber(std::string_view number);
  friend bool IsSameNumber(std::string_view a, std::string_view b);

  // The number that a text is.
  explicit ExactNumber(std::string_view text);

  std::strong_ordering CompareSizes(const ExactNumber& other) const;

  // (-1)^negative * digits * 10^exponent; digits neither begin nor end with a zero. Zero has none.
  bool negative_ = false;
  std::string digits_;
  std::int64_t exponent_ = 0;
};

// Whether two numbers, written as JSON has them, are the same: 1E2, 100 and 100.0 are.
bool IsSameNumber(std::string_view a, std::string_view b);

// One text for every notation of the number: plain digits (100, -0.5) where those are few, else
// digits and an exponent (1e400).
std::string PlainNumber(std::string_view number);

}  // namespace vedette::domain
