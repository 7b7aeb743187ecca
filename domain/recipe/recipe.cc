#include "domain/recipe/recipe.h"

#include <algorithm>
#include <iterator>

namespace vedette::domain {
namespace {

constexpr std::string_view kLookupNames[] = {"find_email", "verify_email", "company_domain",
                                             "reverse_email", "verify_age"};

}  // namespace

std::string_view RecipeLookupName(RecipeLookup lookup) {
  return kLookupNames[static_cast<std::size_t>(lookup)];
}

std::optional<RecipeLookup> ParseRecipeLookup(std::string_view name) {
  const auto* found = std::find(std::begin(kLookupNames), std::end(kLookupNames), name);
  if (found == std::end(kLookupNames)) return std::nullopt;
  return static_cast<RecipeLookup>(found - std::begin(kLookupNames));
}

bool Recipe::Finds(FindMode mode) const {
  return lookup == RecipeLookup::kFindEmail &&
         std::find(modes.begin(), modes.end(), mode) != modes.end();
}

}  // namespace vedette::domain
