#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/event_loop.h"
#include "base/log.h"
#include "config/config_fwd.h"
#include "html/fetch.h"
#include "metrics/metrics.h"
#include "net/http_client.h"
#include "net/public_address.h"
#include "net/resolver.h"
#include "store/session.h"
#include "worker/blocks/enrich_block.h"
#include "worker/blocks/row_runner.h"
#include "worker/providers/email_memory.h"
#include "worker/providers/mail/mail_server_memory.h"
#include "worker/providers/provider_set.h"
#include "worker/services/request_room.h"

namespace vedette::app {

// What the blocks remember beyond a row.
struct LookupKnowledge {
  std::unique_ptr<worker::EmailMemory> memory;
  std::unique_ptr<worker::MailServerMemory> mail_servers;
};

// The blocks of jobs that this binary has, with the providers that they ask. Lives on `loop`; built
// and destroyed while it does not run, or on it. Everything handed in must outlive this object.
class RowBlockSet {
 public:
  // `client` and `budgets` are those with which the process asks the operator's own services;
  // `sites` reads companies' pages, `pool` is where organisations' knowledge is kept, and `policy`
  // says which mail servers it may ask. `probes` research the rows of workflows.
  RowBlockSet(base::EventLoop& loop, const base::Clock& clock, metrics::Metrics& metrics,
              net::HttpClient& client, const worker::ServiceBudgets& budgets, html::Fetcher& sites,
              store::Pool& pool, const net::AddressPolicy& policy, const config::Config& config,
              const worker::TierProbes& probes, const base::Logger& log);
  // The same with other knowledge than a database's.
  RowBlockSet(base::EventLoop& loop, const base::Clock& clock, metrics::Metrics& metrics,
              net::HttpClient& client, const worker::ServiceBudgets& budgets, html::Fetcher& sites,
              LookupKnowledge knowledge, const net::AddressPolicy& policy,
              const config::Config& config, const worker::TierProbes& probes,
              const base::Logger& log);

  std::vector<worker::RowBlock*> all() const;

  // The providers that fail in this process, as store::Member has it. Loop thread.
  std::string AilingProvidersJson() const;

 private:
  void AddPeopleSources(base::EventLoop& loop, const base::Clock& clock, net::HttpClient& client,
                        const worker::ServiceBudgets& budgets, html::Fetcher& sites,
                        const config::Config& config);

  const LookupKnowledge knowledge_;
  net::Resolver names_;  // the DNS alone
  worker::ProviderSet providers_;
  std::vector<std::unique_ptr<worker::RowBlock>> blocks_;
};

}  // namespace vedette::app
