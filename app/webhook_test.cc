#include "app/webhook_test.h"

#include <utility>

namespace vedette::app {
namespace {

config::NetConfig OwnConnections(const config::Config& config) {
  config::NetConfig net = config.net;
  net.connections_max = config.delivery.tests_in_flight_max;
  return net;
}

}  // namespace

WebhookTest::WebhookTest(base::EventLoop& loop, store::Pool& pool, const base::Clock& clock,
                         const config::Config& config, base::Logger log)
    : loop_(loop),
      clock_(clock),
      client_(loop, OwnConnections(config)),
      sender_(loop, pool, client_, clock, config, log),
      under_way_(static_cast<std::size_t>(config.delivery.tests_in_flight_max),
                 base::kUsualReserve) {}

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
  loop_.Post([this, n = std::move(n), done = std::move(done)] { Start(n, done); });
}

void WebhookTest::Start(const domain::Notification& n, const Done& done) {
  if (!under_way_.MayTake(n.org_id)) {
    using Refusal = api::WebhookTestOutcome::Refusal;
    api::WebhookTestOutcome refused;
    refused.refusal = under_way_.held_by(n.org_id) == 0 ? Refusal::kAll : Refusal::kOrganisation;
    done(std::move(refused));
    return;
  }
  under_way_.Take(n.org_id);
  sender_.Send(n, 1, [this, done, org_id = n.org_id](delivery::SendResult result) {
    under_way_.GiveBack(org_id);
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
