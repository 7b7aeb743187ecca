#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "domain/investigation/subject.h"
#include "rest/problems.h"

// The body of POST /v1/atlas/investigations. Pure.
namespace vedette::api {

inline constexpr std::size_t kSeedsMax = 10;
inline constexpr int kInvestigationDepthMax = 3;
inline constexpr int kFindingsDefault = 1000;
inline constexpr int kFindingsMax = 10'000;

struct InvestigationBody {
  std::optional<std::string> name;
  std::vector<domain::Subject> seeds;
  int depth = 1;
  int findings_max = kFindingsDefault;
  std::optional<std::int64_t> credits_mc_max;
};

// What is wrong becomes a problem; `price_mc`: of each seed, which credits_max has to cover.
InvestigationBody ReadInvestigationBody(const base::Json& members, std::int64_t price_mc,
                                        rest::Problems* problems);

}  // namespace vedette::api
