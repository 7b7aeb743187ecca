#pragma once

#include <functional>
#include <memory>

#include "base/clock.h"
#include "config/config_fwd.h"
#include "worker/probes/llm_probe.h"
#include "worker/probes/probe.h"
#include "worker/probes/web_probe.h"

namespace vedette::worker {

// Kind web with a model: selectors stay with the web probe, fields in prose go to the model
// together with the text of the same page, fetched once. A page that cannot be read fails the check
// as it does for the web probe; only a row that names no page at all, with prose alone, goes to the
// model without one. Fails as either does. Loop thread only.
class MixedProbe final : public Probe {
 public:
  MixedProbe(WebProbe& web, LlmProbe& model, const base::Clock& clock,
             const config::ProbeConfig& config);
  ~MixedProbe() override;  // callbacks of what is under way are dropped
  void Start(ProbeRequest request, std::function<void(ProbeResult)> done) override;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace vedette::worker
