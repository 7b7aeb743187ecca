#include "domain/people/words.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "base/text.h"
#include "domain/text/word_lists.h"

namespace vedette::domain {
namespace {

struct Folding {
  std::uint32_t first;  // code points, both included
  std::uint32_t last;
  std::string_view letters;
};

// Latin-1 and Latin Extended-A. Sorted.
constexpr auto kFoldings = std::to_array<Folding>({
    {0xC0, 0xC5, "a"},   {0xC6, 0xC6, "ae"},   {0xC7, 0xC7, "c"},   {0xC8, 0xCB, "e"},
    {0xCC, 0xCF, "i"},   {0xD0, 0xD0, "d"},    {0xD1, 0xD1, "n"},   {0xD2, 0xD6, "o"},
    {0xD8, 0xD8, "o"},   {0xD9, 0xDC, "u"},    {0xDD, 0xDD, "y"},   {0xDE, 0xDE, "th"},
    {0xDF, 0xDF, "ss"},  {0xE0, 0xE5, "a"},    {0xE6, 0xE6, "ae"},  {0xE7, 0xE7, "c"},
    {0xE8, 0xEB, "e"},   {0xEC, 0xEF, "i"},    {0xF0, 0xF0, "d"},   {0xF1, 0xF1, "n"},
    {0xF2, 0xF6, "o"},   {0xF8, 0xF8, "o"},    {0xF9, 0xFC, "u"},   {0xFD, 0xFD, "y"},
    {0xFE, 0xFE, "th"},  {0xFF, 0xFF, "y"},    {0x100, 0x105, "a"}, {0x106, 0x10D, "c"},
    {0x10E, 0x111, "d"}, {0x112, 0x11B, "e"},  {0x11C, 0x123, "g"}, {0x124, 0x127, "h"},
    {0x128, 0x131, "i"}, {0x132, 0x133, "ij"}, {0x134, 0x135, "j"}, {0x136, 0x138, "k"},
    {0x139, 0x142, "l"}, {0x143, 0x14B, "n"},  {0x14C, 0x151, "o"}, {0x152, 0x153, "oe"},
    {0x154, 0x159, "r"}, {0x15A, 0x161, "s"},  {0x162, 0x167, "t"}, {0x168, 0x173, "u"},
    {0x174, 0x175, "w"}, {0x176, 0x178, "y"},  {0x179, 0x17E, "z"}, {0x218, 0x219, "s"},
    {0x21A, 0x21B, "t"},
});

const Folding* FoldingOf(std::uint32_t code) {
  const auto it = std::find_if(kFoldings.begin(), kFoldings.end(), [&](const Folding& folding) {
    return folding.first <= code && code <= folding.last;
  });
  return it == kFoldings.end() ? nullptr : &*it;
}

bool IsCombining(std::uint32_t code) {
  return code >= 0x300 && code <= 0x36F;
}

// General punctuation, symbols, and the signs of Latin-1.
bool IsSign(std::uint32_t code) {
  if (code < 0x80) {
    const char c = static_cast<char>(code);
    return !base::IsAsciiLetter(c) && !base::IsAsciiDigit(c);
  }
  return code < 0xC0 || code == 0xD7 || code == 0xF7 || (code >= 0x2000 && code <= 0x2BFF) ||
         (code >= 0x3000 && code <= 0x303F) || code >= 0x1F000;
}

bool IsCapital(std::uint32_t code) {
  if (code < 0x80) return code >= 'A' && code <= 'Z';
  if (code < 0xDF) return true;
  if (code < 0x100) return false;
  // Above 0x138 and 0x178 upper case letters are odd.
  if (code < 0x138 || (code >= 0x14A && code < 0x179)) return code % 2 == 0;
  return code < 0x180 && code % 2 == 1;
}

bool IsApostrophe(std::uint32_t code) {
  return code == '\'' || code == 0x2019;
}

// The end of the run of digits, or of letters, that begins at `at`.
std::size_t NumberEnd(std::string_view text, std::size_t at) {
  while (at < text.size() && base::IsAsciiDigit(text[at])) ++at;
  return at;
}

std::size_t WordEnd(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    std::uint32_t code = 0;
    const std::size_t size = base::DecodeUtf8(text.substr(at), &code);
    if (size == 0 || base::IsAsciiDigit(text[at])) return at;
    if (IsApostrophe(code)) {
      std::uint32_t next = 0;
      const std::size_t next_size = base::DecodeUtf8(text.substr(at + size), &next);
      if (next_size == 0 || IsSign(next) || next < 'A') return at;
    } else if (IsSign(code)) {
      return at;
    }
    at += size;
  }
  return at;
}

}  // namespace

std::string FoldLetters(std::string_view text) {
  std::string folded;
  folded.reserve(text.size());
  while (!text.empty()) {
    std::uint32_t code = 0;
    const std::size_t size = std::max<std::size_t>(base::DecodeUtf8(text, &code), 1);
    if (code < 0x80) {
      folded += base::AsciiLower(text.front());
    } else if (const Folding* folding = FoldingOf(code)) {
      folded += folding->letters;
    } else if (code == 0x2019) {
      folded += '\'';
    } else if (!IsCombining(code)) {
      folded += text.substr(0, size);
    }
    text.remove_prefix(size);
  }
  return folded;
}

std::vector<Word> SplitWords(std::string_view text) {
  std::vector<Word> words;
  std::size_t at = 0;
  while (at < text.size()) {
    std::uint32_t code = 0;
    const std::size_t size = std::max<std::size_t>(base::DecodeUtf8(text.substr(at), &code), 1);
    if (base::IsSpace(text[at]) || code == 0xA0) {
      at += size;
      continue;
    }
    Word word;
    word.at = at;
    word.end = at + size;
    if (base::IsAsciiDigit(text[at])) {
      word.kind = Word::Kind::kNumber;
      word.end = NumberEnd(text, at);
    } else if (!IsSign(code)) {
      word.kind = Word::Kind::kWord;
      word.end = std::max(WordEnd(text, at), at + size);
      word.is_capital = IsCapital(code);
    }
    word.folded = FoldLetters(text.substr(word.at, word.end - word.at));
    at = word.end;
    words.push_back(std::move(word));
  }
  return words;
}

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
