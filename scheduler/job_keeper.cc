#include "scheduler/job_keeper.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "config/jobs_config.h"
#include "config/limits_config.h"
#include "config/parts.h"
#include "config/role_config.h"
#include "domain/job/job.h"
#include "store/jobs/keeper.h"

namespace vedette::scheduler {
namespace {

// Retentions are whole hours, and to find nothing takes long where many runs are kept.
constexpr std::chrono::hours kRetireEvery{1};

}  // namespace

JobKeeper::JobKeeper(base::EventLoop& loop, store::Pool& pool, store::Signals& signals,
                     const base::Clock& clock, metrics::Metrics& metrics,
                     const config::Config& config, base::Logger log)
    : signals_(signals),
      clock_(clock),
      metrics_(metrics),
      config_(config),
      log_(log),
      overdue_(
          loop, pool, log, Every("ending overdue jobs failed"),
          EndHooks(
              [this](store::Session& session) { return store::EndOverdueJobs(session, clock_); },
              store::kJobKeeperBatch)),
      over_limit_(
          loop, pool, log, Every("ending runs without room for their rows failed"),
          EndHooks(
              [this, bytes_max = static_cast<std::int64_t>(
                         config.workflows.run_data_bytes_per_org_max)](store::Session& session) {
                return store::EndRunsOverLimit(session, clock_, bytes_max);
              },
              store::kJobKeeperBatch)),
      growing_(loop, pool, log, Every("making parts of runs larger failed"),
               EndHooks([rules = store::GrowRules{config.worker.chunk_duration_target_ms,
                                                  config.workflows.window_rows}](
                            store::Session& session) { return store::GrowParts(session, rules); },
                        store::kJobKeeperBatch)),
      stalled_(loop, pool, log, Every("ending stalled jobs failed"), StalledHooks()),
      monitors_(loop, pool, log, Every("failing monitors of runs that have ended failed"),
                CountHooks(store::FailMonitorsLeft, store::kJobKeeperBatch)),
      lanes_(loop, pool, log, Every("moving jobs out of an unserved lane failed"),
             CountHooks(
                 [wait = config.jobs.wait_lane_ms](store::Session& session) {
                   return store::MoveUnservedLane(session, wait);
                 },
                 store::kJobKeeperBatch)),
      retire_(loop, pool, log, Every("deleting old jobs failed"), RetireHooks(config)),
      old_rows_(loop, pool, log, Every("deleting old rows of jobs failed"),
                CountHooks(
                    [kept = config.retention.run_data,
                     in_use = std::make_shared<std::set<std::string>>()](store::Session& session) {
                      return store::DropOldRows(session, kept, in_use.get());
                    },
                    store::kOldRowsMax)),
      unread_(loop, pool, log, Every("deleting rows that nobody reads failed"),
              CountHooks(store::DropUnreadRows, store::kUnreadPartsMax)),
      gauges_(loop, pool, log, Every("reading the gauges of jobs failed"),
              {.begin = []() -> Gauges::Job {
                 return [](store::Session& session) {
                   return Seen{store::ReadLaneGauges(session), store::ReadJobGauges(session),
                               store::ReadOldestQueuedRun(session)};
                 };
               },
               .finish = [this](const Seen& seen) -> Gauges::Then {
                 ShowGauges(seen);
                 return lease::kAtPoll;
               }}) {}

lease::StepOptions JobKeeper::Every(const char* failed) const {
  return {.failed = failed, .poll = config_.jobs.keeper_ms};
}

// A job that could not be ended is in the way of no other, and is tried again by the next run.
void JobKeeper::OnEnded(const store::JobKeeperRun& run) {
  for (const store::Signal signal : run.raise) signals_.Raise(signal);
  for (const store::JobEnded& job : run.jobs) metrics_.AddJobEnded(job.kind, job.status, job.took);
  for (const store::Failure& failure : run.failures) {
    // Anything but a fault is the database's state, which its sessions log.
    if (failure.kind == store::Failure::Kind::kFault) {
      log_.Error("a job could not be ended", {{"error", failure.message}});
    } else {
      log_.Debug("a job could not be ended", {{"error", failure.message}});
    }
  }
}

// A task that ended as many jobs as one call does has more to end.
JobKeeper::Ends::Hooks JobKeeper::EndHooks(std::function<store::JobKeeperRun(store::Session&)> task,
                                           int batch) {
  Ends::Hooks hooks;
  hooks.begin = [task = std::move(task)]() -> Ends::Job { return task; };
  hooks.finish = [this, batch](const store::JobKeeperRun& run) -> Ends::Then {
    OnEnded(run);
    return run.ended >= batch ? lease::kAtOnce : lease::kAtPoll;
  };
  return hooks;
}

lease::Step<JobKeeper::Stalled>::Hooks JobKeeper::StalledHooks() {
  lease::Step<Stalled>::Hooks hooks;
  hooks.begin = [this]() -> lease::Step<Stalled>::Job {
    return [this, cursor = stalled_at_](store::Session& session) {
      Stalled found{{}, cursor};
      found.run = store::EndStalledJobs(session, clock_, &found.next);
      return found;
    };
  };
  hooks.finish = [this](const Stalled& found) -> lease::Step<Stalled>::Then {
    stalled_at_ = found.next;
    OnEnded(found.run);
    metrics_.AddRunsStalled(
        std::count_if(found.run.jobs.begin(), found.run.jobs.end(),
                      [](const auto& job) { return job.kind == domain::JobKind::kWorkflow; }));
    return lease::kAtPoll;
  };
  return hooks;
}

// A task that did as much as one call does has more to do.
JobKeeper::Counts::Hooks JobKeeper::CountHooks(std::function<int(store::Session&)> task,
                                               int batch) {
  Counts::Hooks hooks;
  hooks.begin = [task = std::move(task)]() -> Counts::Job { return task; };
  hooks.finish = [batch](int n) -> Counts::Then {
    return n >= batch ? lease::kAtOnce : lease::kAtPoll;
  };
  return hooks;
}

JobKeeper::Retires::Hooks JobKeeper::RetireHooks(const config::Config& config) {
  Retires::Hooks hooks;
  hooks.begin = [&retention = config.retention]() -> Retires::Job {
    return [&retention](store::Session& session) {
      return store::RetireJobs(session, {retention.jobs, retention.runs});
    };
  };
  hooks.finish = [](std::optional<int> n) -> Retires::Then {
    if (!n) return lease::kAtPoll;  // another process was at it
    return *n >= store::kJobsRetiredMax ? lease::kAtOnce : lease::NextRun(kRetireEvery);
  };
  return hooks;
}

// The database tells of the kinds that have open jobs.
void JobKeeper::ShowGauges(const Seen& seen) {
  for (const store::LaneGauges& lane : seen.lanes) {
    metrics_.SetJobChunks(lane.lane, "due", lane.due);
    metrics_.SetJobChunks(lane.lane, "leased", lane.leased);
    metrics_.SetJobChunks(lane.lane, "waiting", lane.waiting);
    metrics_.SetJobChunkOldestDue(lane.lane, lane.oldest_due);
  }
  std::array<std::array<std::int64_t, domain::kJobKindCount>, 2> open{};  // by status and kind
  for (const store::OpenJobs& jobs : seen.jobs.open) {
    open.at(static_cast<std::size_t>(jobs.status)).at(static_cast<std::size_t>(jobs.kind)) =
        jobs.jobs;
  }
  for (const auto status : {domain::JobStatus::kQueued, domain::JobStatus::kRunning}) {
    for (std::size_t kind = 0; kind < domain::kJobKindCount; ++kind) {
      metrics_.SetOpenJobs(static_cast<domain::JobKind>(kind), status,
                           open.at(static_cast<std::size_t>(status)).at(kind));
    }
  }
  metrics_.SetJobOverdue(seen.jobs.overdue);
  metrics_.SetRunOldestQueued(seen.oldest_queued_run);
}

void JobKeeper::Start() {
  overdue_.Start();
  over_limit_.Start();
  growing_.Start();
  stalled_.Start();
  monitors_.Start();
  lanes_.Start();
  retire_.Start();
  old_rows_.Start();
  unread_.Start();
  gauges_.Start();
}

void JobKeeper::Drain(std::function<void()> done) {
  auto left = std::make_shared<int>(10);
  const auto one_less = [left, done = std::move(done)] {
    if (--*left == 0) done();
  };
  overdue_.Drain(one_less);
  over_limit_.Drain(one_less);
  growing_.Drain(one_less);
  stalled_.Drain(one_less);
  monitors_.Drain(one_less);
  lanes_.Drain(one_less);
  retire_.Drain(one_less);
  old_rows_.Drain(one_less);
  unread_.Drain(one_less);
  gauges_.Drain(one_less);
}

}  // namespace vedette::scheduler
