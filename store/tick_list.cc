#include "store/tick_list.h"

#include <algorithm>
#include <limits>

#include "store/sql.h"

namespace vedette::store {
namespace {

domain::Tick ReadTick(const pqxx::row& r) {
  domain::Tick tick;
  tick.tick_id = r["tick_id"].as<std::int64_t>();
  tick.trigger = static_cast<domain::TickTrigger>(r["trigger"].as<int>());
  tick.due_at = ReadTime(r["due_at"]);
  tick.started_at = ReadTime(r["started_at"]);
  tick.finished_at = ReadTimeOrNull(r["finished_at"]);
  tick.slots = r["slots"].as<std::int64_t>();
  tick.rows = r["row_count"].as<std::int64_t>();
  if (!r["outcomes"].is_null()) {
    domain::CountOutcomes(ReadBytea(r["outcomes"]), &tick.outcomes);
  } else if (!r["counts"].is_null()) {
    const auto counts = ReadIntArray(r["counts"]);
    std::copy_n(counts.begin(), std::min(counts.size(), tick.outcomes.size()),
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
