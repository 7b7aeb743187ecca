#include "domain/search/filter.h"

#include "base/text.h"

namespace vedette::domain::search {

bool IsWordByte(char c) {
  return base::IsAsciiLetter(c) || base::IsAsciiDigit(c) || (static_cast<unsigned char>(c) & 0x80);
}

std::vector<std::string> WordsOf(std::string_view text) {
  std::vector<std::string> words;
  bool within = false;
  for (const char c : text) {
    if (!IsWordByte(c)) {
      within = false;
      continue;
    }
    if (!within) words.emplace_back();
    words.back() += base::AsciiLower(c);
    within = true;
  }
  return words;
}

}  // namespace vedette::domain::search
