#include "domain/email/person_name.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include <unicode/locid.h>
#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>
#include <unicode/uscript.h>

#include "base/text.h"
#include "domain/email/romanize.h"
#include "domain/text/word_lists.h"

namespace vedette::domain {
namespace {

using Words = std::vector<std::string>;

template <std::size_t N>
bool Has(const std::string_view (&sorted)[N], std::string_view word) {
  return std::binary_search(std::begin(sorted), std::end(sorted), word);
}

// The words of domain/text/words/name_words.txt.
struct NameLists {
  WordSet titles;
  WordSet suffixes;
  WordSet suffixes_after_comma;
  WordSet particles;
};

const NameLists& Listed() {
  static const NameLists listed = [] {
    const auto groups = ListedGroups("name_words");
    const auto words = [&](const char* group) { return SingleWords(groups.at(group)); };
    return NameLists{words("title"), words("suffix"), words("suffix_after_comma"),
                     words("particle")};
  }();
  return listed;
}

// Sorted. Countries where the family name stands first.
constexpr std::string_view kFamilyFirst[] = {"cn", "hk", "hu", "jp", "kr", "tw", "vn"};
// Sorted. Countries whose names usually end with two family names, of which the first is used.
constexpr std::string_view kTwoFamilyNames[] = {
    "ar", "bo", "cl", "co", "cr", "cu", "do", "ec", "es", "gt",
    "hn", "mx", "ni", "pa", "pe", "pr", "py", "sv", "uy", "ve",
};
// Family names of two characters, in simplified and traditional writing, and of two syllables.
constexpr std::string_view kLongHanFamilies[] = {
    "欧阳", "歐陽", "司马", "司馬", "诸葛", "諸葛", "上官", "夏侯", "皇甫", "尉迟",
    "公孙", "公孫", "慕容", "司徒", "令狐", "端木", "东方", "東方", "南宫", "宇文",
};
constexpr std::string_view kLongHangulFamilies[] = {"남궁", "황보", "제갈", "선우", "독고"};

const icu::Normalizer2& Nfkc() {
  UErrorCode status = U_ZERO_ERROR;
  return *icu::Normalizer2::getNFKCInstance(status);
}

icu::UnicodeString Normal(std::string_view text) {
  UErrorCode status = U_ZERO_ERROR;
  const auto raw = icu::UnicodeString::fromUTF8(
      icu::StringPiece(text.data(), static_cast<std::int32_t>(text.size())));
  icu::UnicodeString out = Nfkc().normalize(raw, status);
  if (U_FAILURE(status) != 0) return {};
  return out.toLower(icu::Locale::getRoot());
}

std::string Utf8(const icu::UnicodeString& text) {
  std::string out;
  text.toUTF8String(out);
  return out;
}

bool IsMark(UChar32 c) {
  const auto type = u_charType(c);
  return type == U_NON_SPACING_MARK || type == U_COMBINING_SPACING_MARK || type == U_ENCLOSING_MARK;
}

bool IsQuote(UChar32 c) {
  return c == '"' || c == 0x201C || c == 0x201D || c == 0x201E || c == 0xAB || c == 0xBB;
}
bool IsApostrophe(UChar32 c) {
  return c == '\'' || c == 0x2019 || c == 0x2018 || c == 0x2BC || c == '`' || c == 0xB4;
}
bool IsHyphen(UChar32 c) {
  return c == '-' || (c >= 0x2010 && c <= 0x2015);
}

// The words of one part of a name, and those that stand in quotes.
struct Part {
  Words words;
  Words nicknames;
};

// Splits a name at its commas into parts. Brackets go with what they hold; letters, marks and
// hyphens inside words stay; everything else separates words, but for dots and apostrophes, which
// are dropped ("Ph.D.", "O'Brien").
class Splitter {
 public:
  std::vector<Part> Split(std::string_view name) {
    const icu::UnicodeString text = Normal(name);
    for (std::int32_t i = 0; i < text.length(); i = text.moveIndex32(i, 1)) Take(text.char32At(i));
    EndWord();
    return std::move(parts_);
  }

