#include "worker/probes/number.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>

namespace vedette::worker {
namespace {

constexpr std::string_view kMinusSign = "\xE2\x88\x92";   // U+2212
constexpr std::string_view kRightQuote = "\xE2\x80\x99";  // as the Swiss set thousands apart
constexpr std::size_t kDigitsMax = 100;

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

bool ThreeDigitsAt(std::string_view text, std::size_t at) {
  const auto digit = [&](std::size_t i) { return i < text.size() && IsDigit(text[i]); };
  return digit(at) && digit(at + 1) && digit(at + 2) && !digit(at + 3);
}

// Digits and separators, from the first digit on: "1 234.50" becomes "1234.50".
std::string TakeDigits(std::string_view text) {
  std::string out;
  std::size_t i = 0;
  while (i < text.size() && out.size() < kDigitsMax) {
    const char c = text[i];
    const bool followed = i + 1 < text.size() && IsDigit(text[i + 1]);
    if (IsDigit(c) || ((c == '.' || c == ',') && followed)) {
      out += c;
      ++i;
    } else if ((c == ' ' || c == '\'') && ThreeDigitsAt(text, i + 1)) {
      ++i;
    } else if (text.substr(i).starts_with(kRightQuote) &&
               ThreeDigitsAt(text, i + kRightQuote.size())) {
      i += kRightQuote.size();
    } else {
      break;
    }
  }
  return out;
}

// Where the decimals begin; npos for none.
std::size_t DecimalSeparator(const std::string& digits) {
  const std::size_t last = digits.find_last_of(".,");
  if (last == std::string::npos) return last;
  const auto n = std::count(digits.begin(), digits.end(), digits[last]);
  const bool both = digits.find(digits[last] == '.' ? ',' : '.') != std::string::npos;
  if (n > 1) return std::string::npos;
  if (!both && digits[last] == ',' && digits.size() - last == 4 && digits[0] != '0') {
    return std::string::npos;
  }
  return last;
}

}  // namespace

std::optional<base::Json> FirstNumber(std::string_view text) {
  const auto first = std::find_if(text.begin(), text.end(), IsDigit);
  if (first == text.end()) return std::nullopt;
  auto at = static_cast<std::size_t>(first - text.begin());
  std::string digits = TakeDigits(text.substr(at));
  // ".5", but not "No.5".
  const bool bare = at == 1 || (at > 1 && (text[at - 2] == ' ' || text[at - 2] == '-'));
  if (bare && (text[at - 1] == '.' || text[at - 1] == ',')) {
    digits.insert(0, "0.");
    --at;
  }
  const std::string_view before = text.substr(0, at);
  // A hyphen between words or digits, as in "2024-11" or "A-4", is no sign.
  const bool hyphen =
      before.ends_with('-') && (at == 1 || before[at - 2] == ' ' || before[at - 2] == '(');
  const bool negative = hyphen || before.ends_with(kMinusSign);
  const std::size_t decimal = digits.starts_with("0.") ? 1 : DecimalSeparator(digits);
  std::string plain = negative ? "-" : "";
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (IsDigit(digits[i])) plain += digits[i];
    if (i == decimal) plain += '.';
  }
  double number = 0;
  const auto [end, error] = std::from_chars(plain.data(), plain.data() + plain.size(), number);
  if (error != std::errc()) return std::nullopt;
  constexpr double kExact = 9007199254740992.0;  // 2^53
  if (number == std::floor(number) && std::abs(number) < kExact) {
    return base::Json(static_cast<std::int64_t>(number));
  }
  return base::Json(number);
}

}  // namespace vedette::worker
