#include "worker/jobs/part_pump.h"

#include <chrono>
#include <cstddef>
#include <utility>
#include <vector>

#include "config/config.h"

namespace vedette::worker {
namespace {

constexpr domain::Lane kLane = domain::Lane::kTransform;

PartRequest RequestOf(const HeldJobChunk& chunk, const config::Config& config) {
  PartRequest request;
  request.job_id = chunk.claimed.job_id;
  request.block = chunk.claimed.block;
  request.part = chunk.claimed.part;
  request.part_rows = chunk.job().part_rows;
  request.upload_id = chunk.job().upload_id;
  request.rows_json = chunk.claimed.rows_json.value_or("[]");
  request.bytes_max = config.jobs.part_bytes_max;
  request.row_bytes_max = config.limits.row_bytes_max;
  return request;
}

// What is passed on from block to block within one record: runs of a few rows, of few blocks.
constexpr std::size_t kPassedBytesMax = std::size_t{64} * 1024;
constexpr std::size_t kPassedBlocksMax = 16;

// Works the blocks behind the chunk's, each on what the one before it made of the only part, and
// stops before one that cannot: it gets a chunk of its own then, and fails as that.
void PassOn(store::Session& session, const BlockRun& run, PartRequest request, PartOutput* output) {
  const BlockRun* next = run.next.get();
  const std::vector<store::JobMadePart>* made = &output->parts;
  while (next != nullptr && output->passed.size() < kPassedBlocksMax) {
    if (made->size() != 1 || made->front().rows_json.size() > kPassedBytesMax) return;
    request.block = next->block->block;
    request.rows_json = made->front().rows_json;
    auto result = next->work->Make(session, request);
    auto* further = std::get_if<PartOutput>(&result);
    if (further == nullptr) return;
    output->passed.push_back({request.block, std::move(further->parts), std::move(further->keys),
                              further->rows_done, further->row_errors});
    made = &output->passed.back().made;
    next = next->next.get();
  }
}

// Parts that are made in one slot.
constexpr std::size_t kMadeTogetherMax = 16;

struct PartTask {
  BlockRunPtr run;
  bool passes = false;
  PartRequest request;
};
struct MadePart {
  PartResult result;
  std::chrono::microseconds took{};
};

std::vector<MadePart> MakeAll(store::Session& session, const base::Clock& clock,
                              const std::vector<PartTask>& tasks) {
  std::vector<MadePart> made;
  for (const PartTask& task : tasks) {
    const auto began = clock.SinceBoot();
    PartResult result = task.run->work->Make(session, task.request);
    auto* output = std::get_if<PartOutput>(&result);
    if (task.passes && output != nullptr) PassOn(session, *task.run, task.request, output);
    const auto took = clock.SinceBoot() - began;
    made.push_back(
        {std::move(result), std::chrono::duration_cast<std::chrono::microseconds>(took)});
  }
  return made;
}

}  // namespace

PartPump::PartPump(base::EventLoop& loop, store::Pool& pool, const base::Clock& clock,
                   metrics::Metrics& metrics, const config::Config& config, base::Logger log,
                   JobHoldings& holdings, Hooks hooks)
    : loop_(loop),
      pool_(pool),
      clock_(clock),
      metrics_(metrics),
      config_(config),
      log_(log),
      holdings_(holdings),
      hooks_(std::move(hooks)) {}

void PartPump::Pump() {
  const auto slots = static_cast<std::size_t>(config_.jobs.slots_transform);
  while (slots_used_ < slots) {
    const auto chunks = TakeWaiting();
    if (chunks.empty()) break;
    StartTogether(chunks);
  }
  metrics_.SetJobRowsInFlight(kLane, static_cast<std::int64_t>(holdings_.Lane(kLane).in_flight));
  ShowHeld();
}

std::vector<JobChunkPtr> PartPump::TakeWaiting() {
  while (!alone_.empty()) {
    const JobChunkPtr chunk = alone_.front();
    alone_.pop_front();
    if (chunk->Working()) return {chunk};
  }
  std::vector<JobChunkPtr> taken;
  while (!waiting_.empty() && taken.size() < kMadeTogetherMax) {
    const JobChunkPtr chunk = waiting_.front();
    if (!taken.empty() && !chunk->run->shares_records) break;
    waiting_.pop_front();
    if (!chunk->Working()) continue;
    taken.push_back(chunk);
    if (!chunk->run->shares_records) break;
  }
  return taken;
}

void PartPump::ShowHeld() {
  metrics_.SetRunPartsHeld(static_cast<std::int64_t>(holdings_.Lane(kLane).chunks));
}

void PartPump::StartTogether(const std::vector<JobChunkPtr>& chunks) {
  std::vector<PartTask> tasks;
  for (const JobChunkPtr& chunk : chunks) {
    holdings_.EnterFlight(*chunk);
    // A part whose worker died is worked alone from then on, so that it is its own block that is
    // blamed.
    const bool passes = chunk->claimed.claims == 1 && chunk->mode == HeldJobChunk::Mode::kTogether;
    tasks.push_back({chunk->run, passes, RequestOf(*chunk, config_)});
  }
  ++slots_used_;
  store::RunAsync<std::vector<MadePart>>(
      pool_, loop_,
      [tasks = std::move(tasks), clock = &clock_](store::Session& session) {
        return MakeAll(session, *clock, tasks);
      },
      live_.Guard([this, chunks](std::variant<std::vector<MadePart>, store::Failure> result) {
        --slots_used_;
        if (auto* made = std::get_if<std::vector<MadePart>>(&result)) {
          for (std::size_t i = 0; i < chunks.size(); ++i) {
            metrics_.ObserveRunPart(chunks[i]->run->block->type, (*made)[i].took);
            OnMade(chunks[i], std::move((*made)[i].result));
          }
        } else {
          OnFailed(chunks, std::get<store::Failure>(result));
        }
        Pump();
      }));
}

// One of several may be what fails: each is tried alone.
void PartPump::OnFailed(const std::vector<JobChunkPtr>& chunks, const store::Failure& failure) {
  if (chunks.size() == 1) return OnMade(chunks.front(), failure);
  for (const JobChunkPtr& chunk : chunks) {
    holdings_.LeaveFlight(*chunk);
    if (chunk->Working()) {
      alone_.push_back(chunk);
    } else {
      hooks_.dropped(chunk);
    }
  }
}

void PartPump::OnMade(const JobChunkPtr& chunk, std::variant<PartResult, store::Failure> result) {
  holdings_.LeaveFlight(*chunk);
  auto* made = std::get_if<PartResult>(&result);
  const bool awaited = chunk->Working() || chunk->phase == HeldJobChunk::Phase::kGivingBack;
  if (!awaited) {
    hooks_.dropped(chunk);
  } else if (made == nullptr) {
    log_.Warn("a part of a job could not be made",
              {{"error", std::get<store::Failure>(result).message}});
    hooks_.failed(chunk);
  } else if (auto* fault = std::get_if<store::JobFault>(made)) {
    hooks_.fault(chunk, std::move(*fault));
  } else {
    hooks_.made(chunk, std::get<PartOutput>(std::move(*made)));
  }
}

}  // namespace vedette::worker