 private:
  void Take(UChar32 c) {
    if (c == '(' || c == '[' || c == '{') {
      EndWord();
      ++brackets_;
    } else if (c == ')' || c == ']' || c == '}') {
      brackets_ = std::max(0, brackets_ - 1);
    } else if (brackets_ > 0) {
      return;
    } else if (u_isalpha(c) != 0 || (IsMark(c) && !word_.isEmpty())) {
      // Variation selectors and joiners of emoji are marks as well.
      if (u_hasBinaryProperty(c, UCHAR_DEFAULT_IGNORABLE_CODE_POINT) == 0) word_.append(c);
    } else if (IsHyphen(c)) {
      if (!word_.isEmpty()) word_.append(static_cast<UChar32>('-'));
    } else if (IsQuote(c)) {
      EndWord();
      quoted_ = !quoted_;
    } else if (!IsApostrophe(c)) {
      TakeSeparator(c);
    }
  }

  void TakeSeparator(UChar32 c) {
    // A dot ends an initial ("J.R.") and is dropped from an abbreviation ("Ph.D.").
    if (c == '.' && word_.countChar32() != 1) return;
    EndWord();
    if (c == ',' || c == 0x3001 || c == 0xFF0C) parts_.emplace_back();
  }

  void EndWord() {
    while (word_.endsWith(u"-", 1)) word_.truncate(word_.length() - 1);
    if (word_.isEmpty()) return;
    Words& words = quoted_ ? parts_.back().nicknames : parts_.back().words;
    if (words.size() < kNameWordsMax) words.push_back(Utf8(word_));
    word_.remove();
  }

