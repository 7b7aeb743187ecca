#include "app/webhook_test.h"

#include <utility>

#include "config/config.h"

namespace vedette::app {

WebhookTest::WebhookTest(base::EventLoop& loop, store::Pool& pool, const base::Clock& clock,
                         const config::Config& config, base::Logger log)
    : clock_(clock),
      calls_(loop, config.net, config.delivery.tests_in_flight_max),
      sender_(loop, pool, calls_.client(), clock, config, log) {}

void WebhookTest::Test(api::WebhookTestTarget target, Done done) {
  domain::Notification n;
  n.delivery_id = base::Uuid::V4();
  n.org_id = target.org_id;
  n.event_group_id = base::Uuid::V4();
  n.type = domain::NotificationType::kTest;
  n.created_at = clock_.Now();
  n.url = std::move(target.url);
  // The test notification is about the monitor itself.
  n.about =
      domain::CheckNotice{target.monitor_id, target.monitor_id, std::move(target.metadata_json)};
  const base::Uuid org_id = n.org_id;
  calls_.Begin(org_id, [this, n = std::move(n), done = std::move(done)](OutsideCalls::Place place) {
    if (place == OutsideCalls::Place::kTaken) return Start(n, done);
    using Refusal = api::WebhookTestOutcome::Refusal;
    api::WebhookTestOutcome refused;
    refused.refusal =
        place == OutsideCalls::Place::kAllTaken ? Refusal::kAll : Refusal::kOrganisation;
    done(std::move(refused));
  });
}

void WebhookTest::Start(const domain::Notification& n, const Done& done) {
  sender_.Send(n, 1, [this, done, org_id = n.org_id](delivery::SendResult result) {
    calls_.End(org_id);
    api::WebhookTestOutcome outcome;
    outcome.delivered = !result.error;
    outcome.status_code = result.status_code;
    outcome.error = std::move(result.error);
    outcome.duration_ms =
        std::chrono::duration_cast<std::chrono::milliseconds>(result.duration).count();
    done(std::move(outcome));
  });
}

}  // namespace vedette::app
