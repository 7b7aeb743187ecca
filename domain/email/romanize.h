#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "domain/email/person_name.h"

namespace vedette::domain {

// The most spellings of one word; more are not tried.
inline constexpr std::size_t kSpellingsMax = 4;

// How a word of a name may be spelt in an address: of [a-z-], each once, the best first, at most
// kSpellingsMax. `country` as CountryOfDomain gives it:
//   Latin      plain ("muller") and with German pairs ("mueller"), these first under at, ch, de, li
//   Cyrillic   Ukrainian, Bulgarian, Serbian or Macedonian by country or by their letters, else
//              Russian
//   Greek, Georgian, Armenian, kana, Han (pinyin) and Hangul by ICU's rules; ten Korean family
//              names as they are usually spelt
// Letters that no rule has are left out, so that the list may be empty. Pure.
std::vector<std::string> Romanize(std::string_view word, NameScript script,
                                  std::string_view country);

}  // namespace vedette::domain
