#include "app/load_config.h"

#include <fmt/format.h>

#include "config/database_config.h"
#include "store/database_url.h"

namespace vedette::app {
namespace {

void ValidateUrl(const char* key, const std::string& url) {
  if (const std::string must_be = store::DatabaseUrlFault(url); !must_be.empty()) {
    throw config::ConfigError(fmt::format("[database] {} = (not shown): must be {}", key, must_be));
  }
}

}  // namespace

config::Config LoadConfig(const std::optional<std::string>& path,
                          const config::Environment& environment) {
  config::Config config = config::LoadConfig(path, environment);
  ValidateUrl("url", config.database.url);
  ValidateUrl("pooled_url", config.database.pooled_url);
  return config;
}

}  // namespace vedette::app