  std::vector<Part> parts_{1};
  icu::UnicodeString word_;
  int brackets_ = 0;
  bool quoted_ = false;
};

bool IsSuffix(const std::string& word) {
  return Listed().suffixes.contains(word);
}
bool IsSuffixAfterComma(const std::string& word) {
  return Listed().suffixes.contains(word) || Listed().suffixes_after_comma.contains(word) ||
         Listed().titles.contains(word);
}

void DropTitles(Words* words) {
  const auto first = std::find_if_not(words->begin(), words->end(), [](const auto& word) {
    return Listed().titles.contains(word);
  });
  words->erase(words->begin(), first);
  while (words->size() > 2 && IsSuffix(words->back())) words->pop_back();
}

// A name as one list of words, in the order in which it is spoken, or with its family name apart
// where a comma says which that is.
struct Spoken {
  Words words;
  Words family;  // before the comma of "Last, First"; else empty
  Words nicknames;
};

Spoken ReadSpoken(std::string_view name) {
  Spoken spoken;
  std::vector<Words> parts;
  for (Part& part : Splitter().Split(name)) {
    std::move(part.nicknames.begin(), part.nicknames.end(), std::back_inserter(spoken.nicknames));
    if (!parts.empty() && std::all_of(part.words.begin(), part.words.end(), IsSuffixAfterComma)) {
      continue;
    }
    if (part.words.empty()) continue;
    parts.push_back(std::move(part.words));
  }
  for (Words& words : parts) DropTitles(&words);
  if (parts.empty()) return spoken;
  if (parts.size() > 1) {
    spoken.family = std::move(parts[0]);
    spoken.words = std::move(parts[1]);
  } else {
    spoken.words = std::move(parts[0]);
  }
  return spoken;
}

std::optional<NameScript> ReadableScript(UScriptCode script) {
  switch (script) {
    case USCRIPT_LATIN:
      return NameScript::kLatin;
    case USCRIPT_CYRILLIC:
      return NameScript::kCyrillic;
    case USCRIPT_GREEK:
      return NameScript::kGreek;
    case USCRIPT_GEORGIAN:
      return NameScript::kGeorgian;
    case USCRIPT_ARMENIAN:
      return NameScript::kArmenian;
    case USCRIPT_HIRAGANA:
    case USCRIPT_KATAKANA:
      return NameScript::kKana;
    case USCRIPT_HAN:
      return NameScript::kHan;
    case USCRIPT_HANGUL:
      return NameScript::kHangul;
    default:
      return std::nullopt;
  }
}

// The script of all words; empty where they have several, or one that we cannot write.
std::optional<NameScript> ScriptOf(const std::vector<const Words*>& lists) {
  std::optional<NameScript> found;
  for (const Words* words : lists) {
    for (const std::string& word : *words) {
      const auto text = icu::UnicodeString::fromUTF8(word);
      for (std::int32_t i = 0; i < text.length(); i = text.moveIndex32(i, 1)) {
        UErrorCode status = U_ZERO_ERROR;
        const UScriptCode code = uscript_getScript(text.char32At(i), &status);
        if (code == USCRIPT_COMMON || code == USCRIPT_INHERITED) continue;
        const auto script = ReadableScript(code);
        if (!script || (found && *found != *script)) return std::nullopt;
        found = script;
      }
    }
  }
  return found;
}

// A family name of the words from `begin` on: particles with the word after them are one unit; the
// first unit counts, then the last one, each whole and then its last word alone.
std::vector<Words> FamilyOf(const Words& words, std::size_t begin, bool last_first) {
  std::vector<Words> units;
  Words unit;
  for (std::size_t i = begin; i < words.size(); ++i) {
    unit.push_back(words[i]);
    if (Listed().particles.contains(words[i]) && i + 1 < words.size()) continue;
    units.push_back(std::move(unit));
    unit.clear();
  }
  std::vector<Words> family;
  const auto add = [&](const Words& one) {
    for (const Words& form : {one, Words{one.back()}}) {
      if (std::find(family.begin(), family.end(), form) == family.end()) family.push_back(form);
    }
  };
  if (units.empty()) return family;
  add(last_first ? units.back() : units.front());
  add(last_first ? units.front() : units.back());
  return family;
}

// The place at which the family name begins in a name of at least two words whose given name stands
// first.
std::size_t FamilyBegin(const Words& words, bool two_family_names) {
  for (std::size_t i = 1; i + 1 < words.size(); ++i) {
    if (Listed().particles.contains(words[i])) return i;
  }
  const std::size_t count = words.size() >= 4 || two_family_names ? 2 : 1;
  return std::max<std::size_t>(1, words.size() - count);
}

std::string Joined(Words::const_iterator begin, Words::const_iterator end) {
  std::string out;
  for (auto it = begin; it != end; ++it) out += *it;
  return out;
}

// Chinese and Korean names have their family name first, and may be written as one word.
void SplitEastAsian(const Words& words, NameScript script, NameWords* out) {
  if (words.size() > 1) {
    out->family = {{words.front()}};
    out->given = {Joined(words.begin() + 1, words.end())};
    return;
  }
  const std::string& word = words.front();
  std::size_t length = base::DecodeUtf8(word);
  const auto is_long = [&](std::string_view family) {
    return word.starts_with(family) && word.size() > family.size();
  };
  if (script == NameScript::kHan) {
    if (std::any_of(std::begin(kLongHanFamilies), std::end(kLongHanFamilies), is_long)) length *= 2;
  } else if (std::any_of(std::begin(kLongHangulFamilies), std::end(kLongHangulFamilies), is_long)) {
    length *= 2;
  }
  if (length >= word.size()) return;
  out->family = {{word.substr(0, length)}};
  out->given = {word.substr(length)};
}

void SplitFamilyFirst(const Words& words, std::string_view country, NameWords* out) {
  out->family = {{words.front()}};
  // Vietnamese people are called by the last word of their name; Chinese and Korean given names
  // have two syllables.
  if (country == "vn") {
    out->given = {words.back()};
  } else if (country == "hu" || country == "jp") {
    out->given = {words[1]};
  } else {
    out->given = {Joined(words.begin() + 1, words.end())};
  }
}

void SplitName(const Spoken& spoken, std::string_view country, NameWords* out) {
  const bool is_portuguese = country == "br" || country == "pt";
  const bool is_east_asian = out->script == NameScript::kHan || out->script == NameScript::kHangul;
  const Words& words = spoken.words;
  if (!spoken.family.empty()) {
    if (words.empty()) return;
    out->given = {is_east_asian ? Joined(words.begin(), words.end()) : words.front()};
    out->family = FamilyOf(spoken.family, 0, is_portuguese);
  } else if (is_east_asian) {
    if (!words.empty()) SplitEastAsian(words, out->script, out);
  } else if (words.size() > 1 && Has(kFamilyFirst, country)) {
    SplitFamilyFirst(words, country, out);
  } else if (words.size() > 1) {
    out->given = {words.front()};
    const bool has_two = is_portuguese || Has(kTwoFamilyNames, country);
    out->family = FamilyOf(words, FamilyBegin(words, has_two), is_portuguese);
  }
}

}  // namespace

std::string_view NameFaultCode(NameFault fault) {
  return fault == NameFault::kTooShort ? "name_too_short" : "name_not_readable";
}

bool IsNameParticle(std::string_view word) {
  return Listed().particles.contains(word);
}

std::string_view CountryOfDomain(std::string_view domain) {
  const auto dot = domain.rfind('.');
  const std::string_view label = dot == std::string_view::npos ? "" : domain.substr(dot + 1);
  return label.size() == 2 ? label : std::string_view();
}

std::variant<NameWords, NameFault> ReadNameWords(const Person& person, std::string_view country) {
  Spoken spoken;
  const bool is_apart = !person.first_name.empty() && !person.last_name.empty();
  if (is_apart) {
    spoken = ReadSpoken(person.first_name);
    Spoken family = ReadSpoken(person.last_name);
    spoken.family = std::move(family.words);
  } else {
    spoken = ReadSpoken(person.name);
  }
  if (spoken.words.empty() && spoken.family.empty()) return NameFault::kTooShort;
  const auto script = ScriptOf({&spoken.words, &spoken.family});
  // Chinese characters under jp are Japanese, whose reading nobody can tell.
  if (!script || (*script == NameScript::kHan && country == "jp")) return NameFault::kNotReadable;
  NameWords out;
  out.script = *script;
  if (is_apart && spoken.family.empty()) return NameFault::kTooShort;
  SplitName(spoken, country, &out);
  if (out.given.empty() || out.family.empty()) return NameFault::kTooShort;
  for (std::string& nickname : spoken.nicknames) {
    if (ScriptOf({&spoken.nicknames}) == script) out.given.push_back(std::move(nickname));
    break;
  }
  return out;
}

std::string FoldName(std::string_view name) {
  UErrorCode status = U_ZERO_ERROR;
  const auto* nfkd = icu::Normalizer2::getNFKDInstance(status);
  const icu::UnicodeString text = nfkd->normalize(Normal(name), status);
  icu::UnicodeString out;
  for (std::int32_t i = 0; i < text.length(); i = text.moveIndex32(i, 1)) {
    const UChar32 c = text.char32At(i);
    if (u_isalnum(c) != 0) {
      out.append(c);
    } else if (!IsMark(c) && !IsApostrophe(c) && !out.isEmpty() && !out.endsWith(u" ", 1)) {
      out.append(static_cast<UChar32>(' '));
    }
  }
  out.trim();
  return Utf8(out);
}

namespace {

void AddOnce(std::string text, std::vector<std::string>* out) {
  if (text.empty() || out->size() == kRenderingsMax) return;
  if (std::find(out->begin(), out->end(), text) == out->end()) out->push_back(std::move(text));
}

std::string WithoutHyphens(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), '-'), text.end());
  return text;
}

