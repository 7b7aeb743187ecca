#include "store/poison.h"

#include <utility>
#include <vector>

#include "domain/chunk_plan.h"
#include "store/sql.h"
#include "store/ticks_sql.h"

namespace vedette::store {
namespace {

domain::ChunkPlan ReadPlan(const pqxx::row& row) {
  domain::ChunkPlan plan;
  plan.org_id = ReadUuid(row[1]);
  plan.team_id = ReadUuidOrNull(row[2]);
  plan.tier = static_cast<domain::Tier>(row[3].as<int>());
  plan.due_at = ReadTime(row[6]);
  const auto monitor_ids = ReadUuidArray(row[10]);
  const auto tick_ids = ReadIntArray(row[11]);
  const auto firsts = ReadIntArray(row[12]);
  const auto ends = ReadIntArray(row[13]);
  for (std::size_t i = 0; i < monitor_ids.size(); ++i) {
    plan.parts.push_back(
        {monitor_ids[i], tick_ids[i], static_cast<int>(firsts[i]), static_cast<int>(ends[i])});
  }
  if (row[4].as<bool>()) plan.large_monitor_id = monitor_ids.front();
  return plan;
}

// The two halves: parts are kept whole where there are several.
std::pair<domain::ChunkPlan, domain::ChunkPlan> Halve(const domain::ChunkPlan& plan) {
  domain::ChunkPlan a = plan;
  domain::ChunkPlan b = plan;
  if (plan.parts.size() > 1) {
    const auto middle = plan.parts.begin() + static_cast<std::ptrdiff_t>(plan.parts.size() / 2);
    a.parts.assign(plan.parts.begin(), middle);
    b.parts.assign(middle, plan.parts.end());
  } else {
    const domain::ChunkPart& part = plan.parts.front();
    const int middle = part.first + (part.end - part.first) / 2;
    a.parts.front().end = middle;
    b.parts.front().first = middle;
    a.large_monitor_id = b.large_monitor_id = part.monitor_id;
  }
  for (domain::ChunkPlan* half : {&a, &b}) {
    half->row_count = 0;
    for (const auto& part : half->parts) half->row_count += part.end - part.first;
  }
  return {a, b};
}

}  // namespace

bool MarkLastTry(Session& session, const LeaseRef& lease) {
  return InTransaction(session, [&](Transaction& tx) {
    return !tx.Exec("chunk_last_try", lease.chunk_id, lease.lease_token, kLastTryClaims).empty();
  });
}

bool SplitChunk(Session& session, const base::Clock& clock, const LeaseRef& lease) {
  return InTransaction(session, [&](Transaction& tx) {
    const auto rows = tx.Exec("split_lock_chunk", lease.chunk_id, lease.lease_token);
    if (rows.empty()) return false;
    const domain::ChunkPlan plan = ReadPlan(rows[0]);
    if (plan.parts.size() == 1 && plan.parts[0].end - plan.parts[0].first < 2) return false;
    const auto [a, b] = Halve(plan);
    if (a.large_monitor_id && !plan.large_monitor_id) {
      tx.Exec("split_make_large", plan.parts[0].monitor_id, plan.parts[0].tick_id);
    }
    InsertChunks(tx, clock, {a, b});
    tx.Exec("record_delete_chunks", std::vector<base::Uuid>{lease.chunk_id});
    const auto reserved = rows[0][7].as<std::int64_t>();
    if (reserved == 0) return true;
    tx.Exec("accounts_return", std::vector<base::Uuid>{plan.org_id}, std::vector{reserved});
    if (plan.team_id) {
      tx.Exec("team_spend_return", std::vector<base::Uuid>{*plan.team_id},
              std::vector<std::string>{rows[0][9].c_str()}, std::vector{reserved});
    }
    return true;
  });
}

}  // namespace vedette::store
