#include "app/row_block_set.h"

#include "worker/blocks/find_email_block.h"
#include "worker/blocks/null_block.h"
#include "worker/blocks/people_block.h"
#include "worker/providers/http_provider.h"
#include "worker/providers/local_part_provider.h"
#include "worker/providers/mail/smtp_verifier.h"
#include "worker/providers/null_provider.h"
#include "worker/providers/pattern_provider.h"
#include "worker/providers/stored_mail_book.h"
#include "worker/providers/website_provider.h"

namespace vedette::app {
namespace {

// Of one name in the DNS, its retries included.
constexpr std::chrono::seconds kMailNamesTimeout{15};

// The provider that verifies addresses; empty: none does. A process that asks no mail servers does
// not know "smtp", and says so (no_smtp_worker).
std::string VerifierOf(const config::Config& config) {
  return config.lookups.verifier == "none" ? std::string() : config.lookups.verifier;
}

}  // namespace

RowBlockSet::RowBlockSet(base::EventLoop& loop, const base::Clock& clock, metrics::Metrics& metrics,
                         net::HttpClient& client, const worker::ServiceBudgets& budgets,
                         pages::Fetcher& sites, store::Pool& pool, const net::AddressPolicy& policy,
                         const config::Config& config, const worker::TierProbes& probes,
                         const base::Logger& log)
    : memory_(pool, loop), providers_(clock, metrics, log, config.providers) {
  providers_.Add(std::make_unique<worker::StoreProvider>(memory_));
  providers_.Add(std::make_unique<worker::WebsiteProvider>(clock, sites, config.email));
  providers_.Add(std::make_unique<worker::PatternProvider>(
      memory_, static_cast<std::size_t>(config.lookups.guesses_max)));
  providers_.Add(std::make_unique<worker::NullProvider>(loop));
  providers_.Add(std::make_unique<worker::LocalPartProvider>());
  for (const auto& [id, provider] : config.providers.http) {
    providers_.Add(
        std::make_unique<worker::HttpProvider>(loop, client, budgets, clock, id, provider));
  }
  if (!config.smtp.hello_name.empty()) {
    mail_names_ = std::make_unique<net::Resolver>(loop, config.net.dns_servers, kMailNamesTimeout,
                                                  net::NameSources::kDnsOnly);
    mail_book_ = std::make_unique<worker::StoredMailBook>(loop, pool);
    providers_.Add(std::make_unique<worker::SmtpVerifier>(
        loop, clock, metrics, policy, config, *mail_book_, worker::NamesOf(*mail_names_)));
  }
  blocks_.push_back(std::make_unique<worker::FindEmailBlock>(
      loop, clock, metrics, providers_, memory_, config.lookups, VerifierOf(config)));
  for (const auto question :
       {domain::PeopleQuestion::kReverseEmail, domain::PeopleQuestion::kVerifyAge}) {
    blocks_.push_back(std::make_unique<worker::PeopleBlock>(question, loop, clock, metrics,
                                                            providers_, memory_, config.lookups));
  }
  for (const auto type : {domain::SubjectType::kLead, domain::SubjectType::kCompany}) {
    blocks_.push_back(std::make_unique<worker::EnrichBlock>(type, clock, probes));
  }
  blocks_.push_back(std::make_unique<worker::NullBlock>(loop, clock));
}

std::vector<worker::RowBlock*> RowBlockSet::all() const {
  std::vector<worker::RowBlock*> blocks;
  blocks.reserve(blocks_.size());
  for (const auto& block : blocks_) blocks.push_back(block.get());
  return blocks;
}

}  // namespace vedette::app
