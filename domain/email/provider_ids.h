#pragma once

#include <algorithm>
#include <iterator>
#include <string_view>

#include "domain/email/find_request.h"

// The providers that every process has. No service of the operator's may have their ids.
namespace vedette::domain {

// Those that find addresses, sorted.
inline constexpr std::string_view kOwnFinders[] = {"null", "pattern", "store", "website"};
// Those that know the domain of a company, sorted; "wikidata" where [age] wikidata is on.
inline constexpr std::string_view kOwnCompanySources[] = {"null", "store", "wikidata"};
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
  return IsOwnFinder(id) || id == kOwnVerifier || id == kDnsVerifier || id == "local_part";
}

// Whether a provider is of use in this mode: personal addresses are not guessed.
inline bool ServesMode(std::string_view id, FindMode mode) {
  return id != "pattern" || mode == FindMode::kProfessional;
}

}  // namespace vedette::domain
