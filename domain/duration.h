#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace vedette::domain {

// A duration as the API and the configuration write it: ^[1-9][0-9]*(m|h|d|w)$, also "s" where
// `seconds_allowed`. Empty for anything else and for more than 100 years.
std::optional<std::chrono::seconds> ParseDuration(std::string_view text, bool seconds_allowed);

}  // namespace vedette::domain
