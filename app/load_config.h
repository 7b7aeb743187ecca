#pragma once

#include <optional>
#include <string>

#include "config/config.h"

namespace vedette::app {

// The configuration as config::LoadConfig has it, with URLs of the database that libpq takes, which
// only the store can say. Throws config::ConfigError.
config::Config LoadConfig(const std::optional<std::string>& path,
                          const config::Environment& environment);

// Why serve and migrate refuse a configuration without [database] url.
inline constexpr const char* kNoDatabaseUrl =
    "[database] url is not set. Give it as VEDETTE_DATABASE_URL, for example "
    "postgresql://user@host/vedette";

}  // namespace vedette::app
