#include "worker/jobs/part_pump.h"

#include <chrono>
#include <utility>

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
  while (!waiting_.empty() && holdings_.Lane(kLane).in_flight < slots) {
    const JobChunkPtr chunk = waiting_.front();
    waiting_.pop_front();
    if (chunk->Working()) Start(chunk);
  }
  metrics_.SetJobRowsInFlight(kLane, static_cast<std::int64_t>(holdings_.Lane(kLane).in_flight));
  ShowHeld();
}

void PartPump::ShowHeld() {
  metrics_.SetRunPartsHeld(static_cast<std::int64_t>(holdings_.Lane(kLane).chunks));
}

void PartPump::Start(const JobChunkPtr& chunk) {
  holdings_.EnterFlight(*chunk);
  store::RunAsync<PartResult>(
      pool_, loop_,
      [work = chunk->run->work, request = RequestOf(*chunk, config_)](store::Session& session) {
        return work->Make(session, request);
      },
      live_.Guard([this, chunk,
                   began = clock_.SinceBoot()](std::variant<PartResult, store::Failure> result) {
        metrics_.ObserveRunPart(
            chunk->run->block->type,
            std::chrono::duration_cast<std::chrono::microseconds>(clock_.SinceBoot() - began));
        OnMade(chunk, std::move(result));
      }));
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
  Pump();
}

}  // namespace vedette::worker
