#pragma once

#include "base/clock.h"
#include "base/event_loop.h"
#include "base/log.h"
#include "config/config_fwd.h"
#include "metrics/metrics.h"
#include "net/public_address.h"
#include "store/signals.h"

namespace vedette::app {

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

}  // namespace vedette::app
