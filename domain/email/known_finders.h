#pragma once

#include <algorithm>
#include <string>
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

}  // namespace vedette::domain
