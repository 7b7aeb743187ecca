#pragma once

#include <string>
#include <string_view>

#include "config/parts.h"
#include "domain/email/finders.h"

// What no key can decide alone: which settings go together, which providers there are, and which of
// them a list of providers may name. Those that validate a configuration throw ConfigError with a
// sentence that names the setting.
namespace vedette::config {

// Reads the folder's recipes, under ids that nobody else has.
void AddRecipes(Config* config);

// Settings go together. Providers and models have what they need and ids of their own, and the
// lists of [lookups] name those that answer.
void Validate(const Config& config);

// What [admin.oidc] says is whole. The role admin's alone to ask: the other processes may have the
// configuration of all without what admin processes are given beside it.
void ValidateAdminOidc(const AdminOidcConfig& oidc);

// Whether a source of people that vedette has is switched on here.
bool IsOn(const Config& config, std::string_view id);

// The providers that requests and workflows may name to find addresses, and the others.
domain::KnownFinders FindersOf(const Config& config);

}  // namespace vedette::config
