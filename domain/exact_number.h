#pragma once

#include <string>
#include <string_view>

// Numbers of JSON by their exact decimal value, whatever their length and notation. Pure.
namespace vedette::domain {

// Whether the text is a number in decimal digits: [+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)? JSON's
// numbers are, and a plus sign and leading zeros may stand before.
bool IsDecimalNumber(std::string_view text);

// Negative, 0 or positive as the first of two decimal numbers is less, the same or greater.
int CompareNumbers(std::string_view a, std::string_view b);

// Whether two numbers, written as JSON has them, are the same: 1E2, 100 and 100.0 are.
bool IsSameNumber(std::string_view a, std::string_view b);

// One text for every notation of the number: plain digits (100, -0.5) where those are few, else
// digits and an exponent (1e400).
std::string PlainNumber(std::string_view number);

}  // namespace vedette::domain
