#pragma once

#include <cstdint>

#include "base/event_loop.h"
#include "base/log.h"
#include "config/config_fwd.h"
#include "lease/live.h"
#include "metrics/metrics.h"
#include "store/session.h"

namespace vedette::app {

// Counts the live signing secrets that this process has no encryption key for: at the start, and
// once a minute, so that a key that was taken out too early is seen before a receiver misses a
// notification. Says so in the log when the number changes, and in
// vedette_signing_secrets_unreadable. Lives on `loop`; everything handed in must outlive this
// object.
class SecretsWatch {
 public:
  SecretsWatch(base::EventLoop& loop, store::Pool& pool, metrics::Metrics& metrics,
               const config::SecurityConfig& security, base::Logger log);

  // On the loop thread, when the database's schema is there.
  void Start();

 private:
  void Look();
  void Note(std::int64_t unreadable, const std::string& keys);

  base::EventLoop& loop_;
  store::Pool& pool_;
  metrics::Metrics& metrics_;
  const config::SecurityConfig& security_;
  const base::Logger log_;
  std::int64_t unreadable_ = 0;  // when it was last counted
  base::Timer timer_;
  const lease::Live live_;
};

}  // namespace vedette::app
