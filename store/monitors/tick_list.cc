#include "store/monitors/tick_list.h"

#include <algorithm>
#include <limits>

#include "store/sql.h"

namespace vedette::store {
namespace {

// From :tick_columns.
domain::Tick ReadTick(const pqxx::row& row) {
  domain::Tick tick;
  std::optional<std::string> outcomes;              // of a small tick
  std::optional<std::vector<std::int64_t>> counts;  // of a large one that has ended
  Columns(row).Into("tick_id"_a = &tick.tick_id, "trigger"_a = &tick.trigger,
                    "due_at"_a = &tick.due_at, "started_at"_a = &tick.started_at,
                    "finished_at"_a = &tick.finished_at, "slots"_a = &tick.slots,
                    "row_count"_a = &tick.rows, "outcomes"_a = OptionalBytesInto{&outcomes},
                    "counts"_a = &counts);
  if (outcomes) {
    domain::CountOutcomes(*outcomes, &tick.outcomes);
  } else if (counts) {
    std::copy_n(counts->begin(), std::min(counts->size(), tick.outcomes.size()),
                tick.outcomes.begin());
  }
  return tick;
}

}  // namespace

std::vector<domain::Tick> ListTicks(Session& session, const base::Uuid& monitor_id,
                                    const std::optional<std::int64_t>& before_tick_id, int limit) {
  const std::int64_t before = before_tick_id.value_or(std::numeric_limits<std::int64_t>::max());
  return Read(session, [&](Transaction& tx) {
    std::vector<domain::Tick> ticks;
    for (const auto& r : tx.Exec<"tick_list">("monitor_id"_a = monitor_id, "before"_a = before,
                         "limit"_a = limit)) {
      ticks.push_back(ReadTick(r));
    }
    return ticks;
  });
}

}  // namespace vedette::store
