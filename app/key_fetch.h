#pragma once

#include <functional>
#include <string>

#include "app/outside_calls.h"
#include "base/event_loop.h"
#include "config/config_fwd.h"
#include "metrics/metrics.h"
#include "rest/published_keys.h"

namespace vedette::app {

// The way to the keys that OAuth clients publish: [oauth] jwks_fetches_max calls at once
// (outside_calls.h). Built while the loop does not run; Fetch on any thread.
class KeyFetch final : public rest::KeyFetcher {
 public:
  KeyFetch(base::EventLoop& loop, metrics::Metrics& metrics, const config::Config& config);

  void Fetch(const base::Uuid& org_id, std::string url, std::function<void(Outcome)> done) override;

 private:
  using Done = std::function<void(Outcome)>;
  void Start(const base::Uuid& org_id, const std::string& url, const Done& done);

  metrics::Metrics& metrics_;
  const config::JwksConfig& config_;
  OutsideCalls calls_;
};

}  // namespace vedette::app
