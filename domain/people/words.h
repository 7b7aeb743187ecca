#pragma once

#include <cstddef>
#include <optional>
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

// The words of eight languages that sentences about births, ages and deaths are made of, folded
// (FoldLetters). Pure.

// 1..12, of a month's name or its abbreviation.
std::optional<int> MonthOf(std::string_view word);

// The words of a cue that begins at words[at], or 0. `text`: what the words were split from.
std::size_t BirthCue(std::string_view text, const std::vector<Word>& words, std::size_t at);
std::size_t DeathCue(const std::vector<Word>& words, std::size_t at);

bool IsPreposition(std::string_view word);       // may stand between a cue and its date
bool IsPlacePreposition(std::string_view word);  // the name of a place may follow
bool IsApproximation(std::string_view word);     // "about", "circa", "etwa"
bool IsRelative(std::string_view word);          // "son", "Tochter", "Jr"
bool IsAlternative(std::string_view word);       // "or", "oder"
bool IsJulian(std::string_view word);

}  // namespace vedette::domain
