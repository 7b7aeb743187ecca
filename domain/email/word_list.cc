#include "domain/email/word_list.h"

#include <algorithm>
#include <cstddef>

namespace vedette::domain {

WordSet WordsOf(std::string_view text) {
  constexpr std::string_view kBetween = " \n";
  WordSet words;
  std::size_t begin = text.find_first_not_of(kBetween);
  while (begin != std::string_view::npos) {
    const std::size_t end = std::min(text.find_first_of(kBetween, begin), text.size());
    words.emplace(text.substr(begin, end - begin));
    begin = text.find_first_not_of(kBetween, end);
  }
  return words;
}

}  // namespace vedette::domain
