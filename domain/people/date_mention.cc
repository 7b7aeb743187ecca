#include "domain/people/date_mention.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "domain/people/words.h"

namespace vedette::domain {
namespace {

using Words = std::vector<Word>;
using Kind = Word::Kind;

constexpr int kYearMin = 1800;
constexpr int kYearMax = 2199;
constexpr std::size_t kSentenceWordsMax = 12;  // before a cue that are read
constexpr std::size_t kQuoteBytesBefore = 120;
constexpr std::size_t kQuoteBytesAfter = 60;

// A date that begins at a word, and the word behind it.
struct ReadDate {
  PartialDate date;
  std::size_t end = 0;
  bool is_julian = false;
};

bool IsWord(const Words& words, std::size_t at, std::string_view folded) {
  return at < words.size() && words[at].folded == folded;
}

// A number of at most `digits_max` digits.
std::optional<int> NumberAt(const Words& words, std::size_t at, std::size_t digits_min,
                            std::size_t digits_max) {
  if (at >= words.size() || words[at].kind != Kind::kNumber) return std::nullopt;
  const std::string& digits = words[at].folded;
  if (digits.size() < digits_min || digits.size() > digits_max) return std::nullopt;
  int value = 0;
  for (const char digit : digits) value = value * 10 + (digit - '0');
  return value;
}

std::optional<int> YearAt(const Words& words, std::size_t at) {
  const auto value = NumberAt(words, at, 4, 4);
  return value && *value >= kYearMin && *value <= kYearMax ? value : std::nullopt;
}

bool IsDash(std::string_view sign) {
  return sign == "-" || sign == "\xE2\x80\x93" || sign == "\xE2\x80\x94" || sign == "\xE2\x80\x90";
}

// Whether what follows a year shows that it is a decade, a range or one of several.
bool IsVague(const Words& words, std::size_t end) {
  if (end >= words.size()) return false;
  const Word& next = words[end];
  const bool is_adjacent = next.at == words[end - 1].end;
  if (is_adjacent &&
      (next.kind == Kind::kWord || next.folded == "'" || next.folded == "\xE2\x80\x99")) {
    return true;
  }
  const bool joins = IsDash(next.folded) || next.folded == "/" || IsAlternative(next.folded);
  if (!joins || end + 1 >= words.size()) return false;
  return words[end + 1].kind == Kind::kNumber ||
         (is_adjacent && words[end + 1].kind == Kind::kWord);
}

// "1st", "1er", "1.", "1º".
std::size_t SkipOrdinal(const Words& words, std::size_t at) {
  constexpr auto kOrdinals = std::to_array<std::string_view>(
      {"st", "nd", "rd", "th", "er", "e", "re", "ste", "ter", "ten", ".", "\xC2\xBA", "\xC2\xB0"});
  if (at >= words.size() || words[at].at != words[at - 1].end) return at;
  const bool is_ordinal =
      std::find(kOrdinals.begin(), kOrdinals.end(), words[at].folded) != kOrdinals.end();
  return is_ordinal ? at + 1 : at;
}

// "of", "de", a comma or a full stop between the parts of a date.
std::size_t SkipJoint(const Words& words, std::size_t at) {
  constexpr auto kJoints =
      std::to_array<std::string_view>({"of", "de", "del", "di", "do", ",", "."});
  std::size_t joints = 0;
  while (at < words.size() && joints < 2 &&
         std::find(kJoints.begin(), kJoints.end(), words[at].folded) != kJoints.end()) {
    ++at;
    ++joints;
  }
  return at;
}

// 1980-05-06, 1980/05/06, 1980-05.
std::optional<ReadDate> ReadYearFirst(const Words& words, std::size_t at) {
  const auto year = YearAt(words, at);
  if (!year || at + 2 >= words.size()) return std::nullopt;
  const std::string& sign = words[at + 1].folded;
  const auto month = NumberAt(words, at + 2, 2, 2);
  const bool is_close = words[at + 1].at == words[at].end && words[at + 2].at == words[at + 1].end;
  if ((sign != "-" && sign != "/") || !month || *month > 12 || !is_close) return std::nullopt;
  const auto day = IsWord(words, at + 3, sign) ? NumberAt(words, at + 4, 1, 2) : std::nullopt;
  if (day) return ReadDate{{year, month, day}, at + 5};
  // "1975/76" is no month, and "2001-12" alone may be a range of years.
  if (sign == "/" || at + 3 < words.size()) return std::nullopt;
  return ReadDate{{year, month, std::nullopt}, at + 3};
}

// 6.5.1980, 25/12/1980, 12/25/1980; 5/6/1980 has a year alone.
std::optional<ReadDate> ReadYearLast(const Words& words, std::size_t at) {
  const auto first = NumberAt(words, at, 1, 2);
  const auto second = NumberAt(words, at + 2, 1, 2);
  const auto year = YearAt(words, at + 4);
  if (!first || !second || !year) return std::nullopt;
  const std::string& sign = words[at + 1].folded;
  if ((sign != "." && sign != "/" && sign != "-") || words[at + 3].folded != sign) {
    return std::nullopt;
  }
  ReadDate read{{year, std::nullopt, std::nullopt}, at + 5};
  if (sign == "." || *first == *second || (*first > 12 && *second <= 12)) {
    read.date = {year, second, first};
  } else if (*second > 12 && *first <= 12) {
    read.date = {year, first, second};
  }
  return read;
}

// 6 May 1980, 6. Mai 1980, 6 de mayo de 1980.
std::optional<ReadDate> ReadDayMonth(const Words& words, std::size_t at) {
  const auto day = NumberAt(words, at, 1, 2);
  if (!day) return std::nullopt;
  std::size_t next = SkipJoint(words, SkipOrdinal(words, at + 1));
  if (next >= words.size()) return std::nullopt;
  const auto month = MonthOf(words[next].folded);
  if (!month) return std::nullopt;
  next = SkipJoint(words, next + 1);
  const auto year = YearAt(words, next);
  if (!year) return std::nullopt;
  return ReadDate{{year, month, day}, next + 1};
}

// May 6, 1980; May 1980.
std::optional<ReadDate> ReadMonthFirst(const Words& words, std::size_t at) {
  const auto month = at < words.size() ? MonthOf(words[at].folded) : std::nullopt;
  if (!month) return std::nullopt;
  std::size_t next = IsWord(words, at + 1, ".") ? at + 2 : at + 1;
  if (const auto day = NumberAt(words, next, 1, 2)) {
    next = SkipJoint(words, SkipOrdinal(words, next + 1));
    const auto year = YearAt(words, next);
    if (!year) return std::nullopt;
    return ReadDate{{year, month, day}, next + 1};
  }
  next = SkipJoint(words, next);
  const auto year = YearAt(words, next);
  if (!year) return std::nullopt;
  return ReadDate{{year, month, std::nullopt}, next + 1};
}

std::optional<ReadDate> ReadYearAlone(const Words& words, std::size_t at) {
  const auto year = YearAt(words, at);
  if (!year) return std::nullopt;
  return ReadDate{{year, std::nullopt, std::nullopt}, at + 1};
}

std::optional<ReadDate> ReadDateAt(const Words& words, std::size_t at) {
  if (auto read = ReadYearFirst(words, at)) return read;
  for (const auto reader : {ReadYearLast, ReadDayMonth, ReadMonthFirst, ReadYearAlone}) {
    auto read = reader(words, at);
    if (!read) continue;
    if (IsVague(words, read->end)) return std::nullopt;
    for (std::size_t i = read->end; i < std::min(words.size(), read->end + 3); ++i) {
      read->is_julian = read->is_julian || IsJulian(words[i].folded);
    }
    return read;
  }
  return std::nullopt;
}

// Whether the sign ends a sentence: a full stop behind a number, or behind the one or two letters
// of an abbreviation, does not.
bool EndsSentence(const Words& words, std::size_t at) {
  const Word& word = words[at];
  if (word.folded == "!" || word.folded == "?" || word.folded == ";") return true;
  if (word.folded != "." || at == 0) return false;
  const Word& before = words[at - 1];
  return before.kind == Kind::kWord && before.folded.size() > 2 && !MonthOf(before.folded) &&
         before.folded != "geb" && !IsApproximation(before.folded);
}

bool SpeaksOfRelative(const Words& words, std::size_t cue) {
  for (std::size_t i = cue; i > 0 && cue - i < kSentenceWordsMax; --i) {
    if (EndsSentence(words, i - 1)) return false;
    if (IsRelative(words[i - 1].folded)) return true;
  }
  return false;
}

// What may stand between a cue and its date: prepositions, the name of a place behind one, signs.
class Gap {
 public:
  // False: the date, if one follows, is not the cue's.
  bool Take(const Words& words, std::size_t at) {
    const Word& word = words[at];
    if (word.kind == Kind::kNumber) return false;
    if (word.kind == Kind::kSign) {
      return !EndsSentence(words, at) && IsHarmless(word.folded);
    }
    is_approximate_ = is_approximate_ || IsApproximation(word.folded);
    if (IsPlacePreposition(word.folded)) {
      place_ = Place::kMayFollow;
      return true;
    }
    if (IsPreposition(word.folded) || IsApproximation(word.folded)) return true;
    return word.is_capital && place_ == Place::kMayFollow;
  }
  bool is_approximate() const { return is_approximate_; }

