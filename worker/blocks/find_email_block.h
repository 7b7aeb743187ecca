#pragma once

#include <string>

#include "base/clock.h"
#include "base/event_loop.h"
#include "config/config_fwd.h"
#include "metrics/metrics.h"
#include "worker/blocks/row_runner.h"
#include "worker/providers/domain_turns.h"
#include "worker/providers/email_memory.h"
#include "worker/providers/provider_set.h"

namespace vedette::worker {

// The block "find_email": one lead in, one cell out (domain/email/found.h). Its specs are those of
// FindSpecsJson, its rows those of FindRowCell (domain/email/find_request.h). What it does to a row
// stands in find_email_runner.h.
class FindEmailBlock final : public RowBlock {
 public:
  // The ids of the providers that verify addresses; empty: none does.
  struct Verifiers {
    std::string whole;     // where the client wants addresses that are verified
    std::string by_dns{};  // otherwise: it drops those that no server can have
  };

  // Everything handed in must outlive this object and its runners.
  FindEmailBlock(base::EventLoop& loop, const base::Clock& clock, metrics::Metrics& metrics,
                 ProviderSet& providers, EmailMemory& memory, const config::LookupsConfig& config,
                 Verifiers verifiers);

  std::string_view type() const override { return "find_email"; }
  std::variant<std::shared_ptr<RowRunner>, std::string> Bind(const std::string& specs_json,
                                                             std::int64_t price_mc) override;

 private:
  base::EventLoop& loop_;
  const base::Clock& clock_;
  metrics::Metrics& metrics_;
  ProviderSet& providers_;
  EmailMemory& memory_;
  const config::LookupsConfig& config_;
  const Verifiers verifiers_;
  DomainTurns turns_;
};

}  // namespace vedette::worker
