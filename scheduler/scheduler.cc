#include "scheduler/scheduler.h"

#include <algorithm>
#include <utility>

namespace vedette::scheduler {
namespace {

// Large ticks closed in one transaction.
constexpr int kClosedPerStepMax = 100;

}  // namespace

Scheduler::Scheduler(base::EventLoop& loop, store::Pool& pool, store::Signals& signals,
                     const base::Clock& clock, metrics::Metrics& metrics,
                     const config::Config& config, base::Logger log)
    : loop_(loop),
      pool_(pool),
      signals_(signals),
      clock_(clock),
      metrics_(metrics),
      config_(config),
      log_(log),
      timer_(loop, [this] { Run(); }),
      alive_(std::make_shared<bool>(true)) {}

Scheduler::~Scheduler() {
  *alive_ = false;
}

void Scheduler::Start() {
  timer_.Start(std::chrono::milliseconds(0));
}

void Scheduler::Wake() {
  Run();
}

void Scheduler::Run() {
  if (drained_) return;
  if (running_) {
    again_ = true;
    return;
  }
  running_ = true;
  again_ = false;
  const store::CutLimits limits = store::CutLimitsOf(config_);
  store::RunAsync<Step>(
      pool_, loop_,
      [limits, &clock = clock_, &signals = signals_](store::Session& session) {
        Step step;
        step.due = store::CutDueTicks(session, clock, limits);
        if (step.due.chunks > 0) signals.Raise(store::Signal::kChunk);
        step.portions = store::CutPortions(session, clock, limits);
        step.closed = store::CloseLargeTicks(session, kClosedPerStepMax);
        step.next = store::NextCut(session);
        return step;
      },
      [this, alive = alive_](std::variant<Step, store::Failure> result) {
        if (!*alive) return;
        running_ = false;
        if (const auto* step = std::get_if<Step>(&result)) {
          OnStep(*step);
        } else {
          const auto& failure = std::get<store::Failure>(result);
          if (failure.kind == store::Failure::Kind::kFault) {
            log_.Error("cutting ticks failed", {{"error", failure.message}});
          }
          timer_.Start(config_.scheduler.poll_ms);
        }
        if (drained_) loop_.Post(std::exchange(drained_, [] {}));
      });
}

void Scheduler::OnStep(const Step& step) {
  const std::int64_t chunks = step.due.chunks + step.portions.chunks;
  if (step.portions.chunks > 0) signals_.Raise(store::Signal::kChunk);
  if (step.due.scheduled_ticks > 0) {
    metrics_.AddTicks(domain::TickTrigger::kSchedule, step.due.scheduled_ticks);
    log_.Debug("ticks cut", {{"ticks", step.due.scheduled_ticks},
                             {"overlaps", step.due.overlap_ticks},
                             {"chunks", chunks}});
  }
  auto wait = config_.scheduler.poll_ms;
  if (step.due.more || step.portions.more || again_ || step.closed == kClosedPerStepMax) {
    wait = std::chrono::milliseconds(0);
  } else if (step.next.next_due) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(*step.next.next_due - step.next.now);
    wait = std::clamp(left, std::chrono::milliseconds(0), wait);
  }
  timer_.Start(wait);
}

void Scheduler::Drain(std::function<void()> done) {
  drained_ = std::move(done);
  timer_.Stop();
  if (!running_) loop_.Post(std::exchange(drained_, [] {}));
}

}  // namespace vedette::scheduler
