#pragma once

#include <string>

#include "base/event_loop.h"
#include "base/fair_share.h"
#include "config/config.h"
#include "metrics/metrics.h"
#include "net/http_client.h"
#include "rest/key_fetcher.h"

namespace vedette::app {

// The way to the keys that OAuth clients publish, on connections of its own. [oauth]
// jwks_fetches_max are under way at once; organisations share them (base/fair_share.h), and what is
// over a share is refused. Built while the loop does not run; Fetch on any thread.
class KeyFetch final : public rest::KeyFetcher {
 public:
  KeyFetch(base::EventLoop& loop, metrics::Metrics& metrics, const config::Config& config);

  void Fetch(const base::Uuid& org_id, std::string url, std::function<void(Outcome)> done) override;

 private:
  using Done = std::function<void(Outcome)>;
  void Start(const base::Uuid& org_id, std::string url, const Done& done);

  base::EventLoop& loop_;
  metrics::Metrics& metrics_;
  const config::JwksConfig& config_;
  net::HttpClient client_;
  base::FairShares<base::Uuid> under_way_;  // by organisation; loop thread
};

}  // namespace vedette::app
