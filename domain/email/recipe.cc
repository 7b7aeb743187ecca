#include "domain/email/recipe.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "base/assert.h"
#include "base/text.h"

namespace vedette::domain {
namespace {

constexpr std::string_view kNames[] = {"name",     "first_name", "last_name", "company",  "domain",
                                       "linkedin", "email",      "title",     "location", "key"};
static_assert(std::size(kNames) == kRecipeFields);

// A piece of a text: plain, or a field.
struct Piece {
  std::string_view plain;
  std::optional<RecipeField> field;
};

std::optional<std::vector<Piece>> PiecesOf(std::string_view text) {
  std::vector<Piece> pieces;
  while (!text.empty()) {
    const std::size_t open = text.find_first_of("{}");
    pieces.push_back({text.substr(0, open), std::nullopt});
    if (open == std::string_view::npos) break;
    const std::size_t close = text.find('}', open);
    if (text[open] == '}' || close == std::string_view::npos) return std::nullopt;
    const auto field = ParseRecipeField(text.substr(open + 1, close - open - 1));
    if (!field) return std::nullopt;
    pieces.push_back({{}, field});
    text.remove_prefix(close + 1);
  }
  return pieces;
}

}  // namespace

std::optional<RecipeField> ParseRecipeField(std::string_view name) {
  const auto* found = std::find(std::begin(kNames), std::end(kNames), name);
  if (found == std::end(kNames)) return std::nullopt;
  return static_cast<RecipeField>(found - std::begin(kNames));
}

std::optional<std::vector<RecipeField>> FieldsOf(std::string_view text) {
  const auto pieces = PiecesOf(text);
  if (!pieces) return std::nullopt;
  std::vector<RecipeField> fields;
  for (const Piece& piece : *pieces) {
    if (piece.field) fields.push_back(*piece.field);
  }
  return fields;
}

std::optional<std::string> FillIn(std::string_view text, const RecipeValues& values,
                                  const std::function<std::string(std::string_view)>& encode) {
  const auto pieces = PiecesOf(text);
  base::Assert(pieces.has_value(), "the texts of a recipe are validated when it is read");
  std::string filled;
  for (const Piece& piece : *pieces) {
    filled += piece.plain;
    if (!piece.field) continue;
    const std::string& value = values[*piece.field];
    if (value.empty()) return std::nullopt;
    filled += encode(value);
  }
  return filled;
}

std::string EncodeForUrl(std::string_view text) {
  constexpr std::string_view kPlainSigns = "-._~";
  std::string encoded;
  for (const char c : text) {
    const bool is_plain = base::IsAsciiLetter(c) || base::IsAsciiDigit(c) ||
                          kPlainSigns.find(c) != std::string_view::npos;
    if (is_plain) {
      encoded += c;
    } else {
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return encoded;
}

bool IsHeaderText(std::string_view text) {
  return std::none_of(text.begin(), text.end(), base::IsAsciiControl);
}

namespace {

constexpr std::string_view kLookupNames[] = {"find_email", "verify_email", "company_domain",
                                             "reverse_email", "verify_age"};

}  // namespace

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
