#pragma once

#include <string>
#include <string_view>

namespace vedette::domain {

// The name of a person that a source gives as such, cleaned (CleanName) and without titles in front
// of it and behind it: "Ada Lovelace" of "Dr. Ada Lovelace, PhD". Empty where the text is no name
// that we believe: a single word, except in Chinese, Japanese and Korean, more than
// kStatedNameWordsMax words, a digit or an address, or a word of titles, departments and companies
// ("Head of Sales", "Support Team", "Acme GmbH"). It prefers no name to a wrong one. Pure; valid
// UTF-8 in and out.
std::string StatedName(std::string_view text);

inline constexpr int kStatedNameWordsMax = 6;

}  // namespace vedette::domain
