#include "worker/providers/http_provider.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <variant>

#include "base/assert.h"
#include "config/lookup_config.h"
#include "html/http_failure.h"
#include "worker/providers/lookup_protocol.h"
#include "worker/services/service_call.h"

namespace vedette::worker {

using std::chrono::milliseconds;

LookupTurns::LookupTurns(base::EventLoop& loop, const base::Clock& clock, Limits limits, Ask ask)
    : loop_(loop), clock_(clock), limits_(limits), ask_(std::move(ask)), next_turn_(loop, [this] {
        GiveTurns();
      }) {}

LookupTurns::~LookupTurns() = default;

int LookupTurns::Places(bool waited) const {
  const int all = limits_.in_flight_max;
  if (waited) return all;
  return std::max(all - static_cast<int>(std::floor(all * kPlacesKeptForWaited)), 1);
}

bool LookupTurns::HasTurn(bool waited) const {
  return in_flight_ < Places(waited) && clock_.SinceBoot() >= next_start_;
}

LookupTurns::Turns* LookupTurns::NextTurns() {
  for (const bool waited : {true, false}) {
    if (!TurnsOf(waited).empty() && HasTurn(waited)) return &TurnsOf(waited);
  }
  return nullptr;
}

void LookupTurns::Start(LookupRequest request, Done done) {
  const bool waited = request.waited;
  if (TurnsOf(waited).empty() && HasTurn(waited)) {
    return Run(std::move(request), std::move(done));
  }
  const WaitId id = ++last_id_;
  const base::Uuid org = request.org_id;
  Waiting entry;
  entry.deadline = clock_.SinceBoot() + request.timeout;
  entry.timer = std::make_unique<base::Timer>(loop_, [this, id] { OnTime(id); });
  entry.timer->Start(request.timeout);
  entry.request = std::move(request);
  entry.done = std::move(done);
  waiting_.emplace(id, std::move(entry));
  TurnsOf(waited).Push(org, id);
  GiveTurns();
}

void LookupTurns::OnTime(WaitId id) {
  const auto it = waiting_.find(id);
  base::Assert(it != waiting_.end(), "a lookup that waits has a timer, and no other has one");
  const auto done = std::move(it->second.done);
  Turns& turns = TurnsOf(it->second.request.waited);
  waiting_.erase(it);
  turns.EraseIf([&](WaitId other) { return other == id; });
  done(html::OverloadedFailure());
}

void LookupTurns::Run(LookupRequest request, Done done) {
  ++in_flight_;
  next_start_ = clock_.SinceBoot() + limits_.gap;
  ask_(std::move(request), [this, done = std::move(done)](LookupAnswer answer) {
    --in_flight_;
    base::Assert(in_flight_ >= 0, "no more lookups are answered than were asked");
    GiveTurns();
    done(std::move(answer));
  });
}

void LookupTurns::GiveTurns() {
  while (Turns* turns = NextTurns()) {
    const auto next = turns->Pop();
    base::Assert(next.has_value(), "what waits has a turn to come");
    auto node = waiting_.extract(*next);
    Waiting& entry = node.mapped();
    if (!entry.request.may_call()) {
      entry.done(LookupUnheld());
      continue;
    }
    entry.request.timeout = std::max(
        std::chrono::floor<milliseconds>(entry.deadline - clock_.SinceBoot()), milliseconds(1));
    Run(std::move(entry.request), std::move(entry.done));
  }
  // An answer gives the next turn, where it is not the gap that holds them up.
  const auto wait = next_start_ - clock_.SinceBoot();
  if (!waiting_.empty() && wait.count() > 0) {
    next_turn_.Start(std::chrono::ceil<milliseconds>(wait));
  }
}

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
  question.on_turn = [may_call = request.may_call](milliseconds) { return may_call(); };
  const Lookup lookup = request.lookup;
  const auto given = request.timeout;
  question.body = [request = std::move(request)] { return LookupBody(request); };
  caller.Ask(std::move(question), [this, lookup, given, done = std::move(done)](ServiceAnswer raw) {
    auto answer = ClassifyTimeout(std::move(raw), given, config.timeout_ms);
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
