#pragma once

#include <memory>

#include "api/monitors/webhook_tester.h"
#include "base/clock.h"
#include "base/event_loop.h"
#include "base/fair_share.h"
#include "config/config.h"
#include "delivery/sender.h"
#include "net/http_client.h"
#include "store/session.h"

namespace vedette::app {

// The API's way to the sender of notifications, on connections of its own, so that tests and
// deliveries do not wait for each other. [delivery] tests_in_flight_max are under way at once;
// organisations share them (base/fair_share.h), and what is over a share is refused. Built while
// the loop does not run; Test on any thread.
class WebhookTest final : public api::WebhookTester {
 public:
  WebhookTest(base::EventLoop& loop, store::Pool& pool, const base::Clock& clock,
              const config::Config& config, base::Logger log);

  void Test(api::WebhookTestTarget target,
            std::function<void(api::WebhookTestOutcome)> done) override;

 private:
  using Done = std::function<void(api::WebhookTestOutcome)>;
  void Start(const domain::Notification& notification, const Done& done);

  base::EventLoop& loop_;
  const base::Clock& clock_;
  net::HttpClient client_;
  delivery::Sender sender_;
  base::FairShares<base::Uuid> under_way_;  // by organisation; loop thread
};

}  // namespace vedette::app
