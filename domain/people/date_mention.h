#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/people/age.h"

// Dates of birth and ages that sentences state, in English, German, French, Spanish, Italian,
// Portuguese, Dutch and Polish. Pure, and linear in the length of the text.
//
// A date counts only behind words that name a birth ("born", "geb.", "né le", "data urodzenia"):
// between the two stand at most kCueGapMax words, which are prepositions or names of places. Before
// "geboren" it counts, too ("am 6. Mai 1980 in Köln geboren"). An age
// counts only in a form that means nothing else ("aged 34", "34 Jahre alt", "âgé de 34 ans"). Text
// is data: what else it says, and to whom, has no effect.
//
// Order of day and month: ISO dates, dotted dates (day first), a month's name, and a number over 12
// settle it. Where nothing does, as in 05/06/1980, the year alone is read. Ranges, alternatives and
// decades ("1980s", "années 1980", "1975-80", "1975 or 1976") say nothing, and neither do years of
// two digits. Dates that do not exist are read as they stand: ResolveAge drops them.
namespace vedette::domain {

inline constexpr std::size_t kDateTextBytesMax = std::size_t{1} << 20;  // the rest is not read
inline constexpr std::size_t kDateMentionsMax = 64;                     // of one text
inline constexpr std::size_t kCueGapMax = 8;                            // words

struct DateMention {
  AgeClaim::Kind kind = AgeClaim::Kind::kBirth;
  PartialDate date{};
  int age = 0;                  // of kAge
  bool is_approximate = false;  // "about", or of the Julian calendar
  // The sentence speaks of a relative ("her son"), so that nobody knows whose date it is.
  bool is_of_relative = false;
  std::size_t at = 0;  // the first byte of the words, from the cue on
  std::size_t length = 0;
};

// `text` is valid UTF-8 with folded white space (base::FoldSpace).
std::vector<DateMention> ReadDateMentions(std::string_view text);

// The value of a member that is a date: "1980-05-06", "1980-05", "1980", "6 May 1980", a time after
// the date. Empty where it is none.
std::optional<PartialDate> ReadDateValue(std::string_view value);

// The words around a mention that prove it: at most kClaimQuoteCharactersMax characters, whole.
std::string QuoteOf(std::string_view text, const DateMention& mention);

}  // namespace vedette::domain
