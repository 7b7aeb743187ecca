#include "base/text.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace vedette::base {
namespace {

// The length of the white space character that `text` begins with; 0 where it begins with none.
std::size_t SpaceLength(std::string_view text) {
  const auto c = static_cast<unsigned char>(text[0]);
  if (c == ' ' || (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x1F)) return 1;
  if (c == 0xC2 && text.size() > 1) return text[1] == '\x85' || text[1] == '\xA0' ? 2 : 0;
  if (text.size() < 3 || (c != 0xE1 && c != 0xE2 && c != 0xE3)) return 0;
  const std::string_view s = text.substr(0, 3);
  if (s >= "\xE2\x80\x80" && s <= "\xE2\x80\x8A") return 3;
  for (const std::string_view space : {"\xE1\x9A\x80", "\xE2\x80\xA8", "\xE2\x80\xA9",
                                       "\xE2\x80\xAF", "\xE2\x81\x9F", "\xE3\x80\x80"}) {
    if (s == space) return 3;
  }
  return 0;
}

// Bytes of the text's start that are ASCII and no NUL, in whole words of eight: most of a page.
std::size_t PlainPrefix(std::string_view text) {
  constexpr std::uint64_t kLow = 0x0101010101010101U;
  constexpr std::uint64_t kHigh = 0x8080808080808080U;
  std::size_t n = 0;
  for (; n + sizeof(std::uint64_t) <= text.size(); n += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + n, sizeof(word));
    if (((word | (word - kLow)) & kHigh) != 0) break;
  }
  return n;
}

}  // namespace

std::string_view Trim(std::string_view text, std::string_view space) {
  const auto first = text.find_first_not_of(space);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(space) - first + 1);
}

std::string AsciiLower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = AsciiLower(c);
  return out;
}

bool EqualsIgnoringAsciiCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return AsciiLower(x) == AsciiLower(y); });
}

// The first byte says how long the sequence is, and bounds the second one: that alone keeps
// overlong forms, surrogates and code points above U+10FFFF out (Unicode, table 3-7).
std::size_t DecodeUtf8(std::string_view text, std::uint32_t* code) {
  if (text.empty()) return 0;
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) {
    if (code != nullptr) *code = first;
    return 1;
  }
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  const unsigned char low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  const unsigned char high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  if (byte(1) < low || byte(1) > high) return 0;
  std::uint32_t point = first & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if (!ContinuesCharacter(text[i])) return 0;
    point = (point << 6) | (byte(i) & 0x3FU);
  }
  if (code != nullptr) *code = point;
  return length;
}

void AppendUtf8(std::uint32_t code, std::string* out) {
  if (code == 0 || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) {
    *out += kReplacementCharacter;
  } else if (code < 0x80) {
    *out += static_cast<char>(code);
  } else if (code < 0x800) {
    *out += static_cast<char>(0xC0 | (code >> 6));
    *out += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    *out += static_cast<char>(0xE0 | (code >> 12));
    *out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    *out += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    *out += static_cast<char>(0xF0 | (code >> 18));
    *out += static_cast<char>(0x80 | ((code >> 12) & 0x3F));
    *out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    *out += static_cast<char>(0x80 | (code & 0x3F));
  }
}

bool IsValidUtf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = DecodeUtf8(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string RepairUtf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t plain = PlainPrefix(text);
    out.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) break;
    const std::size_t length = DecodeUtf8(text);
    if (length == 0 || text[0] == '\0') {
      out += kReplacementCharacter;
      text.remove_prefix(1);
    } else {
      out.append(text.substr(0, length));
      text.remove_prefix(length);
    }
  }
  return out;
}

std::string FoldSpace(std::string_view text) {
  std::string out;
  bool pending = false;
  while (!text.empty()) {
    if (const std::size_t length = SpaceLength(text); length > 0) {
      pending = !out.empty();
      text.remove_prefix(length);
      continue;
    }
    if (pending) out += ' ';
    pending = false;
    out += text[0];
    text.remove_prefix(1);
  }
  return out;
}

std::string CutCharacters(std::string_view text, std::size_t characters_max) {
  constexpr std::string_view kMark = "...";
  std::size_t characters = 0;
  std::size_t cut = text.size();
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (ContinuesCharacter(text[i])) continue;
    if (characters + kMark.size() == characters_max) cut = i;
    if (++characters > characters_max) return std::string(text.substr(0, cut)) + std::string(kMark);
  }
  return std::string(text);
}

std::string_view CutBytes(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  while (bytes_max > 0 && ContinuesCharacter(text[bytes_max])) --bytes_max;
  return text.substr(0, bytes_max);
}

std::size_t CountCharacters(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !ContinuesCharacter(c); }));
}

namespace {

// How many insertions, deletions and replacements lie between two words.
std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string UrlEncode(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string encoded;
  encoded.reserve(text.size());
  for (const char c : text) {
    if (IsAsciiDigit(c) || IsAsciiLetter(c) ||
        std::string_view("-._~").find(c) != std::string_view::npos) {
      encoded += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    encoded.append({'%', kDigits[byte >> 4], kDigits[byte & 15]});
  }
  return encoded;
}

std::optional<std::string> ClosestWord(std::string_view word, const std::vector<std::string>& known,
                                       std::size_t typos_max) {
  std::optional<std::string> closest;
  std::size_t fewest = typos_max + 1;
  for (const std::string& candidate : known) {
    const std::size_t distance = EditDistance(word, candidate);
    if (distance >= fewest) continue;
    fewest = distance;
    closest = candidate;
  }
  return closest;
}

}  // namespace vedette::base
