#include "domain/email/candidate.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "domain/email/address.h"

namespace vedette::domain {
namespace {

constexpr std::string_view kNames[] = {"first.last", "flast",  "first",      "firstlast", "f.last",
                                       "first_last", "firstl", "last.first", "lastf",     "last"};
static_assert(std::size(kNames) == kAddressPatterns);

constexpr std::string_view kStatusNames[] = {"OK", "UNKNOWN", "NOT_FOUND"};

int HitsOf(const std::vector<PatternCount>& counts, AddressPattern pattern) {
  const auto it = std::find_if(counts.begin(), counts.end(),
                               [&](const auto& count) { return count.pattern == pattern; });
  // More misses than hits: what was seen speaks against the pattern.
  return it == counts.end() || it->misses >= it->hits ? 0 : it->hits;
}

// All patterns: those with hits by their number, then the others in their order.
std::vector<AddressPattern> Ordered(const std::vector<PatternCount>& counts) {
  std::vector<AddressPattern> order;
  order.reserve(kAddressPatterns);
  for (std::size_t i = 0; i < kAddressPatterns; ++i) {
    order.push_back(static_cast<AddressPattern>(i));
  }
  std::stable_sort(order.begin(), order.end(), [&](AddressPattern a, AddressPattern b) {
    return HitsOf(counts, a) > HitsOf(counts, b);
  });
  return order;
}

bool IsLocalPart(const std::string& local) {
  return !local.empty() && local.size() <= kLocalPartBytesMax && local.front() != '-';
}

void AddOnce(Guess guess, std::size_t guesses_max, std::vector<Guess>* out) {
  if (out->size() >= guesses_max || !IsLocalPart(guess.local)) return;
  const auto is_same = [&](const Guess& other) { return other.local == guess.local; };
  if (std::none_of(out->begin(), out->end(), is_same)) out->push_back(std::move(guess));
}

}  // namespace

std::string_view AddressStatusName(AddressStatus status) {
  return kStatusNames[static_cast<std::size_t>(status)];
}

std::optional<AddressStatus> ParseAddressStatus(std::string_view name) {
  const auto* const found = std::find(std::begin(kStatusNames), std::end(kStatusNames), name);
  if (found == std::end(kStatusNames)) return std::nullopt;
  return static_cast<AddressStatus>(found - std::begin(kStatusNames));
}

std::string_view AddressPatternName(AddressPattern pattern) {
  return kNames[static_cast<std::size_t>(pattern)];
}

std::optional<AddressPattern> ReadAddressPattern(int number) {
  if (number < 0 || number >= static_cast<int>(kAddressPatterns)) return std::nullopt;
  return static_cast<AddressPattern>(number);
}

bool UsesBothNames(AddressPattern pattern) {
  return pattern != AddressPattern::kFirst && pattern != AddressPattern::kLast;
}

std::string LocalPart(AddressPattern pattern, const NameRendering& name) {
  const std::string& first = name.given;
  const std::string& last = name.family;
  switch (pattern) {
    case AddressPattern::kFirstDotLast:
      return first + '.' + last;
    case AddressPattern::kFLast:
      return first.substr(0, 1) + last;
    case AddressPattern::kFirst:
      return first;
    case AddressPattern::kFirstLast:
      return first + last;
    case AddressPattern::kFDotLast:
      return first.substr(0, 1) + '.' + last;
    case AddressPattern::kFirstUnderscoreLast:
      return first + '_' + last;
    case AddressPattern::kFirstL:
      return first + last.substr(0, 1);
    case AddressPattern::kLastDotFirst:
      return last + '.' + first;
    case AddressPattern::kLastF:
      return last + first.substr(0, 1);
    case AddressPattern::kLast:
      return last;
  }
  return "";
}

std::optional<AddressPattern> LearnedPattern(const std::vector<PatternCount>& counts) {
  const PatternCount* best = nullptr;
  for (const PatternCount& count : counts) {
    if (count.hits < kLearnedHitsMin || count.hits < kLearnedHitsPerMiss * count.misses) continue;
    if (best == nullptr || count.hits > best->hits) best = &count;
  }
  return best == nullptr ? std::nullopt : std::optional(best->pattern);
}

std::vector<Guess> GuessLocalParts(const std::vector<NameRendering>& names,
                                   const std::vector<PatternCount>& counts,
                                   std::size_t guesses_max) {
  std::vector<Guess> out;
  if (const auto learned = LearnedPattern(counts)) {
    for (const NameRendering& name : names) {
      AddOnce({LocalPart(*learned, name), *learned, PatternSeen::kLearned},
              std::min(kLearnedGuessesMax, guesses_max), &out);
    }
    return out;
  }
  // Cost, then the place of the pattern: the commoner pattern comes first among equal costs.
  std::vector<std::tuple<std::size_t, std::size_t, Guess>> all;
  const std::vector<AddressPattern> order = Ordered(counts);
  for (std::size_t rendering = 0; rendering < names.size(); ++rendering) {
    for (std::size_t place = 0; place < order.size(); ++place) {
      all.emplace_back(
          place + kRenderingCost * rendering, place,
          Guess{LocalPart(order[place], names[rendering]), order[place],
                HitsOf(counts, order[place]) > 0 ? PatternSeen::kHit : PatternSeen::kNot});
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return std::tie(std::get<0>(a), std::get<1>(a)) < std::tie(std::get<0>(b), std::get<1>(b));
  });
  for (auto& one : all) AddOnce(std::move(std::get<2>(one)), guesses_max, &out);
  return out;
}

std::optional<AddressPattern> PatternOf(std::string_view local,
                                        const std::vector<NameRendering>& names) {
  const std::string wanted = base::AsciiLower(local.substr(0, local.find('+')));
  for (std::size_t i = 0; i < kAddressPatterns; ++i) {
    const auto pattern = static_cast<AddressPattern>(i);
    const auto makes = [&](const NameRendering& name) {
      return LocalPart(pattern, name) == wanted;
    };
    if (std::any_of(names.begin(), names.end(), makes)) return pattern;
  }
  return std::nullopt;
}

}  // namespace vedette::domain
