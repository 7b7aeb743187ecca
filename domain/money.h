#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json_text.h"

// Money is integer millicredits inside (`*_mc`); outside it is credits with at most three decimals.
namespace vedette::domain {

// The credits as a JSON number: 1500 -> 1.5, 2000 -> 2. Exact up to 2^53 millicredits.
base::Json CreditsToJson(std::int64_t mc);

// For people: "1.5", "-0.001", "2".
std::string FormatCredits(std::int64_t mc);

// Reads a JSON number of credits; empty when it is no number, has more than three decimals or
// exceeds 10^12 credits either way.
std::optional<std::int64_t> CreditsFromJson(const base::Json& value);

// Reads decimal text ("0.5"), under the same rules.
std::optional<std::int64_t> ParseCredits(std::string_view text);

}  // namespace vedette::domain
