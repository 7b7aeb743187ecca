#include "scheduler/scheduler.h"

#include <algorithm>
#include <utility>

#include "config/parts.h"
#include "config/role_config.h"
#include "domain/monitor/timetable.h"
#include "lease/health_log.h"

namespace vedette::scheduler {
namespace {

// Large ticks closed in one transaction.
constexpr int kClosedPerRunMax = 100;

// How soon it is asked again for a schedule that is due while another transaction holds it.
constexpr std::chrono::milliseconds kHeldPoll{100};

}  // namespace

Scheduler::Scheduler(base::EventLoop& loop, store::Pool& pool, store::Signals& signals,
                     const base::Clock& clock, metrics::Metrics& metrics,
                     const config::Config& config, base::Logger log)
    : signals_(signals),
      clock_(clock),
      metrics_(metrics),
      config_(config),
      log_(log),
      step_(loop, pool, log, {.failed = "cutting ticks failed", .poll = config.scheduler.poll_ms},
            {.begin = [this] { return Begin(); },
             .finish = [this](const RunResult& result) { return OnRun(result); }}) {}

void Scheduler::Start() {
  step_.Start();
}

void Scheduler::Wake() {
  step_.Wake();
}

lease::Step<Scheduler::RunResult>::Job Scheduler::Begin() {
  const store::MaterialiseLimits limits = store::MaterialiseLimitsOf(config_);
  return [limits, &clock = clock_, &signals = signals_, bounds = bounds_](store::Session& session) {
    RunResult result;
    result.due = store::MaterialiseDueTicks(session, clock, limits, bounds.get());
    if (result.due.chunks > 0) signals.Raise(store::Signal::kChunk);
    // Nobody asks when the next is while more is due, and beside a snapshot the answer costs much.
    const bool asks = !result.due.more || !bounds->Bounded(clock);
    if (asks) result.next = store::ReadNextMaterialisation(session, bounds.get());
    if (asks && !result.next.large_open) return result;
    result.portions = store::MaterialisePortions(session, clock, limits, bounds.get());
    result.closed = store::CloseLargeTicks(session, kClosedPerRunMax);
    if (asks && result.portions.chunks > 0 && !result.portions.more) {
      result.next = store::ReadNextMaterialisation(session, bounds.get());
    }
    return result;
  };
}

// A run that reached one of its limits goes on at once; otherwise the next one begins ahead of
// the next slot.
lease::NextRun Scheduler::OnRun(const RunResult& result) {
  const std::int64_t chunks = result.due.chunks + result.portions.chunks;
  if (result.portions.chunks > 0) signals_.Raise(store::Signal::kChunk);
  lease::LogHealthChanges(log_, result.closed.changes);
  if (result.due.scheduled_ticks > 0) {
    metrics_.AddTicks(domain::TickTrigger::kSchedule, result.due.scheduled_ticks);
    log_.Debug("ticks cut", {{"ticks", result.due.scheduled_ticks},
                             {"overlaps", result.due.overlap_ticks},
                             {"chunks", chunks}});
  }
  if (result.due.more || result.portions.more || result.closed.count == kClosedPerRunMax) {
    return lease::kAtOnce;
  }
  if (!result.next.next_due) return lease::kAtPoll;
  const auto left = *result.next.next_due - domain::kCutAheadMin - result.next.now;
  // What is due and was not cut is held by another transaction, unless it became due meanwhile.
  const bool is_held = left <= left.zero() && result.due.scheduled_ticks == 0 && chunks == 0;
  if (is_held) return kHeldPoll;
  return std::clamp(std::chrono::ceil<std::chrono::milliseconds>(left),
                    std::chrono::milliseconds(0), config_.scheduler.poll_ms);
}

void Scheduler::Drain(std::function<void()> done) {
  step_.Drain(std::move(done));
}

Importer::Importer(base::EventLoop& loop, store::Pool& pool, store::Signals& signals,
                   const base::Clock& clock, const config::Config& config, base::Logger log)
    : signals_(signals),
      step_(loop, pool, log,
            {.failed = "adding rows of a file failed", .poll = config.scheduler.poll_ms},
            {.begin =
                 [&clock] {
                   return [&clock](store::Session& session) {
                     return store::ImportBatch(session, clock);
                   };
                 },
             .finish = [this](store::ImportStep batch) { return OnBatch(batch); }}) {}

void Importer::Start() {
  step_.Start();
}

void Importer::Wake() {
  step_.Wake();
}

lease::NextRun Importer::OnBatch(store::ImportStep batch) {
  if (batch == store::ImportStep::kActivated) signals_.Raise(store::Signal::kDue);
  return batch == store::ImportStep::kNothing ? lease::kAtPoll : lease::kAtOnce;
}

void Importer::Drain(std::function<void()> done) {
  step_.Drain(std::move(done));
}

}  // namespace vedette::scheduler
