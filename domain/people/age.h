#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"

// What somebody states about the birth, the age or the death of a person, and how sure we may be
// that it is the person who was asked about.
namespace vedette::domain {

// Limits of what is kept of a claim. A longer quote is cut.
inline constexpr std::size_t kClaimQuoteCharactersMax = 300;
inline constexpr std::size_t kClaimUrlBytesMax = 1024;
// Claims of one lookup; further ones are not read.
inline constexpr std::size_t kAgeClaimsMax = 256;

// An address of the web that is short enough to be kept as the page of a claim.
inline bool IsClaimUrl(std::string_view url) {
  return url.size() <= kClaimUrlBytesMax && base::HasWebScheme(url);
}

// Whether a claim speaks of the person who was asked about.
enum class Identity : std::uint8_t {
  kSame,      // the name and a second thing agree, or it is a page that the client named
  kUnproven,  // the name agrees, and nothing else is known
  kOther,     // another name
};

// A day of the calendar, of which parts may not be known. A day is known only with its month.
struct PartialDate {
  std::optional<int> year{};
  std::optional<int> month{};  // 1..12
  std::optional<int> day{};    // 1..31

  bool operator==(const PartialDate&) const = default;
};

struct AgeClaim {
  enum class Kind : std::uint8_t {
    kBirth,  // `date` is the day of birth, as far as the source states it
    kAge,    // the person was `age` years old on the day `as_of`
    kDeath,  // the person has died
  };
  // How the source states it.
  enum class Standing : std::uint8_t {
    kProse,                 // a sentence of a page
    kStructured,            // JSON-LD, microdata or hCard of a page
    kService,               // a service of the operator's, with its own confidence
    kWikidata,              // a statement of Wikidata that has a reference
    kWikidataUnreferenced,  // one without a reference
  };

  Kind kind = Kind::kBirth;
  Standing standing = Standing::kProse;
  Identity identity = Identity::kUnproven;
  bool is_approximate = false;  // "about 1980", or a date of the Julian calendar: the year counts
  PartialDate date{};
  int age = 0;
  std::optional<std::chrono::year_month_day> as_of{};
  int confidence = 0;    // of kService, 0..10
  std::string url;       // where it stands: a web address
  std::string quote;     // what stands there
  std::string provider;  // the provider that gave it
  std::string tie{};  // for readers: what of the person stands there besides the name; may be empty
};
using AgeClaims = std::vector<AgeClaim>;

// The host of a web address, in lower case; empty where it is none.
std::string ClaimHost(const std::string& url);

// A person's date of birth and age, found from what sources state about the person. Pure; the order
// of the claims does not matter.
//
//   1. Only claims with Identity::kSame, a URL and a quote count. Dates that do not exist or lie in
//      the future are dropped, and dates and ages by which the person was born more than
//      kAgeYearsMax years ago. An approximate date keeps its year alone.
//   2. The year is decided first, then the month among claims of that year, then the day among
//      claims of that month. A host has one vote, which weighs as much as its heaviest claim:
//      structured data 3, a service or Wikidata with a reference 2, everything else 1. The winner
//      needs twice the weight of all others together. Otherwise this part of the date and the
//      parts below it are not known.
//   3. The confidence of a part is that of its best claim (structured data 8, Wikidata 7,
//      Wikidata without a reference 6, a service its own and at most 9, a sentence 6), 1 more for
//      each further host that agrees, at most 2 more, 3 less where a host disagrees, 2 less where
//      the best claim is approximate. It is at least 1 and at most 10. The date has the least
//      confidence of its parts.
//   4. Every claim is also an interval of possible days of birth. The age is exact where the whole
//      date is known, or where every day that all claims allow gives one age today. Otherwise the
//      age is estimated at the middle of these days, with 2 less confidence. Where no day satisfies
//      all claims, the heaviest group of claims that have a day in common counts, with 3 less
//      confidence; two such groups of one weight give no age. An interval never sets a part of the
//      date.
//   5. A person who was born on 29 February is a year older on 1 March of a common year. A person
//      who has died has no age. A person younger than `minimum_age` has no result at all, nor has
//      one without an age who can only be younger: by the date, or by every claim.

inline constexpr int kAgeYearsMax = 120;
inline constexpr int kAgeEstimateConfidenceLoss = 2;
inline constexpr int kAgeDisagreementConfidenceLoss = 3;
inline constexpr std::size_t kAgeSourcesMax = 20;
inline constexpr std::size_t kAgeEvidenceCharactersMax = 2000;

struct AgeResult {
  PartialDate date_of_birth;
  int date_confidence = 0;  // 0: nothing is known
  std::optional<int> age;   // in whole years, on `as_of`
  std::chrono::year_month_day as_of;
  int age_confidence = 0;
  bool is_withheld = false;  // the person is younger than `minimum_age`; nothing else is set
  std::string evidence;      // sentences; at most kAgeEvidenceCharactersMax characters
  std::vector<std::string> sources;  // the URLs of the claims that counted, each once
};

// `today`: in UTC. `minimum_age`: 0 is off.
AgeResult ResolveAge(AgeClaims claims, std::chrono::year_month_day today, int minimum_age = 0);

// How old a person who was born on that day is on the day `on`, which is not before it.
int AgeOn(std::chrono::year_month_day birth, std::chrono::year_month_day on);

}  // namespace vedette::domain