// A spelt word: joined, with its hyphens, its first part (its last one where the first is a
// particle, as in "al-sayed").
void AddForms(const std::string& spelt, std::vector<std::string>* out) {
  AddOnce(WithoutHyphens(spelt), out);
  const auto hyphen = spelt.find('-');
  if (hyphen == std::string::npos) return;
  AddOnce(spelt, out);
  const std::string first = spelt.substr(0, hyphen);
  AddOnce(IsNameParticle(first) ? spelt.substr(spelt.rfind('-') + 1) : first, out);
}

std::vector<std::string> Given(const NameWords& words, std::string_view country) {
  std::vector<std::string> out;
  for (const std::string& word : words.given) {
    for (const std::string& spelt : Romanize(word, words.script, country)) AddForms(spelt, &out);
  }
  return out;
}

// Words that are joined: the n-th spelling of each, or its last one.
std::vector<std::string> JoinedSpellings(const std::vector<std::string>& words, NameScript script,
                                         std::string_view country) {
  std::vector<std::vector<std::string>> spellings;
  std::size_t count = 0;
  for (const std::string& word : words) {
    spellings.push_back(Romanize(word, script, country));
    count = std::max(count, spellings.back().size());
  }
  std::vector<std::string> out;
  for (std::size_t n = 0; n < count; ++n) {
    std::string joined;
    for (const auto& of_word : spellings) {
      if (!of_word.empty()) joined += of_word[std::min(n, of_word.size() - 1)];
    }
    out.push_back(std::move(joined));
  }
  return out;
}

