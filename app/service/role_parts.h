#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>

#include "app/roles.h"
#include "base/clock.h"
#include "base/event_loop.h"
#include "base/log.h"
#include "config/config_fwd.h"
#include "config/database_config.h"
#include "metrics/metrics.h"
#include "net/public_address.h"
#include "store/session.h"
#include "store/signals.h"

namespace vedette::app {

// The connections of Pools::render.
inline constexpr int kRenderConnections{2};

// What every role of a process is built on. All of it outlives every role.
struct Core {
  const config::Config& config;
  base::EventLoop& loop;
  store::Signals& signals;
  const base::Clock& clock;  // the database's
  metrics::Metrics& metrics;
  const net::AddressPolicy& policy;
  const base::Logger& log;
};

// The database connections of a process: a pool for each kind of work, so that none waits behind
// another. A pool is null where the process does no such work. Everything handed in must outlive
// this object.
struct Pools {
  Pools(const config::Config& config, const Duties& duties, const base::Clock& clock,
        metrics::Metrics& metrics, const base::Logger& log);

  // Runs what is queued in each, then ends its threads; the fleet's is the last. Blocks.
  void Stop();

  // The way of the roles api and admin: [database] pooled_url, or that of all others.
  const config::DatabaseConfig pooled;
  std::unique_ptr<store::Pool> fleet;  // health, heartbeat, and what is looked at now and then
  std::unique_ptr<store::Pool> api;
  std::unique_ptr<store::Pool> search;  // null also where the API does not count in the database
  std::unique_ptr<store::Pool> admin;
  std::unique_ptr<store::Pool> scheduler;
  std::unique_ptr<store::Pool> worker;
  std::unique_ptr<store::Pool> jobs;
  std::unique_ptr<store::Pool> delivery;
  // That of the role browser, and of processes that hand pages over to it.
  std::unique_ptr<store::Pool> render;
};

// Drains parts of `loop` at the same time and waits for all of them; those that are null are not
// there. Not on the loop thread.
template <typename... Parts>
void DrainParts(base::EventLoop& loop, Parts*... parts) {
  struct Left {
    std::mutex mutex;
    std::condition_variable changed;
    int parts = 0;  // guarded by mutex
  };
  auto left = std::make_shared<Left>();
  left->parts = ((parts != nullptr ? 1 : 0) + ...);
  const auto drain = [left](auto* part) {
    if (part == nullptr) return;
    part->Drain([left] {
      std::lock_guard lock(left->mutex);
      --left->parts;
      left->changed.notify_one();
    });
  };
  loop.Post([drain, parts...] { (drain(parts), ...); });
  std::unique_lock lock(left->mutex);
  left->changed.wait(lock, [&] { return left->parts == 0; });
}

}  // namespace vedette::app
