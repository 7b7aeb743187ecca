#include "worker/providers/http_provider.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <variant>

#include "base/assert.h"
#include "base/fair_queue.h"
#include "pages/http_failure.h"
#include "worker/providers/lookup_protocol.h"
#include "worker/providers/people_protocol.h"
#include "worker/services/service_call.h"

namespace vedette::worker {

using std::chrono::milliseconds;

// A lookup waits in `waiting` until fewer than in_flight_max are asked, and is forgotten when it is
// answered:
//
//   Start --room--> asked --answer--> done
//     |              ^
//     +--no room--> waiting --its time ends--> done ("overloaded")
struct HttpProvider::Impl {
  using LookupId = std::uint64_t;

  struct Waiting {
    LookupRequest request;
    std::function<void(LookupAnswer)> done;
    std::chrono::nanoseconds deadline{};  // by Clock::SinceBoot
    std::unique_ptr<base::Timer> timer{};
  };

  Impl(base::EventLoop& l, net::HttpClient& client, const ServiceBudgets& budgets,
       const base::Clock& k, std::string i, const config::HttpProviderConfig& c)
      : loop(l),
        clock(k),
        id(std::move(i)),
        config(c),
        caller(l, client, budgets, k,
               {c.url, c.api_key, c.signing_secret, c.body_bytes_max, "lookup service"}) {}

  void Wait(LookupRequest request, std::function<void(LookupAnswer)> done);
  void OnTime(LookupId waiting_id);
  void Ask(LookupRequest request, std::function<void(LookupAnswer)> done);
  void OnAnswered();

  base::EventLoop& loop;
  const base::Clock& clock;
  const std::string id;
  const config::HttpProviderConfig config;

  int in_flight = 0;
  LookupId last_id = 0;
  std::unordered_map<LookupId, Waiting> waiting;
  base::FairQueue<base::Uuid, LookupId> turns;  // the keys of `waiting`, by organisation
  ServiceCaller caller;
};

void HttpProvider::Impl::Wait(LookupRequest request, std::function<void(LookupAnswer)> done) {
  const LookupId waiting_id = ++last_id;
  const base::Uuid org = request.org_id;
  Waiting entry;
  entry.deadline = clock.SinceBoot() + request.timeout;
  entry.timer = std::make_unique<base::Timer>(loop, [this, waiting_id] { OnTime(waiting_id); });
  entry.timer->Start(request.timeout);
  entry.request = std::move(request);
  entry.done = std::move(done);
  waiting.emplace(waiting_id, std::move(entry));
  turns.Push(org, waiting_id);
}

void HttpProvider::Impl::OnTime(LookupId waiting_id) {
  const auto it = waiting.find(waiting_id);
  base::Assert(it != waiting.end(), "a lookup that waits has a timer, and no other has one");
  const auto done = std::move(it->second.done);
  waiting.erase(it);
  turns.EraseIf([&](LookupId other) { return other == waiting_id; });
  done(pages::OverloadedFailure());
}

void HttpProvider::Impl::Ask(LookupRequest request, std::function<void(LookupAnswer)> done) {
  ++in_flight;
  request.timeout = std::min(request.timeout, config.timeout_ms);
  ServiceQuestion question;
  question.org_id = request.org_id;
  // A row may have several addresses verified, each of which is a question of its own.
  const bool verifies = request.lookup == Lookup::kVerifyEmail;
  question.idempotency_key =
      verifies ? base::Uuid::V5(request.row_id, request.address) : request.row_id;
  question.timeout = request.timeout;
  question.room_wait_max = request.timeout;
  const Lookup lookup = request.lookup;
  question.body = [request = std::move(request)] { return LookupBody(request); };
  caller.Ask(std::move(question), [this, lookup, done = std::move(done)](ServiceAnswer answer) {
    OnAnswered();
    if (auto* failure = std::get_if<domain::Failure>(&answer)) return done(std::move(*failure));
    const std::string& body = std::get<net::HttpResponse>(answer).body;
    if (lookup == Lookup::kReverseEmail) return done(ParsePersonAnswer(body, config.trust));
    if (lookup == Lookup::kVerifyAge) return done(ParseClaimsAnswer(body, id, config.trust));
    if (lookup == Lookup::kVerifyEmail) return done(ParseVerdictAnswer(body, clock.Now()));
    done(ParseLookupAnswer(body, config.trust));
  });
}

void HttpProvider::Impl::OnAnswered() {
  --in_flight;
  base::Assert(in_flight >= 0, "no more lookups are answered than were asked");
  while (in_flight < config.in_flight_max) {
    const auto next = turns.Pop();
    if (!next) return;
    auto node = waiting.extract(*next);
    base::Assert(!node.empty(), "what has a turn waits");
    Waiting& entry = node.mapped();
    if (!entry.request.MayCall()) {
      entry.done(domain::Failure{
          std::string(kLookupUnheld), "Nobody waits for the lookup any more.", true, {}});
      continue;
    }
    entry.request.timeout = std::max(
        std::chrono::floor<milliseconds>(entry.deadline - clock.SinceBoot()), milliseconds(1));
    Ask(std::move(entry.request), std::move(entry.done));
  }
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
  if (impl_->in_flight < impl_->config.in_flight_max) {
    impl_->Ask(std::move(request), std::move(done));
  } else {
    impl_->Wait(std::move(request), std::move(done));
  }
}

}  // namespace vedette::worker
