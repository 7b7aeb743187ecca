#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What every folder needs of text: white space, lower case, UTF-8 and character counts, each by one
// rule. All of it is pure and may be called from any thread. A view that is returned points into
// the text that was given.
namespace vedette::base {

// The sets of white space that formats name. `Trim` and `IsSpace` take one of them.
inline constexpr std::string_view kAsciiSpace = " \t\n\r\f\v";
inline constexpr std::string_view kMarkupSpace = " \t\n\r\f";  // of HTML and of CSS
inline constexpr std::string_view kLineSpace = " \t\n\r";      // of JSON and of header lines
inline constexpr std::string_view kBlankSpace = " \t";         // inside an HTTP header's value

constexpr bool IsSpace(char c, std::string_view space = kAsciiSpace) {
  return space.find(c) != std::string_view::npos;
}

// Without the characters of `space` at both ends.
std::string_view Trim(std::string_view text, std::string_view space = kAsciiSpace);

constexpr bool IsAsciiDigit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool IsAsciiLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
// Below the blank, or DEL. Bytes of UTF-8, and so the controls from U+0080 on, are none of them.
constexpr bool IsAsciiControl(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
}

// Only A to Z change; other characters, and bytes of UTF-8, stay as they are.
constexpr char AsciiLower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
std::string AsciiLower(std::string_view text);
bool EqualsIgnoringAsciiCase(std::string_view a, std::string_view b);

inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";         // U+FEFF
inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";  // U+FFFD

// The length of the valid UTF-8 sequence that `text` begins with, from 1 to 4, and its code point
// in `code` where that is not null. 0, with `code` untouched, where `text` begins with none (an
// overlong form, a surrogate, a code point above U+10FFFF, a cut sequence) or is empty.
std::size_t DecodeUtf8(std::string_view text, std::uint32_t* code = nullptr);

// Appends a code point; what is none (a surrogate, 0, above U+10FFFF) becomes U+FFFD.
void AppendUtf8(std::uint32_t code, std::string* out);

bool IsValidUtf8(std::string_view text);

// Valid UTF-8 without NUL: every byte that does not belong to a valid sequence, and every NUL,
// becomes U+FFFD.
std::string RepairUtf8(std::string_view text);

// Whether the byte continues a UTF-8 sequence, so that no character begins with it.
constexpr bool ContinuesCharacter(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

// The functions below take valid UTF-8. They read every byte of other text, too, and never beyond
// it.

// The number of code points.
std::size_t CountCharacters(std::string_view text);

// Trims, and folds every run of white space into one space. White space is Unicode's, with no-break
// spaces and the separators U+001C to U+001F. Pages, and the values that verdicts compare, are
// folded by this rule.
std::string FoldSpace(std::string_view text);

// At most `characters_max` characters (at least 3): the first ones, with "..." at the end where
// something is cut.
std::string CutCharacters(std::string_view text, std::size_t characters_max);

// At most `bytes_max` bytes: the first ones, up to the end of a character.
std::string_view CutBytes(std::string_view text, std::size_t bytes_max);

// Whether it begins as an address of the web does: "https://" or "http://".
inline bool HasWebScheme(std::string_view url) {
  return url.starts_with("https://") || url.starts_with("http://");
}

// A text as it may stand in a segment of a URL's path, in its query or in a form: every byte but
// A to Z, a to z, 0 to 9 and -._~ becomes %XX.
std::string UrlEncode(std::string_view text);

// The word of `known` that a typist probably meant: the first one with the fewest insertions,
// deletions and replacements of bytes between it and `word`. Empty where even that one needs more
// than `typos_max` of them. Takes time in the product of the lengths. Pure.
std::optional<std::string> ClosestWord(std::string_view word, const std::vector<std::string>& known,
                                       std::size_t typos_max);

}  // namespace vedette::base
