#include "scheduler/scheduler.h"

#include <algorithm>
#include <utility>

#include "config/config.h"
#include "lease/health_log.h"

namespace vedette::scheduler {
namespace {

// Large ticks closed in one transaction.
constexpr int kClosedPerRoundMax = 100;

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
             .finish = [this](const Round& round) { return OnRound(round); }}) {}

void Scheduler::Start() {
  step_.Start();
}

void Scheduler::Wake() {
  step_.Wake();
}

lease::Step<Scheduler::Round>::Job Scheduler::Begin() {
  const store::CutLimits limits = store::CutLimitsOf(config_);
  return [limits, &clock = clock_, &signals = signals_](store::Session& session) {
    Round round;
    round.due = store::CutDueTicks(session, clock, limits);
    if (round.due.chunks > 0) signals.Raise(store::Signal::kChunk);
    round.portions = store::CutPortions(session, clock, limits);
    round.closed = store::CloseLargeTicks(session, kClosedPerRoundMax);
    round.next = store::NextCut(session);
    return round;
  };
}

// A run that reached one of its limits goes on at once; otherwise the next one begins when the next
// monitor is due.
lease::NextRun Scheduler::OnRound(const Round& round) {
  const std::int64_t chunks = round.due.chunks + round.portions.chunks;
  if (round.portions.chunks > 0) signals_.Raise(store::Signal::kChunk);
  lease::LogTurns(log_, round.closed.turns);
  if (round.due.scheduled_ticks > 0) {
    metrics_.AddTicks(domain::TickTrigger::kSchedule, round.due.scheduled_ticks);
    log_.Debug("ticks cut", {{"ticks", round.due.scheduled_ticks},
                             {"overlaps", round.due.overlap_ticks},
                             {"chunks", chunks}});
  }
  if (round.due.more || round.portions.more || round.closed.count == kClosedPerRoundMax) {
    return lease::kAtOnce;
  }
  if (!round.next.next_due) return lease::kAtPoll;
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(*round.next.next_due - round.next.now);
  return std::clamp(left, std::chrono::milliseconds(0), config_.scheduler.poll_ms);
}

void Scheduler::Drain(std::function<void()> done) {
  step_.Drain(std::move(done));
}

}  // namespace vedette::scheduler
