#include "app/service/delivery_role.h"

#include <optional>
#include <utility>

#include "app/service/drain_parts.h"
#include "config/config.h"
#include "config/net_config.h"

namespace vedette::app {
namespace {

// The worker's way to the deliverer of the same process.
class DelivererSink final : public worker::NotificationSink {
 public:
  explicit DelivererSink(delivery::Deliverer& deliverer) : deliverer_(deliverer) {}
  std::optional<base::Uuid> Reserve(const base::Uuid& org_id,
                                    const base::Uuid& endpoint_id) override {
    return deliverer_.Reserve(org_id, endpoint_id);
  }
  void Take(domain::Notification notification, const base::Uuid& lease_token) override {
    deliverer_.Take(std::move(notification), lease_token);
  }
  void Cancel(const base::Uuid& endpoint_id) override { deliverer_.CancelReserved(endpoint_id); }

 private:
  delivery::Deliverer& deliverer_;
};

}  // namespace

DeliveryRole::DeliveryRole(const Core& core, store::Pool& pool) : loop_(core.loop) {
  config::NetConfig connections = core.config.net;  // as many as the deliverer may have under way
  connections.connections_max =
      core.config.delivery.in_flight_max + core.config.delivery.slow_in_flight_max;
  client_ = std::make_unique<net::HttpClient>(loop_, connections);
  deliverer_ = std::make_unique<delivery::Deliverer>(
      loop_, pool, *client_, core.clock, core.metrics, core.config, core.log.For("delivery"));
  sink_ = std::make_unique<DelivererSink>(*deliverer_);
  core.signals.Listen(store::Signal::kDelivery,
                      [this] { loop_.Post([this] { deliverer_->Wake(); }); });
}

void DeliveryRole::Start() {
  deliverer_->Start();
}

void DeliveryRole::Drain() {
  DrainParts(loop_, deliverer_.get());
}

}  // namespace vedette::app
