#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

// Small helpers for UTF-8 text. Pure.
namespace vedette::worker {

// Appends a code point; what is none (a surrogate, 0, above U+10FFFF) becomes U+FFFD.
void AppendUtf8(std::uint32_t code, std::string* out);

// Valid UTF-8 without NUL: every byte that does not belong to a valid sequence, and every NUL,
// becomes U+FFFD.
std::string RepairUtf8(std::string_view text);
bool IsValidUtf8(std::string_view text);

// Trims, and folds every run of white space (Unicode's, no-break spaces too) into one space. Takes
// valid UTF-8.
std::string FoldSpace(std::string_view text);

// At most `characters_max` characters: the first ones, with "..." at the end where something is
// cut.
std::string CutCharacters(std::string_view text, std::size_t characters_max);

// At most `bytes_max` bytes: the first ones, up to a character's end.
std::string CutBytes(std::string_view text, std::size_t bytes_max);

std::size_t CountCharacters(std::string_view text);

std::string AsciiLower(std::string_view text);
std::string_view TrimAscii(std::string_view text);

}  // namespace vedette::worker
