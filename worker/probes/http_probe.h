#pragma once

#include <memory>

#include "base/clock.h"
#include "base/event_loop.h"
#include "config/config_fwd.h"
#include "net/http_client.h"
#include "worker/probes/probe.h"
#include "worker/services/request_room.h"

namespace vedette::worker {

// Your own research service (docs/probes.md): POST of the check, 200 with values, or 202
// with a Location of the same origin, polled until 200 within the timeout. The service's URL is the
// operator's: exempt from G9, never redirected. What is asked and what is answered count in
// `budgets`. Its failures:
//   dns, connect, tls, timeout, http_status, protocol, invalid_answer, body_too_large, overloaded
class HttpProbe final : public Probe {
 public:
  HttpProbe(base::EventLoop& loop, net::HttpClient& client, const ServiceBudgets& budgets,
            const base::Clock& clock, const config::ProbeConfig& config);
  ~HttpProbe() override;  // callbacks of what is under way are dropped
  void Start(ProbeRequest request, std::function<void(ProbeResult)> done) override;
  bool ReadsSubject() const override { return false; }

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vedette::worker
