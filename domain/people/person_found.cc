#include "domain/people/person_found.h"

#include <unicode/uchar.h>
#include <unicode/uscript.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include "base/text.h"
#include "domain/email/person_name.h"
#include "domain/text/word_lists.h"

namespace vedette::domain {
namespace {

constexpr std::size_t kIdeographsMin = 2;
constexpr std::size_t kIdeographsMax = 6;

const WordSet& NoNames() {
  static const WordSet listed = ListedWords("no_names");
  return listed;
}

constexpr std::string_view kTitles[] = {"dipl", "dr", "frau", "herr", "ing",
                                        "med",  "mr", "mrs",  "ms",   "prof"};
constexpr std::string_view kSuffixes[] = {"jr", "llm", "mba", "msc", "phd", "sr"};

template <std::size_t N>
bool IsIn(const std::string_view (&words)[N], std::string_view word) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

struct NameWord {
  std::string text;
  std::string folded;
  std::size_t letters = 0;
  std::size_t ideographs = 0;
  bool begins_small = false;
};

bool IsIdeograph(std::uint32_t code) {
  UErrorCode status = U_ZERO_ERROR;
  const UScriptCode script = uscript_getScript(static_cast<UChar32>(code), &status);
  return script == USCRIPT_HAN || script == USCRIPT_HANGUL || script == USCRIPT_HIRAGANA ||
         script == USCRIPT_KATAKANA;
}

// Whether a character may stand in a name besides letters and their marks.
bool IsOfName(std::uint32_t code) {
  return code == '.' || code == '-' || code == '\'' || code == 0x2019 || code == 0x2010 ||
         code == 0x30FB || code == 0xB7;
}

// False where the word has a character that names do not have.
bool ReadWord(std::string_view text, NameWord* word) {
  word->text = text;
  word->folded = FoldName(text);
  for (std::string_view rest = text; !rest.empty();) {
    std::uint32_t code = 0;
    const std::size_t size = base::DecodeUtf8(rest, &code);
    if (size == 0) return false;
    rest.remove_prefix(size);
    const auto c = static_cast<UChar32>(code);
    const bool is_mark = (U_GET_GC_MASK(c) & U_GC_M_MASK) != 0;
    if (u_isalpha(c) == 0 && !is_mark && !IsOfName(code)) return false;
    if (u_isalpha(c) == 0) continue;
    if (word->letters == 0) word->begins_small = u_islower(c) != 0;
    ++word->letters;
    if (IsIdeograph(code)) ++word->ideographs;
  }
  return word->letters > 0;
}

bool IsTitle(const NameWord& word) {
  return IsIn(kTitles, word.folded) || word.folded == "dipl ing" || word.folded == "dr med";
}

void DropTitles(std::vector<NameWord>* words) {
  while (!words->empty() && IsTitle(words->front())) words->erase(words->begin());
  const auto is_suffix = [](const NameWord& word) {
    std::string letters = word.folded;
    std::erase(letters, ' ');
    return IsIn(kSuffixes, letters);
  };
  while (!words->empty() && is_suffix(words->back())) words->pop_back();
}

bool IsBelieved(const std::vector<NameWord>& words) {
  if (words.empty() || words.size() > kStatedNameWordsMax) return false;
  if (words.size() == 1) {
    const NameWord& word = words.front();
    return word.ideographs == word.letters && word.letters >= kIdeographsMin &&
           word.letters <= kIdeographsMax;
  }
  std::size_t capitals = 0;
  for (const NameWord& word : words) {
    if (NoNames().contains(word.folded)) return false;
    const bool is_particle = IsNameParticle(word.folded);
    if (word.begins_small && !is_particle) return false;
    if (!word.begins_small) ++capitals;
  }
  // An initial alone is no family name.
  return capitals >= 2 && words.back().letters >= (words.back().ideographs > 0 ? 1U : 2U);
}

}  // namespace

std::string StatedName(std::string_view text) {
  std::string clean = CleanName(text);
  if (const auto comma = clean.find(','); comma != std::string::npos) clean.resize(comma);
  std::vector<NameWord> words;
  for (std::string_view rest = clean; !rest.empty();) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    NameWord word;
    if (end > 0 && !ReadWord(rest.substr(0, end), &word)) return "";
    if (end > 0) words.push_back(std::move(word));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  DropTitles(&words);
  if (!IsBelieved(words)) return "";
  std::string name;
  for (const NameWord& word : words) name += (name.empty() ? "" : " ") + word.text;
  return name;
}

}  // namespace vedette::domain
