#pragma once

#include <functional>
#include <map>
#include <memory>

#include "api/tenant/outgoing.h"
#include "app/outside_calls.h"
#include "app/probe_set.h"
#include "base/clock.h"
#include "base/event_loop.h"
#include "base/fair_share.h"
#include "base/uuid.h"
#include "config/config_fwd.h"
#include "delivery/sender.h"
#include "lease/live.h"
#include "store/session.h"
#include "worker/probes/web_probe.h"

namespace vedette::app {

// The API's way to the web probe. [api] previews_in_flight_max rows are looked at at once;
// organisations share them (base/fair_share.h), and what is over a share is refused whole. Built
// and destroyed while the loop does not run; Serves and Preview on any thread. `probes` and
// `config` must outlive this object.
class MonitorPreview final : public api::Previewer {
 public:
  MonitorPreview(base::EventLoop& loop, ProbeSet& probes, const base::Clock& clock,
                 const config::Config& config);
  ~MonitorPreview() override;  // what is under way is not answered any more

  bool Serves(domain::Tier tier) const override;
  void Preview(api::PreviewRequest request, Done done) override;

 private:
  class Run;
  struct Pages {
    std::unique_ptr<worker::WebProbe> probe;
    const config::ProbeConfig& config;
  };

  void Start(const api::PreviewRequest& request, Done done);

  base::EventLoop& loop_;
  const base::Clock& clock_;
  const config::PreviewsConfig& config_;
  std::map<domain::Tier, Pages> tiers_;  // those that are served
  // Loop thread.
  base::FairShares<base::Uuid> rows_;
  const lease::Live live_;
};

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
