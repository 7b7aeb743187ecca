#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "domain/auth/principal.h"
#include "domain/job/job.h"
#include "domain/monitor/enums.h"
#include "store/session.h"

// What an organisation has spent, summed by what it was spent on. Two sources, as no one place has
// both: charges are lines of the ledger, which know their job, and through it, as long as it is
// kept, its kind and the caller who started it; checks that were completed are counted in ticks,
// which know their monitor, as long as history is kept. Nothing says which caller a check is of,
// and no charge which monitor. All functions throw as InTransaction does (store/session.h).
namespace vedette::store {

struct UsageRange {
  base::Uuid org_id;
  base::Timestamp since;  // included
  base::Timestamp until;  // not included
};

// By what the charges are told apart.
struct UsageGroups {
  bool day = false;  // in UTC
  bool kind = false;
  bool key = false;
  bool jobs_only = false;  // leaves out charges for checks
};

// What one group of charges comes to. What it is not grouped by is empty.
struct UsageSum {
  std::optional<base::Timestamp> day;
  std::optional<bool> of_checks;
  std::optional<domain::JobKind> job;  // of jobs; empty where the job is not kept any more
  std::optional<domain::PrincipalKind> caller_kind;
  std::optional<base::Uuid> caller_id;
  std::optional<std::string> caller_name;  // of a key or a client
  std::int64_t charged_mc = 0;
  std::int64_t checks = 0;
  std::int64_t jobs = 0;  // that were charged in this group
};
struct UsageSums {
  UsageSum total;  // of all charges, whatever is left out of the groups
  std::vector<UsageSum> groups;
};
// Charges of the range, in the order of their groups; at most `limit` of these.
UsageSums SumCharges(Session& session, const UsageRange& range, const UsageGroups& groups,
                     int limit);

// Checks that a monitor completed.
struct MonitorUsage {
  base::Uuid monitor_id;
  std::string name;
  domain::Tier tier = domain::Tier::kMicro;  // as it is now
  std::optional<base::Timestamp> day;        // in UTC, of the slot; where told by day
  std::int64_t checks = 0;
};
// Those of the slots of the range whose ticks have ended, by monitor and then by day; monitors
// without any are left out. Empty where the organisation has more than `ticks_max` such ticks, or
// more than `limit` groups.
std::optional<std::vector<MonitorUsage>> CountChecks(Session& session, const UsageRange& range,
                                                     bool by_day, int ticks_max, int limit);

}  // namespace vedette::store
