#include "app/row_block_set.h"

#include <utility>

#include "base/json.h"
#include "config/database_config.h"
#include "config/lookup_config.h"
#include "config/net_config.h"
#include "config/parts.h"
#include "domain/email/finders.h"
#include "worker/blocks/find_email.h"
#include "worker/blocks/investigate_block.h"
#include "worker/blocks/lookup_block.h"
#include "worker/blocks/people_block.h"
#include "worker/blocks/row_runner.h"
#include "worker/providers/dns_expander.h"
#include "worker/providers/email_memory.h"
#include "worker/providers/http_provider.h"
#include "worker/providers/llm_provider.h"
#include "worker/providers/lookup_expanders.h"
#include "worker/providers/mail/verifiers.h"
#include "worker/providers/pattern_provider.h"
#include "worker/providers/provider.h"
#include "worker/providers/recipe_provider.h"
#include "worker/providers/registry_expander.h"
#include "worker/providers/reverse_providers.h"
#include "worker/providers/site_expander.h"
#include "worker/providers/site_providers.h"
#include "worker/providers/wikidata_provider.h"

namespace vedette::app {
namespace {

// A process that asks no mail servers does not know "smtp", and says so (no_smtp_worker).
worker::FindEmailBlock::Verifiers VerifiersOf(const config::Config& config) {
  const std::string& whole = config.lookups.verifier;
  return {whole == "none" ? std::string() : whole, std::string(domain::kDnsVerifier)};
}

// What looks at the subjects of investigations, in the configured order.
std::vector<std::unique_ptr<worker::Expander>> ExpandersOf(
    const config::Config& config, const base::Clock& clock, net::Resolver* names,
    html::Fetcher& sites, worker::ProviderSet& providers, worker::EmailMemory& memory) {
  std::vector<std::unique_ptr<worker::Expander>> expanders;
  for (const std::string& id : config.investigations.providers) {
    if (id == worker::DnsExpander::kId) {
      expanders.push_back(std::make_unique<worker::DnsExpander>(worker::NamesOf(names)));
    }
    if (id == worker::SiteExpander::kId) {
      expanders.push_back(std::make_unique<worker::SiteExpander>(clock, sites, config.email));
    }
    if (id == worker::LookupExpander::kId) {
      expanders.push_back(std::make_unique<worker::LookupExpander>(providers, memory,
                                                                   config.lookups.reverse_email));
      expanders.push_back(
          std::make_unique<worker::CompanyExpander>(providers, config.lookups.company_domain));
    }
    if (id == worker::RegistryExpander::kRdap) {
      expanders.push_back(std::make_unique<worker::RegistryExpander>(
          sites, worker::RdapRegistry(config.investigations.rdap_url)));
    }
    if (id == worker::RegistryExpander::kCertificates) {
      expanders.push_back(std::make_unique<worker::RegistryExpander>(
          sites, worker::CertificateRegistry(config.investigations.ct_url)));
    }
  }
  return expanders;
}

}  // namespace

RowBlockSet::RowBlockSet(base::EventLoop& loop, const base::Clock& clock, metrics::Metrics& metrics,
                         net::HttpClient& client, const worker::ServiceBudgets& budgets,
                         html::Fetcher& sites, store::Pool& pool, const net::AddressPolicy& policy,
                         const config::Config& config, const worker::TierProbes& probes,
                         const base::Logger& log)
    : RowBlockSet(loop, clock, metrics, client, budgets, sites,
                  {std::make_unique<worker::StoredEmailMemory>(pool, loop),
                   std::make_unique<worker::StoredMailServerMemory>(loop, pool)},
                  policy, config, probes, log) {}

RowBlockSet::RowBlockSet(base::EventLoop& loop, const base::Clock& clock, metrics::Metrics& metrics,
                         net::HttpClient& client, const worker::ServiceBudgets& budgets,
                         html::Fetcher& sites, LookupKnowledge knowledge,
                         const net::AddressPolicy& policy, const config::Config& config,
                         const worker::TierProbes& probes, const base::Logger& log)
    : knowledge_(std::move(knowledge)),
      names_(loop, config.net.dns_servers, net::kNamesTimeout, net::NameSources::kDnsOnly),
      providers_(clock, metrics, log, config.providers) {
  worker::EmailMemory& memory = *knowledge_.memory;
  worker::MailServerMemory& mail_servers = *knowledge_.mail_servers;
  providers_.Add(std::make_unique<worker::StoreProvider>(memory));
  providers_.Add(std::make_unique<worker::WebsiteProvider>(clock, sites, config.email));
  providers_.Add(std::make_unique<worker::PatternProvider>(
      memory, static_cast<std::size_t>(config.lookups.guesses_max)));
  if (config.testing.null_provider) providers_.Add(std::make_unique<worker::NullProvider>(loop));
  AddPeopleSources(loop, clock, client, budgets, sites, config);
  for (const auto& [id, provider] : config.providers.http) {
    providers_.Add(
        std::make_unique<worker::HttpProvider>(loop, client, budgets, clock, id, provider));
  }
  for (const auto& [id, recipe] : config.providers.recipes) {
    providers_.Add(std::make_unique<worker::RecipeProvider>(loop, client, budgets, clock, *recipe));
  }
  providers_.Add(
      std::make_unique<worker::DnsVerifier>(loop, clock, mail_servers, worker::NamesOf(names_)));
  if (!config.smtp.hello_name.empty()) {
    providers_.Add(std::make_unique<worker::SmtpVerifier>(loop, clock, metrics, policy, config,
                                                          mail_servers, worker::NamesOf(names_)));
  }
  blocks_.push_back(std::make_unique<worker::FindEmailBlock>(
      loop, clock, metrics, providers_, memory, config.lookups, VerifiersOf(config)));
  for (const auto question :
       {domain::PeopleQuestion::kReverseEmail, domain::PeopleQuestion::kVerifyAge}) {
    blocks_.push_back(std::make_unique<worker::PeopleBlock>(question, loop, clock, metrics,
                                                            providers_, memory, config.lookups));
  }
  blocks_.push_back(std::make_unique<worker::InvestigateBlock>(
      clock, metrics, memory, ExpandersOf(config, clock, &names_, sites, providers_, memory)));
  for (const auto type : {domain::SubjectType::kLead, domain::SubjectType::kCompany}) {
    blocks_.push_back(std::make_unique<worker::EnrichBlock>(type, clock, probes));
  }
  blocks_.push_back(std::make_unique<worker::NullBlock>(loop, clock));
  for (auto& block : worker::LookupBlocks(all())) blocks_.push_back(std::move(block));
}

// Third parties are among them only where the configuration says so.
void RowBlockSet::AddPeopleSources(base::EventLoop& loop, const base::Clock& clock,
                                   net::HttpClient& client, const worker::ServiceBudgets& budgets,
                                   html::Fetcher& sites, const config::Config& config) {
  providers_.Add(std::make_unique<worker::LocalPartProvider>());
  providers_.Add(std::make_unique<worker::WkdProvider>(clock, sites));
  providers_.Add(std::make_unique<worker::PagesProvider>(clock, sites, config.email));
  if (config.age.wikidata) {
    providers_.Add(std::make_unique<worker::WikidataProvider>(clock, sites, config.age));
  }
  if (!config.gravatar.url.empty()) {
    providers_.Add(std::make_unique<worker::GravatarProvider>(
        client, budgets, clock, config.gravatar, config.net.user_agent));
  }
  for (const auto& [id, model] : config.providers.llm) {
    providers_.Add(std::make_unique<worker::LlmProvider>(loop, client, budgets, clock, sites, id,
                                                         model, config.email));
  }
}

std::vector<worker::RowBlock*> RowBlockSet::all() const {
  std::vector<worker::RowBlock*> blocks;
  blocks.reserve(blocks_.size());
  for (const auto& block : blocks_) blocks.push_back(block.get());
  return blocks;
}

std::string RowBlockSet::AilingProvidersJson() const {
  base::Json json = base::Json::array();
  for (const worker::AilingProvider& one : providers_.Ailing()) {
    json.push_back({{"id", one.id}, {"failures", one.failures}, {"left_out", one.left_out}});
  }
  return base::DumpJson(json);
}

}  // namespace vedette::app
