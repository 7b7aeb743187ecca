#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "domain/email/lead.h"

// The words of a person's name, and which of them an address may be made of. Pure. All text is
// valid UTF-8; names of any length are taken, and only the first kNameWordsMax words count.
namespace vedette::domain {

inline constexpr std::size_t kNameWordsMax = 16;

enum class NameFault : std::uint8_t {
  kTooShort,     // "name_too_short": it has no given name, or no family name
  kNotReadable,  // "name_not_readable": it is in a script that we do not write in Latin letters
};
std::string_view NameFaultCode(NameFault fault);

// How the letters of a name are written in Latin letters.
enum class NameScript : std::uint8_t {
  kLatin,
  kCyrillic,
  kGreek,
  kGeorgian,
  kArmenian,
  kKana,
  kHan,  // Chinese: as pinyin
  kHangul,
};

// Words are in lower case, without titles, brackets, emoji and signs, but for "-" inside a word.
struct NameWords {
  NameScript script = NameScript::kLatin;
  // Given names that an address may have, the best first: the first one, then nicknames that the
  // name has in quotes. Middle names are left out.
  std::vector<std::string> given;
  // Family names that an address may have, the best first. Words of one of them are joined: "van
  // der Berg" is {van, der, berg} and {berg}; two family names are two.
  std::vector<std::vector<std::string>> family;
};

// The last label of the domain where it is that of a country ("de"); else empty.
std::string_view CountryOfDomain(std::string_view domain);

// first_name and last_name where the person has both, else the name. `country` as CountryOfDomain
// gives it: under hu, cn, tw, hk, kr, jp and vn the family name stands first in a name.
std::variant<NameWords, NameFault> ReadNameWords(const Person& person, std::string_view country);

// Whether the word begins a family name ("van", "al"). `word` is in lower case.
bool IsNameParticle(std::string_view word);

// A name for comparisons: NFKC, in lower case, its marks dropped, one space between words.
std::string FoldName(std::string_view name);

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
