#include "scheduler/maintenance.h"

#include <utility>

#include "store/uploads.h"

namespace vedette::scheduler {
namespace {

constexpr std::chrono::milliseconds kGaugesEvery{5000};
// Expired files deleted in one run; the rest waits for the next.
constexpr int kUploadsPerRunMax = 100;

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
      alive_(std::make_shared<bool>(true)) {}

Maintenance::~Maintenance() {
  *alive_ = false;
}

void Maintenance::Start() {
  timer_.Start(std::chrono::milliseconds(0), config_.scheduler.maintenance_ms);
  gauge_timer_.Start(std::chrono::milliseconds(0), kGaugesEvery);
}

void Maintenance::Run() {
  ++running_;
  store::RunAsync<bool>(
      pool_, loop_,
      [&retention = config_.retention](store::Session& session) {
        const bool mine = store::Maintain(session, retention);
        if (mine) store::DeleteExpiredUploads(session, kUploadsPerRunMax);
        return mine;
      },
      [this, alive = alive_](std::variant<bool, store::Failure> result) {
        if (!*alive) return;
        const auto* failure = std::get_if<store::Failure>(&result);
        if (failure != nullptr && failure->kind == store::Failure::Kind::kFault) {
          log_.Error("maintenance failed", {{"error", failure->message}});
        }
        if (--running_ == 0 && drained_) loop_.Post(std::exchange(drained_, nullptr));
      });
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
