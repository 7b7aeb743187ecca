#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "domain/investigation/finding.h"
#include "store/scope.h"
#include "store/session.h"

// Reading what investigations are about and what they have found. They are started and recorded as
// jobs (store/jobs/). Everything throws as InTransaction does.
namespace vedette::store {

struct InvestigationView {
  std::string seeds_json;
  int depth = 1;
  int findings_max = 0;
  std::optional<std::int64_t> credits_mc_max;
  std::int64_t findings = 0;
  bool budget_reached = false;
  std::int64_t subjects_examined = 0;
  std::int64_t subjects_failed = 0;  // of them: they could not be looked at, and cost nothing
  std::optional<std::string> name;
};
// Empty when it does not exist or is out of scope (G8).
std::optional<InvestigationView> GetInvestigation(Session& session, const Scope& scope,
                                                  const base::Uuid& id);

struct FindingView {
  std::int64_t seq = 0;  // 1, 2, 3, .. in the order of commits, without gaps
  base::Uuid id;
  domain::FindingKind kind{};
  std::string subject_json;
  std::string predicate;
  std::optional<std::string> object_json;
  std::optional<double> confidence;
  std::string evidence;
  std::string sources_json;
  std::string provider;
  std::vector<base::Uuid> derived_from;
  base::Timestamp created_at{};
};
// Those behind the number `after`, at most `limit`, oldest first. Nothing that is committed later
// comes before what was read.
std::vector<FindingView> ListFindings(Session& session, const base::Uuid& id, std::int64_t after,
                                      int limit);

}  // namespace vedette::store
