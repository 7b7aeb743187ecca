#include "app/probe_set.h"

#include <utility>

#include "worker/probes/http_probe.h"
#include "worker/probes/llm_probe.h"
#include "worker/probes/mixed_probe.h"
#include "worker/probes/null_probe.h"
#include "worker/probes/web_probe.h"

namespace vedette::app {
namespace {

// Pages waiting to be parsed; over it a check is told `overloaded` and tried again.
constexpr std::size_t kParseQueueMax = 10000;

config::NetConfig WithPerHostMax(config::NetConfig net, int per_host_max) {
  net.connections_per_host_max = per_host_max;
  return net;
}

}  // namespace

ProbeSet::ProbeSet(base::EventLoop& loop, const base::Clock& clock, metrics::Metrics& metrics,
                   const net::AddressPolicy& policy, const config::Config& config)
    : loop_(loop),
      clock_(clock),
      metrics_(metrics),
      policy_(policy),
      net_(config.net),
      // Tenants' pages: polite. The operator's own services and models: as many as wanted.
      page_client_(loop, WithPerHostMax(config.net, config.worker.per_host_max),
                   config.worker.per_host_gap_ms),
      research_client_(loop, WithPerHostMax(config.net, config.net.connections_max)),
      parse_pool_("parse", static_cast<std::size_t>(config.worker.probe_threads), kParseQueueMax),
      memory_(config.worker.pages_remembered_bytes_max) {
  for (const auto& [name, probe] : config.probes) {
    tiers_[*domain::ParseTier(name)] = {probe.kind, Build(probe), probe};
  }
}

template <typename Probe, typename... Args>
Probe* ProbeSet::Own(Args&&... args) {
  auto probe = std::make_unique<Probe>(std::forward<Args>(args)...);
  Probe* raw = probe.get();
  owned_.push_back(std::move(probe));
  return raw;
}

worker::Probe* ProbeSet::Build(const config::ProbeConfig& probe) {
  const auto web = [&] {
    return Own<worker::WebProbe>(loop_, page_client_, parse_pool_, policy_, memory_, probe, net_);
  };
  const auto model = [&](worker::WebProbe* pages) {
    return Own<worker::LlmProbe>(research_client_, clock_, metrics_, probe, pages);
  };
  if (probe.kind == "http") {
    return Own<worker::HttpProbe>(loop_, research_client_, clock_, probe);
  }
  if (probe.kind == "llm") return model(web());
  if (probe.kind == "web" && probe.model.empty()) return web();
  if (probe.kind == "web") {
    worker::WebProbe* pages = web();
    return Own<worker::MixedProbe>(*pages, *model(pages), clock_, probe);
  }
  return Own<worker::NullProbe>(probe.change_share);  // the configuration knows no other kind
}

}  // namespace vedette::app
