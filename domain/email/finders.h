#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "domain/email/find_request.h"

// The providers that a request or a workflow may name to find addresses. Those that are configured
// are handed in as data (config/rules.h).
namespace vedette::domain {

struct KnownFinders {
  std::vector<std::string> all;           // in the order they are told in, with those of people
  std::vector<std::string> professional;  // those of use for mode PROFESSIONAL
  std::vector<std::string> personal;      // and for PERSONAL

  static bool Has(const std::vector<std::string>& ids, const std::string& id) {
    return std::find(ids.begin(), ids.end(), id) != ids.end();
  }
  bool Knows(const std::string& id) const { return Has(all, id); }
  const std::vector<std::string>& Serving(FindMode mode) const {
    return mode == FindMode::kProfessional ? professional : personal;
  }
  bool Finds(const std::string& id, FindMode mode) const { return Has(Serving(mode), id); }
};

// The providers that every process has. No service of the operator's may have their ids.

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
