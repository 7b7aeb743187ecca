#include "store/jobs/hold.h"

#include "store/sql.h"

namespace vedette::store {
std::vector<base::Uuid> RenewJobChunks(Session& session, const std::vector<Lease>& leases,
                                       std::chrono::milliseconds lease) {
  return InTransaction(
      session,
      [&](Transaction& tx) {
        return ReadEach<base::Uuid>(
            tx.Exec<"job_chunk_renew">(LeaseRows(leases), "lease_ms"_a = lease.count()));
      },
      Durability::kAsync);
}

void GiveBackJobChunks(Session& session, const std::vector<GiveBack>& chunks) {
  Rows<Column<"id", base::Uuid>, Column<"token", base::Uuid>, Column<"delay_ms", std::int64_t>,
       Column<"waits_for", domain::JobWait>>
      rows;
  for (const GiveBack& chunk : chunks) {
    rows.Add(chunk.lease.id, chunk.lease.token, chunk.delay.count(), chunk.waits_for);
  }
  InTransaction(session, [&](Transaction& tx) { tx.Exec<"job_chunk_put_back">(rows); });
}

std::vector<HeldJobChunk> ReadHeldJobChunks(Session& session, const std::vector<Lease>& leases) {
  return Read(session, [&](Transaction& tx) {
    std::vector<HeldJobChunk> held;
    for (const auto& row : tx.Exec<"job_chunk_held">(LeaseRows(leases))) {
      HeldJobChunk& chunk = held.emplace_back();
      Columns(row).Into("id"_a = &chunk.id, "may_run"_a = &chunk.may_run);
    }
    return held;
  });
}

bool MarkJobSuspect(Session& session, const Lease& lease, int row) {
  return InTransaction(session, [&](Transaction& tx) {
    return !tx.Exec<"job_chunk_suspect">("id"_a = lease.id, "token"_a = lease.token, "row"_a = row)
                .empty();
  });
}

}  // namespace vedette::store
