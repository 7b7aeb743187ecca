#include "store/jobs/claim.h"

#include <set>
#include <utility>

#include "store/sql.h"

namespace vedette::store {
namespace {

ClaimedJobChunk ReadChunk(const pqxx::row& row, const base::Uuid& token, base::Timestamp* now) {
  ClaimedJobChunk chunk;
  chunk.lease.token = token;
  Columns(row).Into(&chunk.lease.id, &chunk.job_id, &chunk.org_id, &chunk.lane, &chunk.rank,
                    &chunk.block, &chunk.part, &chunk.claims, &chunk.progress, &chunk.due_at,
                    &chunk.done_json, &chunk.suspect, now);
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
  for (const auto& row : tx.Exec("job_specs", ids)) {
    JobSpec job;
    std::optional<std::string> params_json;
    JobBlockSpec block;
    Columns(row).Into(&job.job_id, &job.org_id, &job.team_id, &job.kind, &job.part_rows,
                      &job.waited, &params_json, &job.upload_id, &job.created_at, &job.deadline_at,
                      &block.block, &block.type, &block.specs_json, &block.input, &block.lane,
                      &block.price_mc, &block.parts_total, &block.after_drop, &block.columns);
    auto& spec = specs[job.job_id];
    if (!spec) spec = std::make_shared<JobSpec>(std::move(job));
    if (params_json) spec->params_json = std::move(*params_json);
    spec->blocks.push_back(std::move(block));
  }
  claim->specs.insert(specs.begin(), specs.end());
}

void LoadRows(Transaction& tx, JobClaim* claim) {
  Rows<base::Uuid, int, int> parts;
  std::vector<std::size_t> chunks;  // by their numbers in `parts`
  for (std::size_t i = 0; i < claim->chunks.size(); ++i) {
    const ClaimedJobChunk& chunk = claim->chunks[i];
    if (chunk.block == 0) continue;  // the first block has no input
    parts.Add(chunk.job_id, chunk.block, chunk.part);
    chunks.push_back(i);
  }
  if (parts.empty()) return;
  for (const auto& row : tx.Exec("job_parts_of", parts)) {
    std::size_t n = 0;
    std::string rows_json;
    int row_count = 0;
    Columns(row).Into(&n, &rows_json, &row_count);
    ClaimedJobChunk& chunk = claim->chunks.at(chunks.at(n - 1));
    chunk.rows_json = std::move(rows_json);
    chunk.row_count = row_count;
  }
}

}  // namespace

JobWalk WalkDueJobs(Session& session, const LaneCursors& cursors, int orgs_max) {
  return Read(session, [&](Transaction& tx) {
    JobWalk walk;
    Rows<domain::Lane, base::Uuid> lanes;
    for (const auto& [lane, behind] : cursors) {
      lanes.Add(lane, behind);
      walk.next[lane] = {};  // from the start, unless the walk was cut short
    }
    for (const auto& row : tx.Exec("job_walk", lanes, orgs_max)) {
      DueJobs due;
      std::optional<int> rows;
      int n = 0;
      Columns(row).Into(&due.lane, &due.org_id, &due.rank, &rows, &n);
      if (n == orgs_max) walk.next[due.lane] = due.org_id;
      if (!rows) continue;
      due.rows = *rows;
      walk.due.push_back(due);
    }
    return walk;
  });
}

JobClaim ClaimJobChunks(Session& session, const std::vector<JobShare>& shares,
                        const base::Uuid& token, std::chrono::milliseconds lease,
                        const std::function<bool(const base::Uuid&)>& known) {
  Rows<domain::Lane, base::Uuid, int, int> asked;
  for (const JobShare& share : shares) {
    asked.Add(share.lane, share.org_id, share.rank_max, share.chunks_max);
  }
  return InTransaction(
      session,
      [&](Transaction& tx) {
        JobClaim claim;
        for (const auto& row : tx.Exec("job_claim", asked, token, lease.count())) {
          claim.chunks.push_back(ReadChunk(row, token, &claim.now));
        }
        if (claim.chunks.empty()) return claim;
        LoadSpecs(tx, known, &claim);
        LoadRows(tx, &claim);
        return claim;
      },
      Durability::kAsync);
}

}  // namespace vedette::store
