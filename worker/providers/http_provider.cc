#include "worker/providers/http_provider.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "config/lookup_config.h"
#include "worker/providers/lookup_protocol.h"
#include "worker/providers/lookup_turns.h"
#include "worker/providers/people_protocol.h"
#include "worker/services/service_call.h"

namespace vedette::worker {
namespace {

// The key of the row; one of its own where a row asks several questions: about the company's
// domain, and about each address that is verified.
base::Uuid KeyOf(const LookupRequest& request) {
  if (request.lookup == Lookup::kVerifyEmail) {
    return base::Uuid::V5(request.row_id, request.address);
  }
  if (request.lookup == Lookup::kCompanyDomain) {
    return base::Uuid::V5(request.row_id, LookupName(request.lookup));
  }
  return request.row_id;
}

}  // namespace

struct HttpProvider::Impl {
  Impl(base::EventLoop& loop, net::HttpClient& client, const ServiceBudgets& budgets,
       const base::Clock& k, std::string i, const config::HttpProviderConfig& c)
      : clock(k),
        id(std::move(i)),
        config(c),
        turns(loop, k, {c.in_flight_max},
              [this](LookupRequest request, LookupTurns::Done done) {
                Ask(std::move(request), std::move(done));
              }),
        caller(loop, client, budgets, k,
               {c.url, c.api_key, c.signing_secret, c.body_bytes_max, "lookup service"}) {}

  void Ask(LookupRequest request, LookupTurns::Done done);
  LookupAnswer Read(Lookup lookup, const std::string& body) const;

  const base::Clock& clock;
  const std::string id;
  const config::HttpProviderConfig config;
  LookupTurns turns;
  ServiceCaller caller;  // the last member: callbacks of what is under way end with it
};

void HttpProvider::Impl::Ask(LookupRequest request, LookupTurns::Done done) {
  request.timeout = std::min(request.timeout, config.timeout_ms);
  ServiceQuestion question;
  question.org_id = request.org_id;
  question.idempotency_key = KeyOf(request);
  question.timeout = request.timeout;
  question.room_wait_max = request.timeout;
  const Lookup lookup = request.lookup;
  const auto given = request.timeout;
  question.body = [request = std::move(request)] { return LookupBody(request); };
  caller.Ask(std::move(question), [this, lookup, given, done = std::move(done)](ServiceAnswer raw) {
    auto answer = JudgedByTime(std::move(raw), given, config.timeout_ms);
    if (auto* failure = std::get_if<domain::Failure>(&answer)) return done(std::move(*failure));
    done(Read(lookup, std::get<net::HttpResponse>(answer).body));
  });
}

LookupAnswer HttpProvider::Impl::Read(Lookup lookup, const std::string& body) const {
  switch (lookup) {
    case Lookup::kReverseEmail:
      return ParsePersonAnswer(body, config.trust);
    case Lookup::kVerifyAge:
      return ParseClaimsAnswer(body, id, config.trust);
    case Lookup::kVerifyEmail:
      return ParseVerdictAnswer(body, clock.Now());
    case Lookup::kCompanyDomain:
      return ParseDomainAnswer(body);
    case Lookup::kFindEmail:
      break;
  }
  return ParseLookupAnswer(body, config.trust);
}

HttpProvider::HttpProvider(base::EventLoop& loop, net::HttpClient& client,
                           const ServiceBudgets& budgets, const base::Clock& clock, std::string id,
                           const config::HttpProviderConfig& config)
    : impl_(std::make_unique<Impl>(loop, client, budgets, clock, std::move(id), config)) {}

HttpProvider::~HttpProvider() = default;

std::string_view HttpProvider::id() const {
  return impl_->id;
}

void HttpProvider::Start(LookupRequest request, std::function<void(LookupAnswer)> done) {
  impl_->turns.Start(std::move(request), std::move(done));
}

}  // namespace vedette::worker
