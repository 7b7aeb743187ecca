#include "domain/money.h"
#include "base/json.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace vedette::domain {
namespace {

constexpr std::int64_t kCreditsMax = 1'000'000'000'000;
constexpr std::int64_t kMillisPerCredit = 1000;

}  // namespace

base::Json CreditsToJson(std::int64_t mc) {
  if (mc % kMillisPerCredit == 0) return mc / kMillisPerCredit;
  // The nearest double prints back as the decimal it came from, up to 15 significant digits.
  return static_cast<double>(mc) / kMillisPerCredit;
}

std::string FormatCredits(std::int64_t mc) {
  // In unsigned arithmetic, as the lowest number has no positive counterpart.
  const std::uint64_t amount =
      mc < 0 ? 0 - static_cast<std::uint64_t>(mc) : static_cast<std::uint64_t>(mc);
  std::string text =
      fmt::format("{}{}", mc < 0 ? "-" : "", amount / static_cast<std::uint64_t>(kMillisPerCredit));
  if (const std::uint64_t millis = amount % static_cast<std::uint64_t>(kMillisPerCredit)) {
    std::string decimals = fmt::format(".{:03}", millis);
    decimals.erase(decimals.find_last_not_of('0') + 1);
    text += decimals;
  }
  return text;
}

std::optional<std::int64_t> CreditsFromJson(const base::Json& value) {
  if (value.is_number_unsigned()) {
    const auto credits = value.get<std::uint64_t>();
    if (credits > static_cast<std::uint64_t>(kCreditsMax)) return std::nullopt;
    return static_cast<std::int64_t>(credits) * kMillisPerCredit;
  }
  if (value.is_number_integer()) {
    const auto credits = value.get<std::int64_t>();
    if (credits > kCreditsMax || credits < -kCreditsMax) return std::nullopt;
    return credits * kMillisPerCredit;
  }
  if (!value.is_number_float()) return std::nullopt;
  const auto credits = value.get<double>();
  if (!(std::fabs(credits) <= static_cast<double>(kCreditsMax))) return std::nullopt;
  // Three decimals at most: then the nearest count of thousandths gives back the very same double.
  const std::int64_t mc = std::llround(credits * kMillisPerCredit);
  if (static_cast<double>(mc) / kMillisPerCredit != credits) return std::nullopt;
  return mc;
}

std::optional<std::int64_t> ParseCredits(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const std::size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  const std::string_view decimals =
      point == std::string_view::npos ? std::string_view{} : text.substr(point + 1);
  if (point != std::string_view::npos && (decimals.empty() || decimals.size() > 3)) {
    return std::nullopt;
  }
  std::string digits(whole);
  digits.append(decimals).append(3 - decimals.size(), '0');
  if (whole.empty() || digits.find_first_not_of("0123456789") != std::string::npos) {
    return std::nullopt;
  }
  std::int64_t mc = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), mc);
  if (error != std::errc() || mc > kCreditsMax * kMillisPerCredit) return std::nullopt;
  return negative ? -mc : mc;
}

}  // namespace vedette::domain
