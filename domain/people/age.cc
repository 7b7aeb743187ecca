#include "domain/people/age.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "domain/email/candidate.h"

namespace vedette::domain {

std::string ClaimHost(const std::string& url) {
  std::string_view rest = url;
  if (rest.starts_with("https://")) {
    rest.remove_prefix(8);
  } else if (rest.starts_with("http://")) {
    rest.remove_prefix(7);
  } else {
    return "";
  }
  rest = rest.substr(0, rest.find_first_of("/?#"));
  if (const auto at = rest.rfind('@'); at != std::string_view::npos) rest.remove_prefix(at + 1);
  rest = rest.substr(0, rest.find(':'));
  std::string host = base::AsciiLower(rest);
  if (host.starts_with("www.")) host.erase(0, 4);
  return host;
}

namespace {

using std::chrono::day;
using std::chrono::days;
using std::chrono::month;
using std::chrono::sys_days;
using std::chrono::year;
using std::chrono::year_month_day;
using Claims = std::vector<const AgeClaim*>;
using PartOf = std::optional<int> PartialDate::*;

constexpr int kServiceConfidenceMax = 9;
constexpr int kAgreementMax = 2;
constexpr int kApproximateYears = 1;  // how far an approximate year may be off
constexpr int kApproximateLoss = 2;

int WeightOf(const AgeClaim& claim) {
  switch (claim.standing) {
    case AgeClaim::Standing::kStructured:
      return 3;
    case AgeClaim::Standing::kService:
    case AgeClaim::Standing::kWikidata:
      return 2;
    case AgeClaim::Standing::kProse:
    case AgeClaim::Standing::kWikidataUnreferenced:
      break;
  }
  return 1;
}

int BaseConfidence(const AgeClaim& claim) {
  const int loss = claim.is_approximate ? kApproximateLoss : 0;
  switch (claim.standing) {
    case AgeClaim::Standing::kStructured:
      return 8 - loss;
    case AgeClaim::Standing::kWikidata:
      return 7 - loss;
    case AgeClaim::Standing::kService:
      return std::clamp(claim.confidence, 1, kServiceConfidenceMax) - loss;
    case AgeClaim::Standing::kProse:
    case AgeClaim::Standing::kWikidataUnreferenced:
      break;
  }
  return 6 - loss;
}

year_month_day DateOf(int y, int m, int d) {
  return {year(y), month(static_cast<unsigned>(m)), day(static_cast<unsigned>(d))};
}

// That many years before; 29 February becomes the 28th where the year has none.
year_month_day YearsBefore(year_month_day date, int years) {
  const year_month_day before = date - std::chrono::years(years);
  return before.ok() ? before : before.year() / before.month() / std::chrono::last;
}

// The vote of one host: its heaviest value. Empty where two values weigh the same.
std::optional<int> VoteOf(const Claims& claims, PartOf part) {
  std::map<int, int> weights;
  for (const AgeClaim* claim : claims) {
    int& weight = weights[*(claim->date.*part)];
    weight = std::max(weight, WeightOf(*claim));
  }
  const auto best =
      std::max_element(weights.begin(), weights.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  const auto equals = std::count_if(weights.begin(), weights.end(),
                                    [&](const auto& one) { return one.second == best->second; });
  if (equals > 1) return std::nullopt;
  return best->first;
}

struct Part {
  int value = 0;
  int confidence = 0;
};

// What the hosts say of one part of the date. `claims`: those that agree on the parts above it.
std::optional<Part> DecidePart(const Claims& claims, PartOf part) {
  std::map<std::string, Claims> by_host;
  for (const AgeClaim* claim : claims) {
    if (claim->date.*part) by_host[ClaimHost(claim->url)].push_back(claim);
  }
  std::map<int, int> weights;
  int total = 0;
  bool is_disputed = false;
  for (const auto& [host, stated] : by_host) {
    const auto vote = VoteOf(stated, part);
    const auto heaviest =
        std::max_element(stated.begin(), stated.end(),
                         [](const auto* a, const auto* b) { return WeightOf(*a) < WeightOf(*b); });
    total += WeightOf(**heaviest);
    is_disputed = is_disputed || !vote;
    if (vote) weights[*vote] += WeightOf(**heaviest);
  }
  const auto best =
      std::max_element(weights.begin(), weights.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (best == weights.end() || best->second < 2 * (total - best->second)) return std::nullopt;
  int confidence = 0;
  std::set<std::string> agreeing;
  for (const auto& [host, stated] : by_host) {
    for (const AgeClaim* claim : stated) {
      if (*(claim->date.*part) != best->first) {
        is_disputed = true;
        continue;
      }
      confidence = std::max(confidence, BaseConfidence(*claim));
      agreeing.insert(host);
    }
  }
  confidence += std::min(static_cast<int>(agreeing.size()) - 1, kAgreementMax);
  if (is_disputed) confidence -= kAgeDisagreementConfidenceLoss;
  return Part{best->first, std::clamp(confidence, 1, kConfidenceMax)};
}

void DecideDate(Claims claims, AgeResult* result) {
  int confidence = kConfidenceMax;
  for (const PartOf part : {&PartialDate::year, &PartialDate::month, &PartialDate::day}) {
    const auto decided = DecidePart(claims, part);
    if (!decided) break;
    result->date_of_birth.*part = decided->value;
    confidence = std::min(confidence, decided->confidence);
    std::erase_if(claims, [&](const AgeClaim* claim) {
      return claim->date.*part != std::optional<int>(decided->value);
    });
  }
  result->date_confidence = result->date_of_birth.year ? confidence : 0;
}

// The days of birth that something allows, both ends included.
struct Interval {
  sys_days first;
  sys_days last;
  int weight = 0;
  int confidence = 0;
  std::string host{};
};

Interval DaysOf(const PartialDate& date, int years_around) {
  const year_month_day first =
      DateOf(*date.year - years_around, date.month.value_or(1), date.day.value_or(1));
  sys_days last = sys_days(year(*date.year + years_around) / month(12) / day(31));
  if (date.month) last = sys_days(first.year() / first.month() / std::chrono::last);
  if (date.day) last = sys_days(first);
  return {sys_days(first), last};
}

// Nobody is older than who was born on this day.
sys_days EarliestBirth(year_month_day today) {
  return sys_days(YearsBefore(today, kAgeYearsMax));
}

Interval IntervalOf(const AgeClaim& claim, year_month_day today) {
  Interval interval;
  if (claim.kind == AgeClaim::Kind::kBirth) {
    interval = DaysOf(claim.date, claim.is_approximate ? kApproximateYears : 0);
  } else {
    const int slack = claim.is_approximate ? kApproximateYears : 0;
    interval.first = sys_days(YearsBefore(*claim.as_of, claim.age + 1 + slack)) + days(1);
    interval.last = sys_days(YearsBefore(*claim.as_of, std::max(claim.age - slack, 0)));
  }
  interval.first = std::max(interval.first, EarliestBirth(today));
  interval.last = std::min(interval.last, sys_days(today));
  interval.weight = WeightOf(claim);
  interval.confidence = BaseConfidence(claim);
  interval.host = ClaimHost(claim.url);
  return interval;
}

// Whether the parts that are known can be those of a day of birth.
bool CanBe(const PartialDate& date, year_month_day today) {
  if (!date.year || (date.day && !date.month)) return false;
  const int this_year = static_cast<int>(today.year());
  if (*date.year > this_year || *date.year < this_year - kAgeYearsMax) return false;
  if (date.month && (*date.month < 1 || *date.month > 12)) return false;
  if (date.day && *date.day < 1) return false;
  const year_month_day first = DateOf(*date.year, date.month.value_or(1), date.day.value_or(1));
  return first.ok() && sys_days(first) <= sys_days(today) &&
         DaysOf(date, 0).last >= EarliestBirth(today);
}

// Drops what cannot count, and what an approximate date says beyond its year.
AgeClaims Usable(AgeClaims claims, year_month_day today) {
  AgeClaims usable;
  for (AgeClaim& claim : claims) {
    if (claim.identity != Identity::kSame || ClaimHost(claim.url).empty() || claim.quote.empty()) {
      continue;
    }
    if (claim.kind == AgeClaim::Kind::kBirth) {
      if (!CanBe(claim.date, today)) continue;
      if (claim.is_approximate) claim.date = {claim.date.year, {}, {}};
    }
    if (claim.kind == AgeClaim::Kind::kAge) {
      if (!claim.as_of || !claim.as_of->ok() || sys_days(*claim.as_of) > sys_days(today)) continue;
      if (claim.age < 0 || claim.age > kAgeYearsMax) continue;
      if (IntervalOf(claim, today).last < EarliestBirth(today)) continue;
    }
    usable.push_back(std::move(claim));
    if (usable.size() == kAgeClaimsMax) break;
  }
  return usable;
}

// The intervals that hold one day, by their places.
using Group = std::vector<std::size_t>;

int WeightOf(const Group& group, const std::vector<Interval>& intervals) {
  std::map<std::string, int> by_host;
  for (const std::size_t i : group) {
    int& weight = by_host[intervals[i].host];
    weight = std::max(weight, intervals[i].weight);
  }
  int total = 0;
  for (const auto& [host, weight] : by_host) total += weight;
  return total;
}

// The heaviest group of intervals that have a day in common; empty at a tie.
Group HeaviestGroup(const std::vector<Interval>& intervals) {
  // A group that cannot grow holds the first day of one of its intervals.
  std::set<Group> groups;
  for (const Interval& at : intervals) {
    Group group;
    for (std::size_t i = 0; i < intervals.size(); ++i) {
      if (intervals[i].first <= at.first && at.first <= intervals[i].last) group.push_back(i);
    }
    groups.insert(std::move(group));
  }
  const auto rank = [&](const Group& group) {
    return std::pair(WeightOf(group, intervals), group.size());
  };
  const auto best =
      std::max_element(groups.begin(), groups.end(),
                       [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  if (best == groups.end()) return {};
  const bool is_tie = std::any_of(groups.begin(), groups.end(), [&](const Group& group) {
    const bool is_part = std::includes(best->begin(), best->end(), group.begin(), group.end());
    return !is_part && rank(group).first == rank(*best).first;
  });
  return is_tie ? Group() : *best;
}

bool IsWhole(const PartialDate& date) {
  return date.year && date.month && date.day;
}

void DecideAge(const Claims& claims, year_month_day today, AgeResult* result) {
  const PartialDate& date = result->date_of_birth;
  if (IsWhole(date)) {
    result->age = AgeOn(DateOf(*date.year, *date.month, *date.day), today);
    result->age_confidence = result->date_confidence;
    return;
  }
  // What the date says already holds for the age, too.
  std::optional<Interval> known;
  if (date.year) known = DaysOf(date, 0);
  std::vector<Interval> intervals;
  bool is_contradicted = false;
  for (const AgeClaim* claim : claims) {
    Interval interval = IntervalOf(*claim, today);
    if (known) {
      interval.first = std::max(interval.first, known->first);
      interval.last = std::min(interval.last, known->last);
    }
    if (interval.first <= interval.last) {
      intervals.push_back(std::move(interval));
    } else {
      is_contradicted = true;
    }
  }
  const Group group = HeaviestGroup(intervals);
  if (group.empty()) return;
  is_contradicted = is_contradicted || group.size() < intervals.size();
  sys_days first = intervals[group.front()].first;
  sys_days last = intervals[group.front()].last;
  int confidence = kConfidenceMax;
  for (const std::size_t i : group) {
    first = std::max(first, intervals[i].first);
    last = std::min(last, intervals[i].last);
    confidence = std::min(confidence, intervals[i].confidence);
  }
  const bool is_exact = AgeOn(year_month_day(first), today) == AgeOn(year_month_day(last), today);
  if (!is_exact) confidence -= kAgeEstimateConfidenceLoss;
  if (is_contradicted) confidence -= kAgeDisagreementConfidenceLoss;
  result->age = AgeOn(year_month_day(first + (last - first) / 2), today);
  result->age_confidence = std::max(confidence, 1);
}

// Whether the person is younger than that: by the age, or else by the earliest day of birth that
// the date found, or any claim, allows.
bool IsBelow(const AgeResult& result, const Claims& claims, int minimum_age) {
  if (result.age) return *result.age < minimum_age;
  const auto is_below = [&](const Interval& births) {
    return AgeOn(year_month_day(births.first), result.as_of) < minimum_age;
  };
  if (result.date_of_birth.year) return is_below(DaysOf(result.date_of_birth, 0));
  return !claims.empty() && std::all_of(claims.begin(), claims.end(), [&](const AgeClaim* claim) {
    return is_below(IntervalOf(*claim, result.as_of));
  });
}

// The claims in an order of their own, so that the order in which they came does not matter.
void Sort(AgeClaims* claims) {
  const auto key = [](const AgeClaim& claim) {
    return std::tie(claim.url, claim.quote, claim.kind, claim.standing, claim.date.year,
                    claim.date.month, claim.date.day, claim.age, claim.confidence, claim.provider);
  };
  std::sort(claims->begin(), claims->end(),
            [&](const AgeClaim& a, const AgeClaim& b) { return key(a) < key(b); });
}

// `claims`: the usable ones of those that are tied to the person.
void Describe(const AgeClaims& claims, std::size_t tied, std::size_t untied, bool has_died,
              AgeResult* result) {
  std::string text;
  if (claims.empty() && tied > 0) text = "What was found could not be used. ";
  if (has_died) text = "A source says that the person has died, so no age is given. ";
  std::set<std::pair<std::string, std::string>> told;
  for (const AgeClaim& claim : claims) {
    if (!told.emplace(claim.url, claim.quote).second) continue;
    const bool is_service = claim.standing == AgeClaim::Standing::kService;
    const std::string tie = claim.tie.empty() && is_service ? "the service's own word" : claim.tie;
    text += fmt::format("{} says: \"{}\"{}. ", ClaimHost(claim.url),
                        base::CutCharacters(base::FoldSpace(claim.quote), kClaimQuoteCharactersMax),
                        tie.empty() ? "" : fmt::format(" (tied to the person by {})", tie));
    const bool is_new = std::find(result->sources.begin(), result->sources.end(), claim.url) ==
                        result->sources.end();
    if (is_new && result->sources.size() < kAgeSourcesMax) result->sources.push_back(claim.url);
  }
  if (untied > 0) {
    text += fmt::format("{} more could not be tied to the person and did not count.", untied);
  }
  result->evidence = base::CutCharacters(std::string(base::Trim(text)), kAgeEvidenceCharactersMax);
}

}  // namespace

int AgeOn(year_month_day birth, year_month_day on) {
  const int years = static_cast<int>(on.year()) - static_cast<int>(birth.year());
  const auto in_year = [](year_month_day date) {
    return std::pair(static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
  };
  return in_year(on) < in_year(birth) ? years - 1 : years;
}

AgeResult ResolveAge(AgeClaims claims, year_month_day today, int minimum_age) {
  AgeResult result;
  result.as_of = today;
  const auto untied = static_cast<std::size_t>(
      std::count_if(claims.begin(), claims.end(),
                    [](const AgeClaim& claim) { return claim.identity != Identity::kSame; }));
  const std::size_t tied = claims.size() - untied;
  Sort(&claims);
  const AgeClaims usable = Usable(std::move(claims), today);
  Claims births;
  Claims intervals;
  bool has_died = false;
  for (const AgeClaim& claim : usable) {
    if (claim.kind == AgeClaim::Kind::kBirth) births.push_back(&claim);
    if (claim.kind != AgeClaim::Kind::kDeath) intervals.push_back(&claim);
    has_died = has_died || claim.kind == AgeClaim::Kind::kDeath;
  }
  DecideDate(births, &result);
  DecideAge(intervals, today, &result);
  if (IsBelow(result, intervals, minimum_age)) {
    AgeResult withheld;
    withheld.as_of = today;
    withheld.is_withheld = true;
    withheld.evidence = "withheld";
    return withheld;
  }
  if (has_died) {
    result.age.reset();
    result.age_confidence = 0;
  }
  Describe(usable, tied, untied, has_died, &result);
  return result;
}

}  // namespace vedette::domain
