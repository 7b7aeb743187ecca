#include "worker/blocks/find_email_block.h"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include "config/lookup_config.h"
#include "worker/blocks/find_email_runner.h"
#include "worker/blocks/lookup_row.h"

namespace vedette::worker {
FindEmailBlock::FindEmailBlock(base::EventLoop& loop, const base::Clock& clock,
                               metrics::Metrics& metrics, ProviderSet& providers,
                               EmailMemory& memory, const config::LookupsConfig& config,
                               Verifiers verifiers)
    : loop_(loop),
      clock_(clock),
      metrics_(metrics),
      providers_(providers),
      memory_(memory),
      config_(config),
      verifiers_(std::move(verifiers)),
      turns_(loop) {}

std::variant<std::shared_ptr<RowRunner>, std::string> FindEmailBlock::Bind(
    const std::string& specs_json, std::int64_t price_mc) {
  domain::FindRequest request;
  try {
    request = domain::ReadFindRequest(specs_json);
  } catch (const std::invalid_argument&) {
    return "The stored request of the lookup cannot be read.";
  }
  const std::vector<std::string>& configured = request.mode == domain::FindMode::kProfessional
                                                   ? config_.find_email
                                                   : config_.find_email_personal;
  auto order = Distinct(request.providers.empty() ? configured : request.providers);
  const FindEmailRunner::Dependencies deps{
      loop_,
      clock_,
      metrics_,
      providers_,
      memory_,
      turns_,
      request.verify_emails ? verifiers_.whole : verifiers_.by_dns,
      Distinct(config_.company_domain),
      static_cast<std::size_t>(config_.candidates_max)};
  return std::make_shared<FindEmailRunner>(deps, std::move(request), std::move(order), price_mc);
}

}  // namespace vedette::worker
