#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "domain/email/name_words.h"
#include "domain/email/person.h"

namespace vedette::domain {

// The most renderings of one person; more are not tried.
inline constexpr std::size_t kRenderingsMax = 12;

// A name as it may stand in an address: both parts of [a-z-], neither empty.
struct NameRendering {
  std::string given;
  std::string family;

  bool operator==(const NameRendering&) const = default;
};

// How the name of a person may stand in an address at `domain`, the likeliest first, each once:
// spellings of the words (romanize.h), words with a hyphen joined, kept, and their first part
// alone, family names with particles joined, and their last word alone. Pure.
std::variant<std::vector<NameRendering>, NameFault> RenderName(const Person& person,
                                                               std::string_view domain);

// Whether the text may name the person: it has the family name, and the given name or its initial,
// as words, however they are spelt. False where the person's name cannot be read.
bool IsCompatibleName(const Person& person, std::string_view text);

}  // namespace vedette::domain
