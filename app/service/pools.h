#pragma once

#include <memory>

#include "app/service/duties.h"
#include "base/clock.h"
#include "base/log.h"
#include "config/config_fwd.h"
#include "metrics/metrics.h"
#include "store/session.h"

namespace vedette::app {

// The database connections of a process: a pool for each kind of work, so that none waits behind
// another. A pool is null where the process does no such work. Everything handed in must outlive
// this object.
struct Pools {
  Pools(const config::Config& config, const Duties& duties, const base::Clock& clock,
        metrics::Metrics& metrics, const base::Logger& log);

  // Runs what is queued in each, then ends its threads; the fleet's is the last. Blocks.
  void Stop();

  std::unique_ptr<store::Pool> fleet;  // health, heartbeat, and what is looked at now and then
  std::unique_ptr<store::Pool> api;
  std::unique_ptr<store::Pool> search;  // null also where the API does not count in the database
  std::unique_ptr<store::Pool> admin;
  std::unique_ptr<store::Pool> scheduler;
  std::unique_ptr<store::Pool> worker;
  std::unique_ptr<store::Pool> jobs;
  std::unique_ptr<store::Pool> delivery;
};

}  // namespace vedette::app
