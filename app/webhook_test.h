#pragma once

#include <functional>

#include "api/outgoing.h"
#include "app/outside_calls.h"
#include "base/clock.h"
#include "base/event_loop.h"
#include "config/config_fwd.h"
#include "delivery/sender.h"
#include "store/session.h"

namespace vedette::app {

// The API's way to the sender of notifications: [delivery] tests_in_flight_max calls at once
// (outside_calls.h). Built while the loop does not run; Test on any thread.
class WebhookTest final : public api::WebhookTester {
 public:
  WebhookTest(base::EventLoop& loop, store::Pool& pool, const base::Clock& clock,
              const config::Config& config, base::Logger log);

  void Test(api::WebhookTestTarget target,
            std::function<void(api::WebhookTestOutcome)> done) override;

 private:
  using Done = std::function<void(api::WebhookTestOutcome)>;
  void Start(const domain::Notification& notification, const Done& done);

  const base::Clock& clock_;
  OutsideCalls calls_;
  delivery::Sender sender_;
};

}  // namespace vedette::app
