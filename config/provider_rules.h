#pragma once

#include <string>

#include "config/config.h"

// Which providers there are, and which of them a list of providers may name. All throw ConfigError
// with a sentence that names the setting.
namespace vedette::config {

// Reads the folder's recipes, under ids that nobody else has.
void AddRecipes(Config* config);

// Providers and models have what they need and ids of their own, and the lists of [lookups] name
// those that answer.
void ValidateProviders(const Config& config);

// Whether the provider is one of the operator's that verifies addresses.
bool VerifiesAddresses(const ProvidersConfig& providers, const std::string& id);

}  // namespace vedette::config
