#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

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
  // Looks whether the pooler answers; null where the process does not go through one.
  std::unique_ptr<store::Pool> pooler;
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

// A part of a role that is to be drained. `drain` begins that, on the loop, and calls what it is
// given once nothing of the part is under way.
struct DrainedPart {
  std::string_view name;
  std::function<void(std::function<void()> done)> drain;
};

// A part that is null is not there.
template <typename Part>
void AddPart(std::string_view name, Part* part, std::vector<DrainedPart>* parts) {
  if (part == nullptr) return;
  parts->push_back({name, [part](std::function<void()> done) { part->Drain(std::move(done)); }});
}

// Drains parts of `loop` at the same time and waits for all of them, `limit` at most: then it logs
// which still wait for the database, and they go on. Not on the loop thread.
void DrainParts(base::EventLoop& loop, const base::Logger& log, std::chrono::milliseconds limit,
                const std::vector<DrainedPart>& parts);

}  // namespace vedette::app
