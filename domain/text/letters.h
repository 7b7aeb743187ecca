#pragma once

#include <cstdint>
#include <string>
#include <string_view>

// Letters in the one form in which texts are compared. Pure. All text is valid UTF-8.
namespace vedette::domain {

// Letters and their accents as one character each, as keyboards write them (Unicode's NFC).
std::string Nfc(std::string_view text);

// NFC in lower case, in every script: equal for texts that differ in case or in how their accents
// are written. A text in ASCII is as base::AsciiLower has it.
std::string LowerNfc(std::string_view text);

// Whether the character says which way the text behind it is read. A name with one would turn
// around a page's or a message's own words.
bool IsDirectionMark(std::uint32_t code);

}  // namespace vedette::domain
