#include "scheduler/workflow_scheduler.h"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

#include "config/parts.h"
#include "config/role_config.h"
#include "domain/job/job.h"
#include "domain/workflow/run_schedule.h"

namespace vedette::scheduler {
namespace {

// How often it is asked whether the run before a slot that waits has ended.
constexpr std::chrono::milliseconds kWaitPoll = std::chrono::seconds(15);

// Why a run was not started; nothing of a run that was.
std::optional<std::string_view> WhyNot(const store::StartOutcome& outcome) {
  if (const auto* refused = std::get_if<store::JobNotPayable>(&outcome)) {
    return refused->why == store::JobNotPayable::Why::kInsufficientCredits
               ? domain::kReasonInsufficientCredits
               : domain::kReasonSpendLimitReached;
  }
  if (std::holds_alternative<store::TooMuchRunData>(outcome)) {
    return domain::kReasonRunDataLimitReached;
  }
  const bool too_many = std::holds_alternative<store::TooManyRuns>(outcome) ||
                        std::holds_alternative<store::TooManyJobs>(outcome);
  if (too_many) return domain::kSlotTooManyRuns;
  return std::nullopt;
}

std::optional<store::JobStarted> StartOrSkip(store::Session& session, const StartSlot& start,
                                             const store::DueSchedule& due,
                                             const store::SlotTaken& slot) {
  const SlotStart answer = start(session, due, slot);
  if (const auto* fault = std::get_if<store::WorkflowFault>(&answer)) {
    store::PauseAtSlot(session, slot, *fault);
  }
  const auto* outcome = std::get_if<store::StartOutcome>(&answer);
  if (outcome == nullptr) return std::nullopt;
  if (const auto why = WhyNot(*outcome)) store::SkipSlot(session, slot, *why);
  if (const auto* started = std::get_if<store::JobStarted>(outcome)) return *started;
  return std::nullopt;
}

}  // namespace

ScheduleLook LookAtSchedule(store::Session& session, const StartSlot& start,
                            std::chrono::milliseconds lease) {
  const auto due = store::ClaimSchedule(session, lease);
  ScheduleLook look{due.has_value(), std::nullopt};
  if (!due) return look;
  const domain::SlotStep step = domain::NextStep(due->moment);
  using Action = domain::SlotStep::Action;
  switch (step.action) {
    case Action::kNothing:
      store::RestSchedule(session, *due, kWaitPoll);
      break;
    case Action::kWait:
      store::WaitAtSlot(session, due->SlotOf(step));
      break;
    case Action::kSkip:
      store::SkipSlot(session, due->SlotOf(step), step.reason);
      break;
    case Action::kStart:
      look.started = StartOrSkip(session, start, *due, due->SlotOf(step));
      break;
  }
  return look;
}

WorkflowScheduler::WorkflowScheduler(base::EventLoop& loop, store::Pool& pool,
                                     store::Signals& signals, metrics::Metrics& metrics,
                                     const config::Config& config, StartSlot start,
                                     base::Logger log)
    : signals_(signals),
      metrics_(metrics),
      config_(config),
      step_(loop, pool, log,
            {.failed = "looking at a schedule of a workflow failed",
             .poll = config.scheduler.poll_ms},
            {.begin =
                 [start = std::move(start), lease = config.worker.lease_ms] {
                   return [start, lease](store::Session& session) {
                     RunResult result{{}, store::ReadNextLook(session)};
                     if (result.next.due()) result.look = LookAtSchedule(session, start, lease);
                     return result;
                   };
                 },
             .finish = [this](const RunResult& result) { return OnLook(result); }}) {}

void WorkflowScheduler::Start() {
  step_.Start();
}

void WorkflowScheduler::Wake() {
  step_.Wake();
}

lease::NextRun WorkflowScheduler::OnLook(const RunResult& result) {
  if (const auto& started = result.look.started) {
    if (!started->ended) signals_.Raise(store::Signal::kJobChunk);
    for (const store::Signal signal : started->raise) signals_.Raise(signal);
    if (const auto& ended = started->ended) {
      metrics_.AddJobEnded(ended->kind, ended->status, ended->took);
    }
  }
  if (result.look.looked) return lease::kAtOnce;
  // One that is due and was not looked at is being claimed by somebody else.
  if (!result.next.next || result.next.due()) return lease::kAtPoll;
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(*result.next.next - result.next.now);
  return std::clamp(left, std::chrono::milliseconds(0), config_.scheduler.poll_ms);
}

void WorkflowScheduler::Drain(std::function<void()> done) {
  step_.Drain(std::move(done));
}

}  // namespace vedette::scheduler
