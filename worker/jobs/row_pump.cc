#include "worker/jobs/row_pump.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "config/jobs_config.h"
#include "config/limits_config.h"
#include "config/lookup_config.h"
#include "config/parts.h"
#include "domain/email/found.h"
#include "domain/job/job.h"
#include "store/jobs/claim.h"

namespace vedette::worker {
namespace {

using std::chrono::milliseconds;

constexpr std::array kLanes{domain::Lane::kTransform, domain::Lane::kLookup, domain::Lane::kSmtp,
                            domain::Lane::kResearch};
static_assert(kLanes.size() == domain::kLaneCount);

}  // namespace

// A row between its start and its end.
struct RowPump::Run {
  JobChunkPtr chunk;
  std::size_t index = 0;
  base::Uuid row_id;
  int attempts = 0;
  enum class Waiting { kMay, kMayNot } waiting = Waiting::kMay;  // what its last attempt was told
  std::chrono::nanoseconds started{};                            // since boot
  std::chrono::nanoseconds deadline{};                           // since boot

  JobRow& row() const { return chunk->rows[index]; }
};

RowPump::RowPump(base::EventLoop& loop, const base::Clock& clock, metrics::Metrics& metrics,
                 const config::Config& config, JobHoldings& holdings, Hooks hooks)
    : clock_(clock),
      metrics_(metrics),
      config_(config),
      holdings_(holdings),
      hooks_(std::move(hooks)),
      random_(std::random_device{}()),
      retries_(loop, clock, [this](const std::shared_ptr<Run>& run) { Retry(run); }) {}

void RowPump::Enqueue(const JobChunkPtr& chunk) {
  auto& lane = turns_.at(static_cast<std::size_t>(chunk->lane()));
  // The parts of one job take turns as one flow. No share of an organisation is kept for its new
  // jobs: what is urgent has a rank of its own.
  lane.at(static_cast<std::size_t>(chunk->claimed.rank))
      .Push(chunk->org_id, chunk->claimed.job_id, /*newcomer=*/false, chunk);
}

void RowPump::Pump() {
  if (pumping_) return;  // a runner that answers at once comes back here
  pumping_ = true;
  for (const domain::Lane lane : kLanes) {
    PumpLane(lane);
    metrics_.SetJobRowsInFlight(lane, static_cast<std::int64_t>(holdings_.InLane(lane).in_flight));
  }
  pumping_ = false;
}

void RowPump::PumpLane(domain::Lane lane) {
  auto& ranks = turns_.at(static_cast<std::size_t>(lane));
  for (int rank = 0; rank < kRankCount; ++rank) {
    Turns& turns = ranks.at(static_cast<std::size_t>(rank));
    while (HasFreeSlot(config_.jobs, holdings_.InLane(lane), lane, rank) &&
           StartNext(turns, lane, rank)) {
    }
  }
}

// False when nothing can start now.
bool RowPump::StartNext(Turns& turns, domain::Lane lane, int rank) {
  const auto may = [&](const JobChunkPtr& chunk, bool newcomer) {
    if (!chunk->Working()) return true;  // it is dropped below; its load may be gone
    const lease::Load& held = chunk->Waited() ? chunk->org->waited : *chunk->org;
    return lease::MayStart(held.in_flight,
                           JobRoomOf(config_.jobs, holdings_.InLane(lane), lane, rank), newcomer);
  };
  auto turn = turns.Next(may);
  if (!turn) return false;
  const JobChunkPtr chunk = turn->item();
  while (chunk->next < chunk->rows.size() &&
         chunk->rows[chunk->next].state != JobRow::State::kWaiting) {
    ++chunk->next;
  }
  // After its deadline nothing of a chunk starts; the end of the job takes the chunk away.
  const bool late = clock_.SinceBoot() >= chunk->deadline;
  if (!chunk->Working() || late || chunk->next >= chunk->rows.size()) {
    turns.Drop(*turn);
    return true;
  }
  if (!Fresh(*chunk)) {
    hooks_.stale();
    return false;  // goes on with what the look brings
  }
  turns.Took(*turn);
  StartRow(chunk, chunk->next++);
  return true;
}

bool RowPump::Fresh(const HeldJobChunk& chunk) const {
  return chunk.Fresh(clock_.SinceBoot(), store::kJobHeldFresh);
}

// What is in flight of a chunk that is given back is worked on to its end, and recorded.
bool RowPump::MayCall(const HeldJobChunk& chunk) const {
  return chunk.WantsResults() && (!chunk.Working() || Fresh(chunk));
}

void RowPump::StartRow(const JobChunkPtr& chunk, std::size_t row) {
  base::Assert(chunk->rows[row].state == JobRow::State::kWaiting, "A row that waits is started.");
  auto run = std::make_shared<Run>();
  run->chunk = chunk;
  run->index = row;
  run->row_id = domain::JobRowId(chunk->claimed.job_id, chunk->claimed.block, chunk->claimed.part,
                                 static_cast<int>(row));
  run->started = clock_.SinceBoot();
  const auto timeout = chunk->run->runner->RowTimeout().value_or(config_.lookups.row_timeout_ms);
  run->deadline = std::min<std::chrono::nanoseconds>(run->started + timeout, chunk->deadline);
  holdings_.EnterFlight(*chunk);
  run->row().state = JobRow::State::kInFlight;
  Attempt(run);
}

void RowPump::Attempt(const std::shared_ptr<Run>& run) {
  const HeldJobChunk& chunk = *run->chunk;
  if (!Fresh(chunk)) {
    hooks_.stale();
    retries_.Add(run, lease::kLookAgain);
    return;
  }
  ++run->attempts;
  const auto left = std::chrono::floor<milliseconds>(run->deadline - clock_.SinceBoot());
  RowRequest request;
  request.row_id = run->row_id;
  request.org_id = chunk.org_id;
  request.job_id = chunk.claimed.job_id;
  request.cells = run->row().cells;
  request.memo = run->row().memo;
  request.timeout = std::max(left, milliseconds(1));
  if (!MayWait(chunk)) run->waiting = Run::Waiting::kMayNot;
  request.may_wait = run->waiting == Run::Waiting::kMay;
  request.waited = chunk.Waited();
  request.may_call = live_.Guard([this, held = run->chunk] { return MayCall(*held); });
  chunk.run->runner->Start(std::move(request), live_.Guard([this, run](RowResult result) {
    OnResult(run, std::move(result));
  }));
}

bool RowPump::MayWait(const HeldJobChunk& chunk) const {
  return !chunk.job().waited && chunk.deadline - clock_.SinceBoot() > kLaterNeeds;
}

void RowPump::OnResult(const std::shared_ptr<Run>& run, RowResult result) {
  const HeldJobChunk& chunk = *run->chunk;
  if (!chunk.WantsResults()) {
    Withdraw(run);  // nobody waits for the result: its job has ended, or it is another process's
  } else if (auto* failure = std::get_if<domain::Failure>(&result)) {
    OnFailure(run, *failure);
  } else if (auto* later = std::get_if<RowLater>(&result)) {
    OnLater(run, std::move(*later));
  } else {
    End(run, std::get<RowDone>(std::move(result)));
  }
}

void RowPump::OnFailure(const std::shared_ptr<Run>& run, const domain::Failure& failure) {
  if (failure.error_class == kRowUnheld && run->chunk->Working()) {
    --run->attempts;
    hooks_.stale();
    retries_.Add(run, lease::kLookAgain);
    return;
  }
  const double random = std::uniform_real_distribution<double>()(random_);
  const int attempts_max = failure.error_class == kRowDatabase ? std::numeric_limits<int>::max()
                                                               : config_.jobs.attempts_max;
  const auto wait = lease::WaitForRetry(failure, run->attempts, attempts_max,
                                        run->deadline - clock_.SinceBoot(), random);
  if (!wait) {
    EndWith(run, {failure.error_class, failure.message});
  } else if (run->chunk->Working()) {
    retries_.Add(run, *wait);
  } else {
    Withdraw(run);  // the next holder makes the next attempt
  }
}

void RowPump::OnLater(const std::shared_ptr<Run>& run, RowLater later) {
  base::Assert(later.memo.size() <= kMemoBytesMax, "A memo keeps its limit.");
  later.wait = std::clamp<milliseconds>(later.wait, kLaterMin, kLaterMax);
  if (run->waiting == Run::Waiting::kMayNot) {
    EndWith(run, {std::string(kRowLateCode), "the row was to be tried again, but too late"});
    return;
  }
  if (clock_.SinceBoot() + later.wait >= run->chunk->deadline) {
    // There is no time for that. It ends as what is known of it now.
    run->waiting = Run::Waiting::kMayNot;
    run->row().memo = std::move(later.memo);
    Attempt(run);
    return;
  }
  Leave(run);
  hooks_.later(run->chunk, run->index, std::move(later));
  Pump();
}

void RowPump::EndWith(const std::shared_ptr<Run>& run, RowError error) {
  End(run, run->chunk->run->runner->EndWith(run->row().cells, std::move(error)));
}

void RowPump::End(const std::shared_ptr<Run>& run, RowDone done) {
  const HeldJobChunk& chunk = *run->chunk;
  const std::size_t bytes = BytesOf(done.cells);
  if (bytes > config_.limits.row_bytes_max ||
      chunk.output_bytes + bytes > config_.jobs.part_bytes_max) {
    done = chunk.run->runner->EndWith(
        run->row().cells, {std::string(kRowTooLargeCode), "the row's output is too large"});
  }
  base::Assert(done.charge_mc.value_or(0) <= chunk.run->block->price_mc,
               "A row costs at most its block's price.");
  const auto took =
      std::chrono::duration_cast<std::chrono::microseconds>(clock_.SinceBoot() - run->started);
  metrics_.ObserveJobRow(chunk.lane(), took);
  if (!done.error) {
    ++run->chunk->unrecorded.timed;
    run->chunk->unrecorded.took += took;
  }
  const bool timed_out = done.error && done.error->code == domain::kErrorTimedOut;
  if (timed_out && run->deadline == chunk.deadline) run->chunk->late = true;
  Leave(run);
  hooks_.ended(run->chunk, run->index, std::move(done));
  Pump();
}

// The row waits again, for the hooks or for the next holder of its chunk.
void RowPump::Leave(const std::shared_ptr<Run>& run) {
  run->row().state = JobRow::State::kWaiting;
  holdings_.LeaveFlight(*run->chunk);
}

void RowPump::Withdraw(const std::shared_ptr<Run>& run) {
  Leave(run);
  hooks_.dropped(run->chunk);
  Pump();
}

void RowPump::Retry(const std::shared_ptr<Run>& run) {
  if (!run->chunk->Working()) {
    Withdraw(run);
  } else if (clock_.SinceBoot() >= run->deadline) {
    // It waited for a look at its chunk until its time was over.
    EndWith(run, {std::string(domain::kErrorTimedOut), "the row was not done in time"});
  } else {
    Attempt(run);
  }
}

void RowPump::DropWaiting() {
  // What Pump comes upon of a chunk that is not worked on is dropped there.
  const auto left =
      retries_.TakeIf([](const std::shared_ptr<Run>& run) { return !run->chunk->Working(); });
  for (const auto& run : left) Withdraw(run);
  Pump();
}

}  // namespace vedette::worker