 private:
  enum class Place { kNone, kMayFollow };

  static bool IsHarmless(std::string_view sign) {
    return sign == ":" || sign == "," || sign == "." || sign == "(" || sign == ")" || sign == "|" ||
           IsDash(sign);
  }

  Place place_ = Place::kNone;
  bool is_approximate_ = false;
};

// The date behind a cue whose last word is before `at`.
std::optional<DateMention> DateBehind(const Words& words, std::size_t cue, std::size_t at) {
  Gap gap;
  // The last word of "nata a" is the preposition of a place already.
  if (at > cue + 1) gap.Take(words, at - 1);
  for (std::size_t i = at; i < words.size() && i <= at + kCueGapMax; ++i) {
    if (const auto read = ReadDateAt(words, i)) {
      // "born in London, 2001 was the year": such a year may be the next clause's.
      const bool is_year = !read->date.month;
      if (is_year && i > at && words[i - 1].folded == ",") return std::nullopt;
      DateMention mention;
      mention.date = read->date;
      mention.is_approximate = gap.is_approximate() || read->is_julian;
      // "Max was born in 2010 to Ada Lovelace".
      mention.is_of_relative = SpeaksOfRelative(words, cue) || IsWord(words, read->end, "to");
      mention.at = words[cue].at;
      mention.length = words[read->end - 1].end - mention.at;
      return mention;
    }
    if (!gap.Take(words, i)) return std::nullopt;
  }
  return std::nullopt;
}

// The date before a participle that ends a German or Dutch clause: "wurde am 6. Mai 1980 in Köln
// geboren". Nothing but the name of a place stands between the two.
std::optional<DateMention> DateBefore(const Words& words, std::size_t cue) {
  constexpr std::size_t kDateWordsMax = 8;
  constexpr std::size_t kPlaceWords = 2;
  if (words[cue].folded != "geboren") return std::nullopt;
  for (std::size_t i = cue - std::min(cue, kDateWordsMax + kPlaceWords); i < cue; ++i) {
    const auto read = ReadDateAt(words, i);
    if (!read || read->end > cue) continue;
    const bool has_place = read->end + kPlaceWords == cue &&
                           IsPlacePreposition(words[read->end].folded) &&
                           words[read->end + 1].is_capital;
    if (read->end != cue && !has_place) continue;
    const bool is_one_of_several =
        i > 0 && (IsAlternative(words[i - 1].folded) || IsDash(words[i - 1].folded) ||
                  words[i - 1].folded == "/");
    if (is_one_of_several) return std::nullopt;
    DateMention mention;
    mention.date = read->date;
    mention.is_approximate = read->is_julian || (i > 0 && IsApproximation(words[i - 1].folded));
    mention.is_of_relative = SpeaksOfRelative(words, i);
    mention.at = words[i].at;
    mention.length = words[cue].end - mention.at;
    return mention;
  }
  return std::nullopt;
}

// Words around the number of an age. "#" is the number, "-" a hyphen.
using AgeForm = std::array<std::string_view, 5>;
constexpr auto kAgeForms = std::to_array<AgeForm>({
    {"aged", "#"},
    {"age", ":", "#"},
    {"#", "years", "old"},
    {"#", "-", "year", "-", "old"},
    {"#", "jahre", "alt"},
    {"alter", ":", "#"},
    {"#", "-", "jahrige"},
    {"#", "-", "jahriger"},
    {"age", "de", "#", "ans"},
    {"agee", "de", "#", "ans"},
    {"#", "anos", "de", "edad"},
    {"edad", ":", "#"},
    {"tiene", "#", "anos"},
    {"ha", "#", "anni"},
    {"eta", ":", "#"},
    {"#", "anos", "de", "idade"},
    {"tem", "#", "anos"},
    {"idade", ":", "#"},
    {"#", "jaar", "oud"},
    {"#", "-", "jarige"},
    {"leeftijd", ":", "#"},
    {"ma", "#", "lat"},
    {"ma", "#", "lata"},
    {"wiek", ":", "#"},
});

// Whether an age's form is followed by something that makes it no age: "tem 20 anos de casa", "a
// 34-year-old company", "aged 34 months".
bool IsOfSomething(const Words& words, std::size_t end) {
  if (end >= words.size() || words[end].kind == Kind::kSign) return false;
  constexpr auto kHarmless = std::to_array<std::string_view>(
      {"and", "und", "et", "y", "e", "en", "i", "from", "aus", "who", "is", "ist", "on"});
  return std::find(kHarmless.begin(), kHarmless.end(), words[end].folded) == kHarmless.end();
}

std::optional<DateMention> AgeAt(const Words& words, std::size_t at) {
  for (const AgeForm& form : kAgeForms) {
    std::optional<int> age;
    std::size_t length = 0;
    while (length < form.size() && !form[length].empty() && at + length < words.size()) {
      const Word& word = words[at + length];
      if (form[length] == "#") {
        age = NumberAt(words, at + length, 1, 3);
        if (!age) break;
      } else if (form[length] == "-" ? !IsDash(word.folded) : word.folded != form[length]) {
        break;
      }
      ++length;
    }
    const bool is_whole = length == form.size() || form[length].empty();
    if (!is_whole || !age || IsOfSomething(words, at + length)) continue;
    // "Aged 18, she founded" tells of the past, and so does "40% aged 18".
    if (form[0] == "aged" && (words[at].is_capital || at == 0)) continue;
    DateMention mention;
    mention.kind = AgeClaim::Kind::kAge;
    mention.age = *age;
    mention.is_approximate = at > 0 && IsApproximation(words[at - 1].folded);
    mention.is_of_relative = SpeaksOfRelative(words, at);
    mention.at = words[at].at;
    mention.length = words[at + length - 1].end - mention.at;
    return mention;
  }
  return std::nullopt;
}

std::optional<DateMention> MentionAt(std::string_view text, const Words& words, std::size_t at) {
  if (const std::size_t cue = BirthCue(text, words, at)) {
    auto mention = DateBehind(words, at, at + cue);
    return mention ? mention : DateBefore(words, at);
  }
  if (const std::size_t cue = DeathCue(words, at)) {
    DateMention death = DateBehind(words, at, at + cue).value_or(DateMention());
    death.kind = AgeClaim::Kind::kDeath;
    death.is_of_relative = SpeaksOfRelative(words, at);
    death.at = words[at].at;
    death.length = std::max(death.length, words[at + cue - 1].end - words[at].at);
    return death;
  }
  return AgeAt(words, at);
}

}  // namespace

std::vector<DateMention> ReadDateMentions(std::string_view text) {
  text = base::CutBytes(text, kDateTextBytesMax);
  const Words words = SplitWords(text);
  std::vector<DateMention> mentions;
  for (std::size_t i = 0; i < words.size() && mentions.size() < kDateMentionsMax; ++i) {
    if (auto mention = MentionAt(text, words, i)) mentions.push_back(*mention);
  }
  return mentions;
}

std::optional<PartialDate> ReadDateValue(std::string_view value) {
  const Words words = SplitWords(base::CutBytes(value, kClaimQuoteCharactersMax));
  const auto read = ReadDateAt(words, 0);
  if (!read) return std::nullopt;
  return read->date;
}

std::string QuoteOf(std::string_view text, const DateMention& mention) {
  std::size_t first = mention.at > kQuoteBytesBefore ? mention.at - kQuoteBytesBefore : 0;
  std::size_t last = std::min(text.size(), mention.at + mention.length + kQuoteBytesAfter);
  // Whole words: the first one may begin before.
  while (first > 0 && first < mention.at && text[first - 1] != ' ') ++first;
  while (last < text.size() && last > mention.at + mention.length && text[last] != ' ') --last;
  return base::CutCharacters(std::string(base::Trim(text.substr(first, last - first))),
                             kClaimQuoteCharactersMax);
}

}  // namespace vedette::domain
