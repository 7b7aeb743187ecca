#include "store/checks/poison.h"

#include <utility>
#include <vector>

#include "domain/chunk_plan.h"
#include "store/checks/chunks_sql.h"
#include "store/checks/ticks_sql.h"
#include "store/sql.h"

namespace vedette::store {
namespace {

domain::ChunkPlan PlanOf(const ChunkRow& chunk) {
  domain::ChunkPlan plan;
  plan.org_id = chunk.org_id;
  plan.team_id = chunk.team_id;
  plan.tier = chunk.tier;
  plan.due_at = chunk.due_at;
  plan.parts = chunk.parts;
  if (chunk.large) plan.large_monitor_id = chunk.parts.front().monitor_id;
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

bool CountTry(Session& session, const Lease& lease, CarefulTry careful) {
  return InTransaction(session, [&](Transaction& tx) {
    const int uncounted = careful.counted ? 0 : 1;
    const int floor = careful.last_try ? kLastTryClaims : 0;
    return !tx.Exec<"chunk_count">("id"_a = lease.id, "token"_a = lease.token,
                                   "uncounted"_a = uncounted, "floor"_a = floor)
                .empty();
  });
}

bool SplitChunk(Session& session, const base::Clock& clock, const Lease& lease) {
  return InTransaction(session, [&](Transaction& tx) {
    const auto rows = tx.Exec<"split_lock_chunk">("id"_a = lease.id, "token"_a = lease.token);
    if (rows.empty()) return false;
    Columns in(rows.front());
    const ChunkRow chunk = ReadChunk(in);
    const domain::ChunkPlan plan = PlanOf(chunk);
    if (plan.parts.size() == 1 && plan.parts[0].end - plan.parts[0].first < 2) return false;
    const auto [a, b] = Halve(plan);
    if (a.large_monitor_id && !plan.large_monitor_id) {
      tx.Exec<"split_make_large">("monitor_id"_a = plan.parts[0].monitor_id,
                                  "tick_id"_a = plan.parts[0].tick_id);
    }
    InsertChunks(tx, clock, {a, b});
    tx.Exec<"record_delete_chunks">("ids"_a = std::vector<base::Uuid>{lease.id});
    if (chunk.reserved_mc == 0) return true;
    Purses purses;
    purses.Want(chunk.payer());
    purses.Lock(tx);
    purses.Return(chunk.payer(), chunk.reserved_mc);
    purses.Write(tx);
    return true;
  });
}

}  // namespace vedette::store
