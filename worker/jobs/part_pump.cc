#include "worker/jobs/part_pump.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>
#include <vector>

#include "config/jobs_config.h"
#include "config/limits_config.h"
#include "config/parts.h"

namespace vedette::worker {
namespace {

constexpr domain::Lane kLane = domain::Lane::kTransform;

// Takes the rows: a part that is not made is claimed again.
PartRequest TakeRequest(HeldJobChunk& chunk, const config::Config& config) {
  PartRequest request;
  request.job_id = chunk.claimed.job_id;
  request.block = chunk.claimed.block;
  request.part = chunk.claimed.part;
  request.part_rows = chunk.job().part_rows;
  request.upload_id = chunk.job().upload_id;
  request.rows_json = std::exchange(chunk.claimed.rows_json, std::nullopt).value_or("[]");
  request.bytes_max = config.jobs.part_bytes_max;
  request.row_bytes_max = config.limits.row_bytes_max;
  return request;
}

// What is passed on from block to block within one record: runs of a few rows, of few blocks.
constexpr std::size_t kPassedBytesMax = std::size_t{64} * 1024;
constexpr std::size_t kPassedBlocksMax = 16;

// Works the blocks behind the chunk's, each on what the one before it made of the only part, and
// stops before one that cannot, also where the part's time is up: it gets a chunk of its own then,
// and fails as that.
void PassOn(const BlockRun& run, PartRequest request, PartTurn& turn, PartOutput* output) {
  const BlockRun* next = run.next.get();
  const std::vector<store::JobMadePart>* made = &output->parts;
  while (next != nullptr && output->passed.size() < kPassedBlocksMax) {
    if (made->size() != 1 || made->front().rows_json.size() > kPassedBytesMax) return;
    request.block = next->block->block;
    request.rows_json = made->front().rows_json;
    auto result = next->work->Make(request, turn);
    auto* further = std::get_if<PartOutput>(&result);
    if (further == nullptr) return;
    output->passed.push_back({request.block, std::move(further->parts), std::move(further->keys),
                              further->rows_done, further->row_errors});
    made = &output->passed.back().made;
    next = next->next.get();
  }
}

base::ThreadPool::Limits LimitsOf(const config::JobsConfig& config) {
  const auto threads = static_cast<std::size_t>(config.slots_transform);
  return {threads, std::max<std::size_t>(threads - 1, 1),
          static_cast<std::size_t>(config.parts_held_max)};
}

}  // namespace

// A part that is being made. It belongs to the loop, and while a step is under way to its thread.
struct PartPump::Task {
  base::Uuid key;  // whose turns it takes
  BlockRunPtr run;
  bool passes = false;
  PartRequest request;
  std::shared_ptr<PartTurn> turn;
  std::chrono::nanoseconds took{};  // of its steps

  Result Run(const PartCompute& step, const base::Clock& clock) {
    const auto began = clock.SinceBoot();
    Result result = Tried(step);
    took += clock.SinceBoot() - began;
    return result;
  }

