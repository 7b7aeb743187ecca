#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

// Words of a text as dates and names compare them. Pure.
namespace vedette::domain {

// Lower case, Latin letters without their accents ("Müßig" -> "mussig"); other scripts stay as they
// are. `text` is valid UTF-8.
std::string FoldLetters(std::string_view text);

struct Word {
  enum class Kind { kWord, kNumber, kSign };
  Kind kind = Kind::kSign;
  std::string folded;  // of a word; of a number its digits; of a sign the character
  std::size_t at = 0;  // in the text
  std::size_t end = 0;
  bool is_capital = false;  // of a word: it begins with an upper case letter
};

// Words, numbers and signs in their order; white space is between them. A word is a run of letters,
// apostrophes within it included.
std::vector<Word> SplitWords(std::string_view text);

}  // namespace vedette::domain