std::vector<std::string> Family(const NameWords& words, std::string_view country) {
  std::vector<std::string> out;
  for (const auto& unit : words.family) {
    for (const std::string& spelt : JoinedSpellings(unit, words.script, country)) {
      AddForms(spelt, &out);
    }
  }
  return out;
}

std::vector<std::string> Split(const std::string& text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (c == ' ') {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  return words;
}

// Whether `words` has the words of `wanted` one after another.
bool Contains(const std::vector<std::string>& words, const std::vector<std::string>& wanted) {
  return std::search(words.begin(), words.end(), wanted.begin(), wanted.end()) != words.end();
}

}  // namespace

std::variant<std::vector<NameRendering>, NameFault> RenderName(const Person& person,
                                                               std::string_view domain) {
  const std::string_view country = CountryOfDomain(domain);
  auto read = ReadNameWords(person, country);
  if (const auto* fault = std::get_if<NameFault>(&read)) return *fault;
  const NameWords& words = std::get<NameWords>(read);
  const std::vector<std::string> given = Given(words, country);
  const std::vector<std::string> family = Family(words, country);
  if (given.empty() || family.empty()) return NameFault::kNotReadable;

  // The n-th forms of both go together, since a person who writes ue in the one does so in the
  // other.
  std::vector<NameRendering> out;
  const std::size_t places = std::max(given.size(), family.size());
  const auto add = [&](std::size_t g, std::size_t f) {
    if (g >= given.size() || f >= family.size() || out.size() == kRenderingsMax) return;
    out.push_back({given[g], family[f]});
  };
  for (std::size_t place = 0; place < places; ++place) {
    add(place, place);
    for (std::size_t lower = 0; lower < place; ++lower) {
      add(lower, place);
      add(place, lower);
    }
  }
  return out;
}

bool IsCompatibleName(const Person& person, std::string_view text) {
  const auto read = ReadNameWords(person, "");
  if (std::holds_alternative<NameFault>(read)) return false;
  const NameWords& name = std::get<NameWords>(read);
  const std::vector<std::string> words = Split(FoldName(text));
  const auto is_family = [&](const std::vector<std::string>& unit) {
    std::string joined;
    for (const std::string& word : unit) joined += (joined.empty() ? "" : " ") + word;
    return Contains(words, Split(FoldName(joined)));
  };
  if (!std::any_of(name.family.begin(), name.family.end(), is_family)) return false;
  return std::any_of(name.given.begin(), name.given.end(), [&](const std::string& given) {
    const std::vector<std::string> wanted = Split(FoldName(given));
    if (Contains(words, wanted)) return true;
    const std::string& first = wanted.front();
    return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
      return word.size() == 1 && first.starts_with(word);
    });
  });
}

}  // namespace vedette::domain
