#include "app/lookup_once.h"

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "app/open_mail_book.h"
#include "app/probe_set.h"
#include "app/row_block_set.h"
#include "base/clock.h"
#include "base/event_loop.h"
#include "base/json.h"
#include "base/log.h"
#include "config/config.h"
#include "domain/email/found.h"
#include "domain/email/lead.h"
#include "domain/people/people_answer.h"
#include "domain/people/people_request.h"
#include "metrics/metrics.h"
#include "net/public_address.h"
#include "worker/blocks/row_runner.h"

namespace vedette::app {
namespace {

constexpr std::string_view kFindEmail = "find_email";

base::Json LeadOf(const LookupOnceOptions& options) {
  base::Json lead = base::Json::object();
  for (const auto& [key, value] : options.lead) lead[key] = value;
  std::optional<domain::LeadFault> fault;
  if (options.kind == kFindEmail) {
    const auto read = domain::ReadLead(lead);
    if (const auto* wrong = std::get_if<domain::LeadFault>(&read)) fault = *wrong;
  } else {
    const auto read = domain::ReadSubject(lead);
    if (const auto* wrong = std::get_if<domain::LeadFault>(&read)) fault = *wrong;
  }
  if (fault) {
    throw config::ConfigError(fmt::format("lookup: --lead{}{} {}", fault->key.empty() ? "" : " ",
                                          fault->key, fault->message));
  }
  return lead;
}

// What the block of such a job is told.
std::string SpecsOf(const config::Config& config, const LookupOnceOptions& options) {
  if (options.kind == kFindEmail) {
    domain::FindRequest request;
    request.mode = *domain::ParseFindMode(options.mode);
    request.providers = options.providers;
    return domain::FindSpecsJson(request);
  }
  domain::PeopleRequest request;
  request.providers = options.providers;
  request.minimum_age = config.lookups.minimum_result_age;
  return domain::PeopleSpecsJson(request);
}

worker::RowResult Work(const config::Config& config, const LookupOnceOptions& options,
                       const base::Json& lead) {
  const base::SystemClock clock;
  base::EventLoop loop;
  metrics::Metrics metrics(VEDETTE_VERSION);
  const net::AddressPolicy policy(config.net.allow);
  const base::Logger log(base::LogLevel::kOff, base::LogFormat::kText);
  ProbeSet probes(loop, clock, metrics, policy, config);
  RowBlockSet blocks(
      loop, clock, metrics, probes.service_client(), probes.service_budgets(), probes.sites(),
      {std::make_unique<worker::NoEmailMemory>(), std::make_unique<OpenMailServerMemory>(loop)},
      policy, config, {}, log);
  worker::RowBlock* block = nullptr;
  for (worker::RowBlock* one : blocks.all()) {
    if (one->type() == options.kind) block = one;
  }
  auto bound = block->Bind(SpecsOf(config, options), 0);
  if (const auto* why = std::get_if<std::string>(&bound)) throw config::ConfigError(*why);
  const auto runner = std::get<std::shared_ptr<worker::RowRunner>>(bound);
  worker::RowRequest request;
  request.row_id = base::Uuid::V4();
  request.job_id = base::Uuid::V4();
  request.cells = {base::DumpJson(domain::FindRowCell({lead}))};
  request.timeout = runner->RowTimeout().value_or(config.lookups.row_timeout_ms);
  request.may_wait = false;
  std::optional<worker::RowResult> result;
  loop.Post([&] {
    runner->Start(std::move(request), [&](worker::RowResult ended) {
      result = std::move(ended);
      loop.Stop();
    });
  });
  loop.Run();
  return std::move(*result);
}

}  // namespace

int LookupOnce(const config::Config& config, const LookupOnceOptions& options) {
  const base::Json lead = LeadOf(options);
  const worker::RowResult result = Work(config, options, lead);
  const auto* done = std::get_if<worker::RowDone>(&result);
  if (done == nullptr) {
    const auto* failure = std::get_if<worker::RowFailure>(&result);
    fmt::print(stderr, "vedette lookup: {}\n",
               failure == nullptr ? "It has to be asked again later." : failure->message);
    return 1;
  }
  base::Json answer = base::ParseJsonOrThrow(done->cells.front());
  if (options.kind == kFindEmail) answer = domain::MergeFound(lead, answer);
  answer["details"]["charged"] = false;
  fmt::print("{}\n", answer.dump(2, ' ', false, base::Json::error_handler_t::replace));
  return done->error ? 1 : 0;
}

}  // namespace vedette::app
