#include "domain/age/date_words.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>

#include "domain/text/word_lists.h"

namespace vedette::domain {
namespace {

// The words of domain/text/words/date_words.txt.
struct DateWords {
  std::map<std::string, int, std::less<>> months;
  WordPhrases births;
  WordPhrases deaths;
  WordSet prepositions;
  WordSet place_prepositions;
  WordSet approximations;
  WordSet relatives;
  WordSet alternatives;
  WordSet julians;
};

DateWords ReadDateWords() {
  const auto groups = ListedGroups("date_words");
  const auto words = [&](const char* group) { return SingleWords(groups.at(group)); };
  DateWords read{{},
                 groups.at("birth"),
                 groups.at("death"),
                 words("preposition"),
                 words("place_preposition"),
                 words("approximation"),
                 words("relative"),
                 words("alternative"),
                 words("julian")};
  for (int month = 1; month <= 12; ++month) {
    for (const std::string& name : words(std::to_string(month).c_str())) read.months[name] = month;
  }
  return read;
}

const DateWords& Listed() {
  static const DateWords listed = ReadDateWords();
  return listed;
}

// The words of the longest phrase that begins at words[at], or 0.
std::size_t LongestPhrase(const WordPhrases& phrases, const std::vector<Word>& words,
                          std::size_t at) {
  std::size_t longest = 0;
  for (const auto& phrase : phrases) {
    if (phrase.size() <= longest || at + phrase.size() > words.size()) continue;
    const auto is_here = [&](const std::string& wanted, const Word& word) {
      return word.folded == wanted;
    };
    const auto first = words.begin() + static_cast<std::ptrdiff_t>(at);
    if (std::equal(phrase.begin(), phrase.end(), first, is_here)) longest = phrase.size();
  }
  return longest;
}

}  // namespace

std::optional<int> MonthOf(std::string_view word) {
  const auto it = Listed().months.find(word);
  if (it == Listed().months.end()) return std::nullopt;
  return it->second;
}

std::size_t BirthCue(std::string_view text, const std::vector<Word>& words, std::size_t at) {
  const std::size_t length = LongestPhrase(Listed().births, words, at);
  if (length == 0) return 0;
  const Word& word = words[at];
  // Without its accent "ne" is another word in French and in Italian.
  const bool is_french = word.folded == "ne" || word.folded == "nee";
  if (is_french && word.end - word.at == word.folded.size()) return 0;
  // "born-again", and the alliance that English papers write "Nato".
  const bool is_compound = at + 1 < words.size() && words[at + 1].folded == "-" &&
                           words[at + 1].at == word.end && word.folded == "born";
  if (is_compound) return 0;
  if (word.folded == "nato" && text.substr(word.at, 4) == "NATO") return 0;
  return length;
}

std::size_t DeathCue(const std::vector<Word>& words, std::size_t at) {
  return LongestPhrase(Listed().deaths, words, at);
}

bool IsPreposition(std::string_view word) {
  return Listed().prepositions.contains(word);
}
bool IsPlacePreposition(std::string_view word) {
  return Listed().place_prepositions.contains(word);
}
bool IsApproximation(std::string_view word) {
  return Listed().approximations.contains(word);
}
bool IsRelative(std::string_view word) {
  return Listed().relatives.contains(word);
}
bool IsAlternative(std::string_view word) {
  return Listed().alternatives.contains(word);
}
bool IsJulian(std::string_view word) {
  return Listed().julians.contains(word);
}

}  // namespace vedette::domain
