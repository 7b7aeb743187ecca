#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "domain/age/claim.h"

// A person's date of birth and age, found from what sources state about the person. Pure; the order
// of the claims does not matter.
//
//   1. Only claims with Identity::kSame, a URL and a quote count. Dates that do not exist, lie in
//      the future or more than kAgeYearsMax years back are dropped. An approximate date keeps its
//      year alone.
//   2. The year is decided first, then the month among claims of that year, then the day among
//      claims of that month. A host has one vote, which weighs as much as its heaviest claim:
//      structured data 3, a service or Wikidata with a reference 2, everything else 1. The winner
//      needs twice the weight of all others together. Otherwise this part of the date and the
//      parts below it are not known.
//   3. The confidence of a part is that of its best claim (structured 8, Wikidata 7, Wikidata
//      without a reference 6, a service its own and at most 9, a sentence 6), 1 more for each
//      further host that agrees, at most 2 more, 3 less where a host disagrees, 2 less where the
//      best claim is approximate. It is at least 1 and at most 10. The date has the least
//      confidence of its parts.
//   4. Every claim is also an interval of possible days of birth. The age is exact where the whole
//      date is known, or where every day that all claims allow gives one age today. Otherwise the
//      age is estimated at the middle of these days, with 2 less confidence. Where no day satisfies
//      all claims, the heaviest group of claims that have a day in common counts, with 3 less
//      confidence; two such groups of one weight give no age. An interval never sets a part of the
//      date.
//   5. A person who was born on 29 February is a year older on 1 March of a common year. A person
//      who has died has no age. A person younger than `minimum_age` has no result at all.
namespace vedette::domain {

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
