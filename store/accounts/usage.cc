#include "store/accounts/usage.h"

#include <algorithm>
#include <utility>

#include "store/sql.h"

namespace vedette::store {
namespace {

// Ticks that one statement reads; each has up to 256 bytes of outcomes.
constexpr int kTicksPage = 5'000;

// A row of usage_ticks.
struct UsedTick {
  base::Uuid monitor_id;
  std::string name;
  domain::Tier tier{};
  std::int64_t tick_id = 0;
  std::int64_t completed = 0;
};

UsedTick ReadUsedTick(const pqxx::row& row) {
  UsedTick tick;
  std::optional<std::string> outcomes;              // of a small tick
  std::optional<std::vector<std::int64_t>> counts;  // of a large one
  Columns(row).Into("monitor_id"_a = &tick.monitor_id, "name"_a = &tick.name, "tier"_a = &tick.tier,
                    "tick_id"_a = &tick.tick_id, "outcomes"_a = OptionalBytesInto{&outcomes},
                    "counts"_a = &counts);
  domain::OutcomeCounts by_outcome{};
  if (outcomes) {
    domain::CountOutcomes(*outcomes, &by_outcome);
  } else if (counts) {
    std::copy_n(counts->begin(), std::min(counts->size(), by_outcome.size()), by_outcome.begin());
  }
  for (std::size_t i = 0; i < by_outcome.size(); ++i) {
    if (domain::IsCompleted(static_cast<domain::Outcome>(i))) tick.completed += by_outcome[i];
  }
  return tick;
}

// Adds the tick to the last group, or to one of its own.
void AddTick(const UsedTick& tick, bool by_day, std::vector<MonitorUsage>* usage) {
  if (tick.completed == 0) return;
  std::optional<base::Timestamp> day;
  if (by_day) {
    day = std::chrono::floor<std::chrono::days>(
        base::Timestamp(std::chrono::microseconds(tick.tick_id)));
  }
  const bool goes_on =
      !usage->empty() && usage->back().monitor_id == tick.monitor_id && usage->back().day == day;
  if (!goes_on) usage->push_back({tick.monitor_id, tick.name, tick.tier, day, 0});
  usage->back().checks += tick.completed;
}

}  // namespace

UsageSums SumCharges(Session& session, const UsageRange& range, const UsageGroups& groups,
                     int limit) {
  return Read(session, [&](Transaction& tx) {
    UsageSums sums;
    for (const auto& row :
         tx.Exec<"usage_charges">("org_id"_a = range.org_id, "since"_a = range.since,
         "until"_a = range.until, "by_day"_a = groups.day, "by_kind"_a = groups.kind,
         "by_key"_a = groups.key, "jobs_only"_a = groups.jobs_only, "limit"_a = limit)) {
      UsageSum sum;
      bool is_total = false;
      Columns(row).Into("is_total"_a = &is_total, "day"_a = &sum.day,
                        "of_checks"_a = &sum.of_checks, "kind"_a = &sum.job,
                        "caller_kind"_a = &sum.caller_kind, "caller_id"_a = &sum.caller_id,
                        "caller_name"_a = &sum.caller_name, "charged_mc"_a = &sum.charged_mc,
                        "checks"_a = &sum.checks, "jobs"_a = &sum.jobs);
      if (is_total) {
        sums.total = std::move(sum);
      } else {
        sums.groups.push_back(std::move(sum));
      }
    }
    return sums;
  });
}

std::optional<std::vector<MonitorUsage>> CountChecks(Session& session, const UsageRange& range,
                                                     bool by_day, int ticks_max, int limit) {
  std::vector<MonitorUsage> usage;
  base::Uuid monitor_id{};
  std::int64_t tick_id = 0;
  for (int looked = 0; looked <= ticks_max; looked += kTicksPage) {
    const bool more = Read(session, [&](Transaction& tx) {
      const auto rows =
          tx.Exec<"usage_ticks">("org_id"_a = range.org_id, "since_id"_a = Micros(range.since),
                                 "until_id"_a = Micros(range.until), "monitor_id"_a = monitor_id,
                                 "tick_id"_a = tick_id, "limit"_a = kTicksPage);
      for (const auto& row : rows) {
        const UsedTick tick = ReadUsedTick(row);
        AddTick(tick, by_day, &usage);
        monitor_id = tick.monitor_id;
        tick_id = tick.tick_id;
      }
      return std::cmp_equal(rows.size(), kTicksPage);
    });
    if (std::cmp_greater(usage.size(), limit)) return std::nullopt;
    if (!more) return usage;
  }
  return std::nullopt;
}

}  // namespace vedette::store
