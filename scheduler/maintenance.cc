#include "scheduler/maintenance.h"

#include <utility>

namespace vedette::scheduler {
namespace {

constexpr std::chrono::milliseconds kGaugesEvery{5000};

}  // namespace

Maintenance::Maintenance(base::EventLoop& loop, store::Pool& pool, metrics::Metrics& metrics,
                         const config::Config& config, base::Logger log)
    : loop_(loop),
      pool_(pool),
      metrics_(metrics),
      config_(config),
      log_(log),
      timer_(loop, [this] { Run(); }),
      gauge_timer_(loop, [this] { ReadGauges(); }),
      state_(std::make_shared<store::MaintenanceState>()),
      alive_(std::make_shared<bool>(true)) {
  // So that each series stands at 0 before its first count.
  for (const std::string_view task : store::MaintenanceTasks()) {
    metrics_.AddMaintenanceFailures(task, 0);
  }
}

Maintenance::~Maintenance() {
  *alive_ = false;
}

void Maintenance::Start() {
  timer_.Start(std::chrono::milliseconds(0), config_.scheduler.maintenance_ms);
  gauge_timer_.Start(std::chrono::milliseconds(0), kGaugesEvery);
}

// One run at a time: one that takes longer than the interval is waited for.
void Maintenance::Run() {
  if (maintaining_) return;
  maintaining_ = true;
  ++running_;
  store::RunAsync<store::MaintenanceRun>(
      pool_, loop_,
      [&retention = config_.retention, state = state_](store::Session& session) {
        return store::Maintain(session, retention, state.get());
      },
      [this, alive = alive_](std::variant<store::MaintenanceRun, store::Failure> result) {
        if (!*alive) return;
        maintaining_ = false;
        if (const auto* run = std::get_if<store::MaintenanceRun>(&result)) {
          for (const auto& [task, failure] : run->failures) Tell(task, failure);
        }
        if (--running_ == 0 && drained_) loop_.Post(std::exchange(drained_, nullptr));
      });
}

// What gave way to others, or found the database short of something, is tried again soon.
void Maintenance::Tell(std::string_view task, const store::Failure& failure) {
  metrics_.AddMaintenanceFailures(task, 1);
  const base::Logger::Fields what{{"task", task}, {"error", failure.message}};
  if (failure.kind == store::Failure::Kind::kFault) {
    log_.Error("maintenance failed", what);
  } else {
    log_.Warn("maintenance failed", what);
  }
}

void Maintenance::ReadGauges() {
  ++running_;
  store::RunAsync<store::Gauges>(
      pool_, loop_, [](store::Session& session) { return store::ReadGauges(session); },
      [this, alive = alive_](std::variant<store::Gauges, store::Failure> result) {
        if (!*alive) return;
        if (const auto* g = std::get_if<store::Gauges>(&result)) {
          metrics_.SetChunks("due", g->chunks_due);
          metrics_.SetChunks("leased", g->chunks_leased);
          metrics_.SetChunks("waiting", g->chunks_waiting);
          metrics_.SetChunkOldestDue(g->oldest_due);
          metrics_.SetDeliveries("pending", g->deliveries_pending);
          metrics_.SetDeliveries("dead", g->deliveries_dead);
          metrics_.SetDeliveryOldestPending(g->oldest_pending);
          metrics_.SetReceiversFailing(g->receivers_failing);
        }
        if (--running_ == 0 && drained_) loop_.Post(std::exchange(drained_, nullptr));
      });
}

void Maintenance::Drain(std::function<void()> done) {
  timer_.Stop();
  gauge_timer_.Stop();
  if (running_ == 0) {
    loop_.Post(std::move(done));
  } else {
    drained_ = std::move(done);
  }
}

}  // namespace vedette::scheduler
