#include "worker/jobs/job_recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/assert.h"
#include "base/text.h"
#include "config/config.h"
#include "domain/email/found.h"

namespace vedette::worker {
namespace {

using std::chrono::milliseconds;

// Of what the operator is told of a row that failed.
constexpr std::size_t kLastErrorCharsMax = 300;

constexpr base::Backoff kRetry{milliseconds(100), milliseconds(5000)};

// Whose row's failure fails the job: those that ask for one row.
bool IsSingle(domain::JobKind kind) {
  return kind == domain::JobKind::kFindEmail || kind == domain::JobKind::kReverseEmail ||
         kind == domain::JobKind::kVerifyAge;
}

// What a chunk weighs of the kJobRecordChunksMax that a record has: [jobs] record_chunks_max of one
// job fill it. Those of jobs that share records weigh what they have rows, so that many lookups fit
// into one, and no more large parts than of one job.
std::size_t WeightOf(const config::JobsConfig& config, const HeldJobChunk& chunk) {
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
  options.backoff = kRetry;
  return options;
}

}  // namespace

JobRecorder::JobRecorder(base::EventLoop& loop, store::Pool& pool, store::Signals& signals,
                         const base::Clock& clock, metrics::Metrics& metrics,
                         const config::Config& config, base::Logger log, JobHoldings& holdings,
                         Hooks hooks)
    : signals_(signals),
      clock_(clock),
      metrics_(metrics),
      config_(config),
      holdings_(holdings),
      hooks_(std::move(hooks)),
      batcher_(loop, pool, clock, log, Options(config), BatcherHooks()) {}

JobRecorder::Batcher::Hooks JobRecorder::BatcherHooks() {
  Batcher::Hooks hooks;
  hooks.begin = [this](const std::vector<Item>& batch, bool /*again*/) -> Batcher::Job {
    std::vector<Draft> drafts;
    drafts.reserve(batch.size());
    for (const Item& item : batch) drafts.push_back(MakeDraft(item));
    return [drafts = std::move(drafts), clock = &clock_](store::Session& session) {
      std::vector<store::JobChunkRecord> records;
      records.reserve(drafts.size());
      for (const Draft& draft : drafts) records.push_back(Complete(draft));
      return store::RecordJobChunks(session, *clock, records);
    };
  };
  hooks.written = [this](const std::vector<Item>& batch, const store::JobRecordResult& result,
                         bool /*again*/) { OnWritten(batch, result); };
  hooks.lost = [this](const Item& item, const lease::Loss& loss) { OnLost(item, loss); };
  hooks.weight = [this](const Item& item) { return WeightOf(config_.jobs, *item.chunk); };
  hooks.group = [](const Item& item) {
    return item.chunk->run->shares_records ? base::Uuid{} : item.chunk->claimed.job_id;
  };
  hooks.take = Take;
  return hooks;
}

JobRecorder::Draft JobRecorder::MakeDraft(const Item& item) {
  const HeldJobChunk& chunk = *item.chunk;
  Draft draft;
  draft.rows = item.rows;
  draft.made = chunk.made;
  store::JobChunkRecord& record = draft.record;
  record.job_id = chunk.claimed.job_id;
  record.lease = chunk.lease();
  record.block = chunk.claimed.block;
  record.part = chunk.claimed.part;
  record.progress = item.progress;
  record.rows_done = item.counts.done;
  record.row_errors = item.counts.errors;
  record.rows_charged = item.counts.charged;
  record.charge_mc = item.counts.charge_mc;
  record.rows_timed = item.counts.timed;
  record.rows_took = item.counts.took;
  if (item.counts.errors > 0 && chunk.error) {
    record.last_error = base::CutCharacters(
        fmt::format("{}: {}", chunk.error->code, chunk.error->message), kLastErrorCharsMax);
  }
  if (item.what == What::kFault) {
    record.what = *chunk.fault;
  } else if (item.what == What::kProgress) {
    record.what = store::JobPartProgress{{}, chunk.mode == HeldJobChunk::Mode::kSerial};
  } else {
    store::JobPartEnd end;
    end.row_count = static_cast<int>(item.rows->size());
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

void JobRecorder::NoteUnrecorded(HeldJobChunk& chunk) {
  if (!chunk.unrecorded.any()) chunk.unrecorded_since = clock_.SinceBoot();
}

void JobRecorder::Add(const JobChunkPtr& chunk) {
  if (chunk->Lost() || chunk->BeingRecorded()) return;  // OnItemWritten adds what came meanwhile
  if (chunk->CanEnd() && chunk->run->shares_records) {
    batcher_.AddLater({chunk}, milliseconds(0));  // its job has no other that it could wait for
  } else if (chunk->CanEnd()) {
    batcher_.Add({chunk});
  } else if (chunk->unrecorded.any()) {
    const bool urgent = chunk->Leaving() || chunk->mode == HeldJobChunk::Mode::kSerial;
    const auto waited = clock_.SinceBoot() - chunk->unrecorded_since;
    const auto wait =
        std::chrono::ceil<milliseconds>(config_.jobs.record_partial_delay_ms - waited);
    batcher_.AddLater({chunk}, urgent ? milliseconds(0) : std::max(wait, milliseconds(0)));
  }
}

// The chunk's rows go into the batch as they are now, and from here on it is being recorded.
bool JobRecorder::Take(Item* item) {
  HeldJobChunk& chunk = *item->chunk;
  if (chunk.Lost() || chunk.BeingRecorded()) return false;
  if (!chunk.CanEnd() && !chunk.unrecorded.any()) return false;
  item->what = chunk.fault ? What::kFault : chunk.Finished() ? What::kEnd : What::kProgress;
  item->progress = chunk.claimed.progress;
  // What a part that fails its job has done is not recorded any more.
  item->counts = item->what == What::kFault ? RowCounts{} : chunk.unrecorded;
  chunk.unrecorded = {};
  auto to_be_told = std::exchange(chunk.to_be_told, {});
  if (item->what != What::kFault) item->to_be_told = std::move(to_be_told);
  auto rows = std::make_shared<std::vector<RowRecord>>();
  rows->reserve(chunk.rows.size());
  for (const JobRow& row : chunk.rows) {
    rows->push_back({row.output, row.memo, row.not_before, row.why});
  }
  item->rows = std::move(rows);
  chunk.Enter(HeldJobChunk::Recording::kUnderWay);
  return true;
}

void JobRecorder::OnWritten(const std::vector<Item>& items, const store::JobRecordResult& result) {
  base::Assert(result.chunks.size() == items.size(), "Each chunk of a record has its outcome.");
  for (const store::Signal signal : result.raise) signals_.Raise(signal);
  auto ended = result.ended;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Item& item = items[i];
    const store::JobSpec& job = item.chunk->job();
    if (const auto end = ended.extract(job.job_id)) {
      metrics_.AddJobEnded(job.kind, end.mapped(), result.recorded_at - job.created_at);
    }
    item.chunk->Enter(HeldJobChunk::Recording::kNone);
    if (result.chunks[i] != store::JobRecorded::kDropped) {
      OnItemWritten(item);
      continue;
    }
    // Its job has ended, or its lease was lost; or, after a COMMIT that was not answered, the
    // record of its end did happen.
    hooks_.ended(item.chunk);
  }
}

void JobRecorder::OnItemWritten(const Item& item) {
  const JobChunkPtr& chunk = item.chunk;
  const domain::JobKind kind = chunk->job().kind;
  const int rows_ok = item.counts.done - item.counts.errors;
  for (const auto& tell : item.to_be_told) tell();
  metrics_.AddJobRows(kind, rows_ok, item.counts.errors);
  if (kind == domain::JobKind::kWorkflow) {
    metrics_.AddRunRecord(chunk->run->block->type, item.what == What::kEnd ? 1 : 0, rows_ok,
                          item.counts.errors);
    if (chunk->made) ShowPassed(*chunk);
  }
  if (item.counts.charge_mc > 0) metrics_.AddJobCreditsCharged(kind, item.counts.charge_mc);
  if (item.what != What::kProgress) {
    hooks_.ended(chunk);
    return;
  }
  chunk->claimed.progress = item.progress + 1;
  chunk->claimed.suspect.reset();
  if (chunk->unrecorded.any() || chunk->CanEnd()) {
    Add(chunk);
  } else {
    hooks_.recorded(chunk);
  }
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

// The item is refused even alone, or was abandoned. Where an earlier try may have happened, the
// next holder looks what is recorded: the refusal may be that of a repetition.
void JobRecorder::OnLost(const Item& item, const lease::Loss& loss) {
  const JobChunkPtr& chunk = item.chunk;
  if (chunk->BeingRecorded()) chunk->Enter(HeldJobChunk::Recording::kNone);
  if (loss.kind == lease::Loss::Kind::kAbandoned || chunk->Lost()) return;
  if (loss.may_have_happened || item.what == What::kFault) {
    hooks_.give_back(chunk);
  } else {
    AddFault(chunk, {.error = "the rows of a part could not be stored"});
  }
}

}  // namespace vedette::worker
