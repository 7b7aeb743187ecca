#pragma once

#include <algorithm>
#include <iterator>
#include <string_view>

#include "domain/email/find_request.h"

// The providers that every process has. No service of the operator's may have their ids.
namespace vedette::domain {

// Invents its answers, for benchmarks and tests. It exists only where [testing] null_provider is
// on, is asked only where the operator's own order has it, and is never kept as a fact. No request
// may name it, so it is in none of the lists below.
inline constexpr std::string_view kNullProvider = "null";
// Those that find addresses, sorted.
inline constexpr std::string_view kOwnFinders[] = {"pattern", "store", "website"};
// Those that know the domain of a company, sorted; "wikidata" where [age] wikidata is on.
inline constexpr std::string_view kOwnCompanySources[] = {"store", "wikidata"};
// The one that verifies them.
inline constexpr std::string_view kOwnVerifier = "smtp";
// The one that asks the DNS alone, for requests that do not want more.
inline constexpr std::string_view kDnsVerifier = "dns";

inline bool IsOwnFinder(std::string_view id) {
  return std::binary_search(std::begin(kOwnFinders), std::end(kOwnFinders), id);
}

inline bool IsOwnCompanySource(std::string_view id) {
  return std::binary_search(std::begin(kOwnCompanySources), std::end(kOwnCompanySources), id);
}

// Whether an id is taken by a provider of ours.
inline bool IsOwnProvider(std::string_view id) {
  return IsOwnFinder(id) || id == kOwnVerifier || id == kDnsVerifier || id == "local_part" ||
         id == kNullProvider;
}

// Whether a provider is of use in this mode: personal addresses are not guessed.
inline bool ServesMode(std::string_view id, FindMode mode) {
  return id != "pattern" || mode == FindMode::kProfessional;
}

}  // namespace vedette::domain
