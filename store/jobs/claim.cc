#include "store/jobs/claim.h"

#include <set>
#include <utility>

#include "store/session_impl.h"
#include "store/sql.h"

namespace vedette::store {
namespace {

ClaimedJobChunk ReadChunk(const pqxx::row& row, const base::Uuid& token, base::Timestamp* now) {
  ClaimedJobChunk chunk;
  chunk.lease.token = token;
  Columns(row).Into("id"_a = &chunk.lease.id, "job_id"_a = &chunk.job_id,
                    "org_id"_a = &chunk.org_id, "lane"_a = &chunk.lane, "rank"_a = &chunk.rank,
                    "block"_a = &chunk.block, "part"_a = &chunk.part, "claims"_a = &chunk.claims,
                    "progress"_a = &chunk.progress, "due_at"_a = &chunk.due_at,
                    "done"_a = &chunk.done_json, "suspect"_a = &chunk.suspect, "now"_a = now);
  return chunk;
}

void LoadSpecs(Transaction& tx, const std::function<bool(const base::Uuid&)>& known,
               JobClaim* claim) {
  std::set<base::Uuid> wanted;
  for (const ClaimedJobChunk& chunk : claim->chunks) {
    if (!known || !known(chunk.job_id)) wanted.insert(chunk.job_id);
  }
  if (wanted.empty()) return;
  const std::vector<base::Uuid> ids(wanted.begin(), wanted.end());
  std::map<base::Uuid, std::shared_ptr<JobSpec>> specs;
  for (const auto& row : tx.Exec<"job_specs">("ids"_a = ids)) {
    JobSpec job;
    std::optional<std::string> params_json;
    JobBlockSpec block;
    Columns(row).Into(
        "id"_a = &job.job_id, "org_id"_a = &job.org_id, "team_id"_a = &job.team_id,
        "kind"_a = &job.kind, "part_rows"_a = &job.part_rows, "waited"_a = &job.waited,
        "params"_a = &params_json, "upload_id"_a = &job.upload_id, "created_at"_a = &job.created_at,
        "deadline_at"_a = &job.deadline_at, "block"_a = &block.block, "type"_a = &block.type,
        "specs"_a = &block.specs_json, "input"_a = &block.input, "lane"_a = &block.lane,
        "price_mc"_a = &block.price_mc, "parts_total"_a = &block.parts_total,
        "after_drop"_a = &block.after_drop, "columns"_a = &block.columns);
    auto& spec = specs[job.job_id];
    if (!spec) spec = std::make_shared<JobSpec>(std::move(job));
    if (params_json) spec->params_json = std::move(*params_json);
    spec->blocks.push_back(std::move(block));
  }
  claim->specs.insert(specs.begin(), specs.end());
}

void LoadRows(Transaction& tx, JobClaim* claim) {
  Rows<Column<"job_id", base::Uuid>, Column<"block", int>, Column<"part", int>> parts;
  std::vector<std::size_t> chunks;  // by their numbers in `parts`
  for (std::size_t i = 0; i < claim->chunks.size(); ++i) {
    const ClaimedJobChunk& chunk = claim->chunks[i];
    if (chunk.block == 0) continue;  // the first block has no input
    parts.Add(chunk.job_id, chunk.block, chunk.part);
    chunks.push_back(i);
  }
  if (parts.empty()) return;
  for (const auto& row : tx.Exec<"job_parts_of">(parts)) {
    std::size_t n = 0;
    std::string rows_json;
    int row_count = 0;
    Columns(row).Into("n"_a = &n, "rows"_a = &rows_json, "row_count"_a = &row_count);
    ClaimedJobChunk& chunk = claim->chunks.at(chunks.at(n - 1));
    chunk.rows_json = std::move(rows_json);
    chunk.row_count = row_count;
  }
}

// The scan from where the bounds say.
pqxx::result ScanJobs(Transaction& tx, const LaneCursors& cursors, int orgs_max,
                      JobScanBounds::From from, const JobScanBounds* bounds,
                      std::chrono::nanoseconds began) {
  constexpr int kRanks = 2;
  Rows<Column<"lane", domain::Lane>, Column<"behind", base::Uuid>> lanes;
  Rows<Column<"of_lane", domain::Lane>, Column<"org_id", base::Uuid>, Column<"rank", int>,
       Column<"from_at", base::Timestamp>>
      known;
  for (const auto& [lane, behind] : cursors) {
    lanes.Add(lane, behind);
    if (from == JobScanBounds::From::kBeginning) continue;
    for (const auto& [key, at] : bounds->Behind({lane, behind, kRanks}, kRanks * orgs_max, began)) {
      if (key.lane == lane) known.Add(key.lane, key.org_id, key.rank, at);
    }
  }
  if (from == JobScanBounds::From::kBeginning) {
    return tx.Exec<"job_scan">(lanes, "orgs_max"_a = orgs_max);
  }
  return tx.Exec<"job_scan_bounds">(lanes, "orgs_max"_a = orgs_max, known);
}

}  // namespace

JobScan ScanDueJobs(Session& session, const LaneCursors& cursors, int orgs_max,
                    JobScanBounds* bounds) {
  return Read(session, [&](Transaction& tx) {
    JobScan scan;
    for (const auto& [lane, behind] : cursors) {
      scan.next[lane] = {};  // from the start, unless the scan was cut short
    }
    const base::Clock& clock = session.impl().clock;
    const auto began = clock.SinceBoot();
    const auto from = bounds ? bounds->Next(began) : JobScanBounds::From::kBeginning;
    const pqxx::result rows_found = ScanJobs(tx, cursors, orgs_max, from, bounds, began);
    const auto ended = clock.SinceBoot();
    std::vector<JobScanBounds::Seen> seen;
    for (const auto& row : rows_found) {
      DueJobs due;
      std::optional<int> rows;
      int n = 0;
      JobScanBounds::First first;
      base::Timestamp now{};
      Columns(row).Into("lane"_a = &due.lane, "org_id"_a = &due.org_id, "rank"_a = &due.rank,
                        "part_rows"_a = &rows, "n"_a = &n, "first_at"_a = &first, "now"_a = &now);
      seen.push_back(
          {{due.lane, due.org_id, due.rank}, first, now - kScanMargin, now - kScanMarginShort});
      if (n == orgs_max) scan.next[due.lane] = due.org_id;
      if (!rows) continue;
      due.rows = *rows;
      scan.due.push_back(due);
    }
    if (bounds) bounds->Scanned(from, began, ended, seen);
    return scan;
  });
}

namespace {

using ShareRows = Rows<Column<"lane", domain::Lane>, Column<"org_id", base::Uuid>,
                       Column<"rank_min", int>, Column<"rank_max", int>, Column<"chunks_max", int>,
                       Column<"from_at", JobScanBounds::First>>;

// The share, from the first of what the scan found of its lowest rank, and of that alone: where the
// next rank begins the claim would visit what is done. The scan that follows finds that one.
void AddShare(const JobShare& share, const JobScanBounds* bounds, ShareRows* rows) {
  for (int rank = 0; bounds && rank <= share.rank_max; ++rank) {
    const auto found = bounds->Found({share.lane, share.org_id, rank});
    if (!found) continue;
    rows->Add(share.lane, share.org_id, rank, rank, share.chunks_max, found);
    return;
  }
  rows->Add(share.lane, share.org_id, 0, share.rank_max, share.chunks_max, std::nullopt);
}

}  // namespace

JobClaim ClaimJobChunks(Session& session, const std::vector<JobShare>& shares,
                        const base::Uuid& token, std::chrono::milliseconds lease,
                        const std::function<bool(const base::Uuid&)>& known,
                        const JobScanBounds* bounds) {
  ShareRows asked;
  for (const JobShare& share : shares) AddShare(share, bounds, &asked);
  return InTransaction(
      session,
      [&](Transaction& tx) {
        JobClaim claim;
        // There is a connection by now, for which the work before may have waited long.
        claim.read_at = session.impl().clock.SinceBoot();
        for (const auto& row :
             tx.Exec<"job_claim">(asked, "token"_a = token, "lease_ms"_a = lease.count())) {
          claim.chunks.push_back(ReadChunk(row, token, &claim.now));
        }
        if (claim.chunks.empty()) return claim;
        LoadSpecs(tx, known, &claim);
        LoadRows(tx, &claim);
        return claim;
      },
      Durability::kAsync);
}

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

std::vector<JobLeaseState> ReadHeldJobChunks(Session& session, const std::vector<Lease>& leases) {
  return Read(session, [&](Transaction& tx) {
    std::vector<JobLeaseState> held;
    for (const auto& row : tx.Exec<"job_chunk_held">(LeaseRows(leases))) {
      JobLeaseState& chunk = held.emplace_back();
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
