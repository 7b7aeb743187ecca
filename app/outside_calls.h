#pragma once

#include <cstdint>
#include <functional>

#include "base/event_loop.h"
#include "base/fair_share.h"
#include "base/uuid.h"
#include "config/net_config.h"
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

}  // namespace vedette::app
