#pragma once

#include <memory>

#include "api/webhook_tester.h"
#include "base/clock.h"
#include "base/event_loop.h"
#include "config/config.h"
#include "delivery/sender.h"
#include "net/http_client.h"
#include "store/session.h"

namespace vedette::app {

// The API's way to the sender of deliveries. Built while the loop does not run; Test on any thread.
class WebhookTest final : public api::WebhookTester {
 public:
  WebhookTest(base::EventLoop& loop, store::Pool& pool, net::HttpClient& client,
              const base::Clock& clock, const config::Config& config)
      : loop_(loop), clock_(clock), sender_(loop, pool, client, clock, config) {}

  void Test(api::WebhookTestTarget target,
            std::function<void(api::WebhookTestOutcome)> done) override {
    domain::Notification n;
    n.delivery_id = base::Uuid::V4();
    n.org_id = target.org_id;
    n.monitor_id = target.monitor_id;
    n.row_id = target.monitor_id;  // the test notification is about the monitor itself
    n.event_group_id = base::Uuid::V4();
    n.type = domain::NotificationType::kTest;
    n.created_at = clock_.Now();
    n.url = std::move(target.url);
    n.metadata = std::move(target.metadata_json);
    loop_.Post([this, n = std::move(n), done = std::move(done)] {
      sender_.Send(n, 1, [done](delivery::SendResult result) {
        api::WebhookTestOutcome outcome;
        outcome.delivered = !result.error;
        outcome.status_code = result.status_code;
        outcome.error = std::move(result.error);
        outcome.duration_ms =
            std::chrono::duration_cast<std::chrono::milliseconds>(result.duration).count();
        done(std::move(outcome));
      });
    });
  }

 private:
  base::EventLoop& loop_;
  const base::Clock& clock_;
  delivery::Sender sender_;
};

}  // namespace vedette::app
