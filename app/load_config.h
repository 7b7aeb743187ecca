#pragma once

#include <optional>
#include <string>

#include "config/config.h"

namespace vedette::app {

// The configuration as config::LoadConfig has it, with URLs of the database that libpq takes, which
// only the store can say. Throws config::ConfigError.
config::Config LoadConfig(const std::optional<std::string>& path,
                          const config::Environment& environment);

}  // namespace vedette::app
