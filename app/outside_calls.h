#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "api/kit/published_keys.h"
#include "base/event_loop.h"
#include "base/fair_share.h"
#include "base/uuid.h"
#include "config/config_fwd.h"
#include "config/net_config.h"
#include "metrics/metrics.h"
#include "net/http_client.h"

namespace vedette::app {

// Calls that a request of the API makes to somewhere outside, on connections of their own, so that
// they and what the process does by itself do not wait for each other. At most `calls_max` are
// under way at once; organisations share them (base/fair_share.h), and what is over a share is
// refused. Built while the loop does not run.
class OutsideCalls {
 public:
  enum class Place : std::uint8_t {
    kTaken,
    kAllTaken,           // by others
    kOrganisationsTaken  // the organisation has its share under way
  };

  OutsideCalls(base::EventLoop& loop, config::NetConfig net, int calls_max);

  // Any thread. `begin` is called once, on the loop; where the place is taken, End follows.
  void Begin(const base::Uuid& org_id, std::function<void(Place)> begin);
  void End(const base::Uuid& org_id);  // loop thread
  net::HttpClient& client() { return client_; }

 private:
  Place Take(const base::Uuid& org_id);

  base::EventLoop& loop_;
  net::HttpClient client_;
  base::FairShares<base::Uuid> under_way_;  // by organisation; loop thread
};

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
