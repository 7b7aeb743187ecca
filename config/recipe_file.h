#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "domain/recipe/recipe.h"

// Recipes as files: one service each, described in TOML (docs/providers.md). Read once, at start.
namespace vedette::config {

inline constexpr std::size_t kRecipesMax = 64;

// Reads one file's text; `source` is how messages name it. What {key} stands for is read from the
// file that it names. Throws ConfigError with the file, the line and the rule; it never shows the
// key.
domain::Recipe ReadRecipe(std::string_view text, const std::string& source);

// Reads the *.toml files of a folder in the order of their names. Throws ConfigError, also where
// two of them have one id, there are more than kRecipesMax, or the folder cannot be read.
std::vector<domain::Recipe> ReadRecipes(const std::string& folder);

}  // namespace vedette::config
