#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/config_fwd.h"
#include "domain/names.h"
#include "domain/row_values.h"

namespace vedette::api {

// The sentence about rows whose checks will fail because the web probe of their tier finds no
// address in them; nothing where all have one, or where another probe serves the tier. Looks at the
// first kAddressRowsLookedAtMax rows. Pure.
inline constexpr std::size_t kAddressRowsLookedAtMax = 1000;
std::optional<std::string> AddressWarning(const std::vector<domain::RowValues>& rows,
                                          domain::Tier tier, const config::Config& config);

}  // namespace vedette::api
