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
  Columns(row).Into(&tick.tick_id, &tick.trigger, &tick.due_at, &tick.started_at, &tick.finished_at,
                    &tick.slots, &tick.rows, OptionalBytesInto{&outcomes}, &counts);
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
    for (const auto& r : tx.Exec("tick_list", monitor_id, before, limit)) {
      ticks.push_back(ReadTick(r));
    }
    return ticks;
  });
}

}  // namespace vedette::store
