#include "worker/jobs/held_job_chunk.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace vedette::worker {

std::size_t BytesOf(const Cells& cells) {
  std::size_t bytes = 0;
  for (const std::string& cell : cells) bytes += cell.size() + 1;  // and what separates it
  return bytes;
}

std::chrono::nanoseconds EndsRowsBefore(const store::JobSpec& job) {
  const std::chrono::nanoseconds time = job.deadline_at - job.created_at;
  return std::min<std::chrono::nanoseconds>(kRowsEndBefore, time / 10);
}

JobChunkPtr MakeHeldJobChunk(store::ClaimedJobChunk claimed, BlockRunPtr run) {
  auto chunk = std::make_shared<HeldJobChunk>();
  chunk->claimed = std::move(claimed);
  chunk->lease = chunk->claimed.lease;
  chunk->org_id = chunk->claimed.org_id;
  chunk->run = std::move(run);
  // Chunks of one job share its params. They count with each, which is on the safe side.
  chunk->bytes = chunk->job().params_json.size();
  if (!chunk->run->runner && !chunk->run->work) chunk->fault.emplace().error = chunk->run->fault;
  return chunk;
}

void HeldJobChunk::SetRows(std::vector<JobRow> loaded) {
  base::Assert(rows.empty() && org == nullptr, "A job chunk has its rows before it is held.");
  rows = std::move(loaded);
  row_count = rows.size();
  for (const JobRow& row : rows) {
    bytes += BytesOf(row.cells) + row.memo.size();
    if (row.state == JobRow::State::kEnded) {
      output_bytes += BytesOf(*row.output);
    } else {
      ++rows_open;
    }
  }
  bytes += output_bytes;
}

void HeldJobChunk::SetWhole() {
  base::Assert(rows.empty() && org == nullptr, "A whole part is known before it is held.");
  row_count = 1;
  rows_open = 1;
  bytes += claimed.rows_json ? claimed.rows_json->size() : 0;
}

bool HeldJobChunk::Resting() const {
  return !Finished() && !IsWhole() && in_flight == 0 &&
         std::none_of(rows.begin(), rows.end(),
                      [](const JobRow& row) { return row.state == JobRow::State::kWaiting; });
}

base::Timestamp HeldJobChunk::RestsUntil() const {
  base::Timestamp until = base::Timestamp::max();
  for (const JobRow& row : rows) {
    if (row.state == JobRow::State::kLater) until = std::min(until, row.not_before);
  }
  return until;
}

domain::JobWait HeldJobChunk::RestsFor() const {
  const bool budget = std::any_of(rows.begin(), rows.end(), [](const JobRow& row) {
    return row.state == JobRow::State::kLater && row.why == domain::JobWait::kMailBudget;
  });
  return budget ? domain::JobWait::kMailBudget : domain::JobWait::kUntold;
}

}  // namespace vedette::worker
