#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "base/clock.h"
#include "base/event_loop.h"
#include "config/config_fwd.h"
#include "metrics/metrics.h"
#include "net/http_client.h"
#include "pages/page_reading.h"
#include "worker/probes/probe.h"
#include "worker/probes/web_probe.h"
#include "worker/services/request_room.h"

namespace vedette::worker {

// A language model behind an OpenAI-compatible /chat/completions (docs/probes.md), whose answer has
// to fit a schema made of the watched fields. Loop thread only. An answer that does not is asked
// for once more, with what was wrong. The model's URL is the operator's: exempt from G9, never
// redirected. What is asked and what is answered count in `budgets`. Its failures:
//   dns, connect, tls, timeout, http_status, protocol, body_too_large, invalid_answer, refusal,
//   overloaded
class LlmProbe final : public Probe {
 public:
  // `pages` fetches what the model is given of the row's page, up to config.page_text_bytes_max;
  // null: nothing.
  LlmProbe(base::EventLoop& loop, net::HttpClient& client, const ServiceBudgets& budgets,
           const base::Clock& clock, metrics::Metrics& metrics, const config::ProbeConfig& config,
           WebProbe* pages);
  ~LlmProbe() override;  // callbacks of what is under way are dropped

  // Reads the row's page first, within half of the timeout; without one, or where it cannot be
  // read, the model is asked all the same.
  void Start(ProbeRequest request, std::function<void(ProbeResult)> done) override;

  // With a page that is read already, or none.
  void Ask(ProbeRequest request, std::optional<pages::PageText> page,
           std::function<void(ProbeResult)> done);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace vedette::worker