 private:
  Result Tried(const PartCompute& step) {
    try {
      turn->Begin();
      turn->Ask();
      PartStep came = step(*turn);
      auto* output = std::get_if<PartOutput>(&came);
      if (passes && output != nullptr) PassOn(*run, request, *turn, output);
      return came;
    } catch (const PartStopped& stopped) {
      return stopped.why;
    } catch (...) {
      return store::CurrentFailure();
    }
  }
};

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
      hooks_(std::move(hooks)),
      threads_("parts", LimitsOf(config.jobs)) {}

PartPump::~PartPump() {
  for (const auto& [id, chunk] : holdings_.chunks()) {
    if (chunk->turn) chunk->turn->Stop();
  }
}

void PartPump::ShowHeld() {
  metrics_.SetRunPartsHeld(static_cast<std::int64_t>(holdings_.InLane(kLane).chunks));
}

void PartPump::StartAs(const base::Uuid& turn, const JobChunkPtr& chunk) {
  holdings_.EnterFlight(*chunk);
  const auto task = std::make_shared<Task>();
  task->key = turn;
  task->run = chunk->run;
  // A part whose worker died is worked alone from then on, so that it is its own block that is
  // blamed.
  task->passes = chunk->claimed.claims == 1 && chunk->mode == HeldJobChunk::Mode::kTogether;
  task->request = TakeRequest(*chunk, config_);
  task->turn = std::make_shared<PartTurn>(clock_, kPartTimeMax, chunk->deadline);
  chunk->turn = task->turn;
  Compute(chunk, task,
          [task = task.get()](PartTurn& own) { return task->run->work->Make(task->request, own); });
}

void PartPump::Compute(const JobChunkPtr& chunk, const TaskPtr& task, PartCompute step) {
  auto done =
      live_.Guard([this, chunk, task](Result result) { OnStep(chunk, task, std::move(result)); });
  const bool posted = threads_.Post(
      task->key, [loop = &loop_, clock = &clock_, task, step = std::move(step), done] {
        loop->Post([done, result = std::make_shared<Result>(task->Run(step, *clock))]() mutable {
          done(std::move(*result));
        });
      });
  if (posted) return;
  // What was lost waits there until its turn comes, and is not held any more meanwhile.
  loop_.Post([done]() mutable {
    done(store::Failure{store::Failure::Kind::kOverloaded, "too many parts wait to be made"});
  });
}

void PartPump::Read(const JobChunkPtr& chunk, const TaskPtr& task, PartRead asked) {
  store::RunAsync<PartCompute>(
      pool_, loop_,
      [clock = &clock_, task, asked = std::move(asked)](store::Session& session) {
        const auto began = clock->SinceBoot();
        PartCompute next = asked.read(session);
        task->took += clock->SinceBoot() - began;
        return next;
      },
      live_.Guard([this, chunk, task](std::variant<PartCompute, store::Failure> result) {
        if (auto* next = std::get_if<PartCompute>(&result)) {
          Compute(chunk, task, std::move(*next));
        } else {
          OnStep(chunk, task, std::get<store::Failure>(std::move(result)));
        }
      }));
}

void PartPump::OnStep(const JobChunkPtr& chunk, const TaskPtr& task, Result result) {
  auto* step = std::get_if<PartStep>(&result);
  auto* asked = step == nullptr ? nullptr : std::get_if<PartRead>(step);
  if (asked != nullptr && !task->turn->stopped()) return Read(chunk, task, std::move(*asked));
  if (asked != nullptr) result = PartStop::kUnwanted;
  if (std::holds_alternative<PartStep>(result)) {
    metrics_.ObserveRunPart(chunk->run->block->type,
                            std::chrono::duration_cast<std::chrono::microseconds>(task->took));
  }
  holdings_.LeaveFlight(*chunk);
  OnEnd(chunk, std::move(result));
  metrics_.SetJobRowsInFlight(kLane, static_cast<std::int64_t>(holdings_.InLane(kLane).in_flight));
}

void PartPump::OnEnd(const JobChunkPtr& chunk, Result result) {
  auto* step = std::get_if<PartStep>(&result);
  // What was made is recorded even while its chunk is given back; what was not made is then given
  // back.
  const bool awaited = chunk->Working() || (step != nullptr && chunk->WantsResults());
  if (!awaited) {
    hooks_.dropped(chunk);
  } else if (step != nullptr) {
    if (auto* fault = std::get_if<store::JobFault>(step)) {
      hooks_.fault(chunk, std::move(*fault));
    } else {
      hooks_.made(chunk, std::get<PartOutput>(std::move(*step)));
    }
  } else {
    // Its job's time is over where it was stopped: the end of the job takes it away.
    if (const auto* failure = std::get_if<store::Failure>(&result)) {
      log_.Warn("a part of a job could not be made", {{"error", failure->message}});
    }
    hooks_.failed(chunk);
  }
}

}  // namespace vedette::worker
