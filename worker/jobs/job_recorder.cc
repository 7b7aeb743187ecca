#include "worker/jobs/job_recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/assert.h"
#include "base/text.h"
#include "config/database_config.h"
#include "config/jobs_config.h"
#include "config/parts.h"
#include "domain/email/found.h"

namespace vedette::worker {
namespace {

using std::chrono::milliseconds;

// The characters of what the operator is told of a row that failed.
constexpr std::size_t kLastErrorCharsMax = 300;

// Whose row's failure fails the job: those that ask for one row.
bool IsSingle(domain::JobKind kind) {
  return kind == domain::JobKind::kFindEmail || kind == domain::JobKind::kReverseEmail ||
         kind == domain::JobKind::kVerifyAge;
}

// What a chunk weighs of the kJobRecordChunksMax that a record has: [jobs] record_chunks_max of one
// job fill it. Those of jobs that share records weigh what they have rows, so that many lookups fit
// into one, and no more large parts than of one job.
std::size_t WeightOfChunk(const config::JobsConfig& config, const HeldJobChunk& chunk) {
  const auto chunks_max = static_cast<std::size_t>(config.record_chunks_max);
  const std::size_t whole = (store::kJobRecordChunksMax + chunks_max - 1) / chunks_max;
  if (!chunk.run->shares_records) return whole;
  const auto rows = std::max(chunk.rows.size(), static_cast<std::size_t>(chunk.claimed.row_count));
  return std::clamp<std::size_t>(rows, 1, whole);
}

lease::BatcherOptions Options(const config::Config& config) {
  lease::BatcherOptions options;
  options.delayed = "parts of jobs could not be recorded yet";
  options.refused = "recording a part of a job failed";
  options.delay = config.jobs.record_delay_ms;
  options.weight_max = store::kJobRecordChunksMax;
  // Further ones would wait for a connection.
  options.batches_max = static_cast<std::size_t>(config.database.jobs_connections);
  options.backoff = lease::kRecordRetry;
  return options;
}

}  // namespace

JobRecorder::JobRecorder(base::EventLoop& loop, store::Pool& pool, store::Signals& signals,
                         const base::Clock& clock, metrics::Metrics& metrics,
                         const config::Config& config, base::Logger log, JobHoldings& holdings,
                         Hooks hooks)
    : lease::Recorder<JobKind>(loop, pool, clock, log, Options(config),
                               config.jobs.record_partial_delay_ms, std::move(hooks)),
      signals_(signals),
      metrics_(metrics),
      config_(config),
      holdings_(holdings) {}

JobRecorder::Job JobRecorder::Write(const std::vector<Item>& batch) {
  std::vector<Draft> drafts;
  drafts.reserve(batch.size());
  for (const Item& item : batch) drafts.push_back(MakeDraft(item));
  return [drafts = std::move(drafts), clock = &clock_](store::Session& session) {
    std::vector<store::JobChunkRecord> records;
    records.reserve(drafts.size());
    for (const Draft& draft : drafts) records.push_back(Complete(draft));
    return store::RecordJobChunks(session, *clock, records);
  };
}

JobRecorder::Draft JobRecorder::MakeDraft(const Item& item) {
  const HeldJobChunk& chunk = *item.work;
  const TakenRows& taken = item.taken;
  Draft draft;
  draft.rows = taken.rows;
  draft.made = chunk.made;
  store::JobChunkRecord& record = draft.record;
  record.job_id = chunk.claimed.job_id;
  record.lease = chunk.lease;
  record.block = chunk.claimed.block;
  record.part = chunk.claimed.part;
  record.progress = taken.progress;
  record.rows_done = taken.counts.done;
  record.row_errors = taken.counts.errors;
  record.rows_charged = taken.counts.charged;
  record.charge_mc = taken.counts.charge_mc;
  record.rows_timed = taken.counts.timed;
  record.rows_took = taken.counts.took;
  if (taken.counts.errors > 0 && chunk.error) {
    record.last_error = base::CutCharacters(
        fmt::format("{}: {}", chunk.error->code, chunk.error->message), kLastErrorCharsMax);
  }
  if (taken.what == TakenRows::What::kFault) {
    record.what = *chunk.fault;
  } else if (taken.what == TakenRows::What::kProgress) {
    record.what = store::JobPartProgress{{}, chunk.mode == HeldJobChunk::Mode::kSerial};
  } else {
    store::JobPartEnd end;
    end.row_count = static_cast<int>(taken.rows->size());
    if (chunk.error && chunk.rows.size() == 1 && IsSingle(chunk.job().kind)) {
      end.error_code = chunk.error->code;
      end.error = chunk.error->message;
    } else if (chunk.late) {
      // The runner that ended the row saw the job's deadline before the keeper did.
      end.error_code = domain::kErrorTimedOut;
      end.error = "The job did not end before its deadline.";
    }
    record.what = std::move(end);
  }
  return draft;
}

store::JobChunkRecord JobRecorder::Complete(const Draft& draft) {
  store::JobChunkRecord record = draft.record;
  if (auto* progress = std::get_if<store::JobPartProgress>(&record.what)) {
    progress->done_json = WriteDone(*draft.rows);
  } else if (auto* end = std::get_if<store::JobPartEnd>(&record.what)) {
    if (draft.made) {
      end->made = draft.made->parts;
      end->keys = draft.made->keys;
      end->monitor = draft.made->monitor;
      end->passed = draft.made->passed;
    } else {
      end->rows_json = WriteOutput(*draft.rows);
    }
  }
  return record;
}

void JobRecorder::AddEnd(const JobChunkPtr& chunk, std::size_t row, RowDone done) {
  JobRow& ended = chunk->rows[row];
  base::Assert(ended.state == JobRow::State::kWaiting, "A row ends once.");
  ended.state = JobRow::State::kEnded;
  chunk->output_bytes += BytesOf(done.cells);
  ended.output = std::make_shared<const Cells>(std::move(done.cells));
  ended.cells = {};
  ended.memo = {};
  holdings_.CloseRow(*chunk);
  NoteUnrecorded(*chunk);
  RowCounts& counts = chunk->unrecorded;
  ++counts.done;
  if (done.error) ++counts.errors;
  if (done.charge_mc) {
    ++counts.charged;
    counts.charge_mc += *done.charge_mc;
  }
  if (done.error) chunk->error = std::move(done.error);
  if (done.recorded) chunk->to_be_told.push_back(std::move(done.recorded));
  Add(chunk);
}

void JobRecorder::AddMade(const JobChunkPtr& chunk, PartOutput made) {
  base::Assert(chunk->IsWhole() && !chunk->made, "A whole part is made once.");
  NoteUnrecorded(*chunk);
  chunk->unrecorded.done = made.rows_done;
  chunk->unrecorded.errors = made.row_errors;
  chunk->made = std::make_shared<const PartOutput>(std::move(made));
  holdings_.CloseRow(*chunk);
  Add(chunk);
}

void JobRecorder::AddLater(const JobChunkPtr& chunk, std::size_t row, RowLater later) {
  JobRow& waiting = chunk->rows[row];
  base::Assert(waiting.state == JobRow::State::kWaiting, "A row that has ended is not tried.");
  waiting.state = JobRow::State::kLater;
  waiting.memo = std::move(later.memo);
  waiting.not_before = clock_.Now() + later.wait;
  waiting.why = later.why;
  NoteUnrecorded(*chunk);
  ++chunk->unrecorded.later;
  Add(chunk);
}

void JobRecorder::AddFault(const JobChunkPtr& chunk, store::JobFault fault) {
  chunk->fault = std::move(fault);
  Add(chunk);
}

std::optional<milliseconds> JobRecorder::WaitOf(const HeldJobChunk& chunk) const {
  if (chunk.CanEnd()) {
    if (!chunk.run->shares_records) return std::nullopt;
    return milliseconds(0);  // its job has no other that it could wait for
  }
  const bool urgent = chunk.Leaving() || chunk.mode == HeldJobChunk::Mode::kSerial;
  if (urgent) return milliseconds(0);
  // The end of the job takes what is recorded, and drops the rest.
  const auto left = std::chrono::floor<milliseconds>(chunk.deadline - clock_.SinceBoot());
  return std::min(PartialWait(chunk), left);
}

std::size_t JobRecorder::WeightOf(const Item& item) const {
  return WeightOfChunk(config_.jobs, *item.work);
}

base::Uuid JobRecorder::GroupOf(const HeldJobChunk& chunk) const {
  return chunk.run->shares_records ? base::Uuid{} : chunk.claimed.job_id;
}

// The chunk's rows go into the batch as they are now.
void JobRecorder::Take(Item* item) {
  using What = TakenRows::What;
  HeldJobChunk& chunk = *item->work;
  TakenRows& taken = item->taken;
  taken.what = chunk.fault ? What::kFault : chunk.Finished() ? What::kEnd : What::kProgress;
  taken.progress = chunk.claimed.progress;
  // What a part that fails its job has done is not recorded any more.
  taken.counts = taken.what == What::kFault ? RowCounts{} : chunk.unrecorded;
  chunk.unrecorded = {};
  auto to_be_told = std::exchange(chunk.to_be_told, {});
  if (taken.what != What::kFault) taken.to_be_told = std::move(to_be_told);
  auto rows = std::make_shared<std::vector<RowRecord>>();
  rows->reserve(chunk.rows.size());
  for (const JobRow& row : chunk.rows) {
    rows->push_back({row.output, row.memo, row.not_before, row.why});
  }
  taken.rows = std::move(rows);
  item->ends = taken.what != What::kProgress;
}

void JobRecorder::OnBatch(const std::vector<Item>& batch, const store::JobRecordResult& result,
                          bool /*again*/) {
  base::Assert(result.chunks.size() == batch.size(), "Each chunk of a record has its outcome.");
  for (const store::Signal signal : result.raise) signals_.Raise(signal);
  auto ended = result.ended;
  for (const Item& item : batch) {
    const store::JobSpec& job = item.work->job();
    if (const auto end = ended.extract(job.job_id)) {
      metrics_.AddJobEnded(job.kind, end.mapped(), result.recorded_at - job.created_at);
    }
  }
}

bool JobRecorder::IsDropped(const store::JobRecordResult& result, const Item& /*item*/,
                            std::size_t n) const {
  return result.chunks[n] == store::JobRecorded::kDropped;
}

void JobRecorder::OnItem(const Item& item, const store::JobRecordResult& /*result*/) {
  const JobChunkPtr& chunk = item.work;
  const TakenRows& taken = item.taken;
  const domain::JobKind kind = chunk->job().kind;
  const int rows_ok = taken.counts.done - taken.counts.errors;
  for (const auto& tell : taken.to_be_told) tell();
  metrics_.AddJobRows(kind, rows_ok, taken.counts.errors);
  if (kind == domain::JobKind::kWorkflow) {
    metrics_.AddRunRecord(chunk->run->block->type, taken.what == TakenRows::What::kEnd ? 1 : 0,
                          rows_ok, taken.counts.errors);
    if (chunk->made) ShowPassed(*chunk);
  }
  if (taken.counts.charge_mc > 0) metrics_.AddJobCreditsCharged(kind, taken.counts.charge_mc);
  if (item.ends) return;
  chunk->claimed.progress = taken.progress + 1;
  chunk->claimed.suspect.reset();
}

// What the blocks behind the chunk's did, which had no chunks of their own.
void JobRecorder::ShowPassed(const HeldJobChunk& chunk) {
  const BlockRun* run = chunk.run.get();
  for (const store::JobPassedPart& passed : chunk.made->passed) {
    run = run->next.get();
    const int rows_ok = passed.rows_done - passed.row_errors;
    metrics_.AddJobRows(chunk.job().kind, rows_ok, passed.row_errors);
    metrics_.AddRunRecord(run->block->type, 1, rows_ok, passed.row_errors);
  }
}

bool JobRecorder::OnRefused(Item& item) {
  if (item.taken.what == TakenRows::What::kFault) return false;
  AddFault(item.work, {.error = "the rows of a part could not be stored"});
  return true;
}

}  // namespace vedette::worker
