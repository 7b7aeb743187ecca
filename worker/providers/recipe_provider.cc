#include "worker/providers/recipe_provider.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <variant>

#include "pages/http_failure.h"
#include "worker/providers/lookup_turns.h"
#include "worker/providers/recipe_protocol.h"
#include "worker/services/attempt_time.h"

namespace vedette::worker {
namespace {

using std::chrono::milliseconds;

Lookup LookupOf(domain::RecipeLookup lookup) {
  switch (lookup) {
    case domain::RecipeLookup::kVerifyEmail:
      return Lookup::kVerifyEmail;
    case domain::RecipeLookup::kCompanyDomain:
      return Lookup::kCompanyDomain;
    case domain::RecipeLookup::kReverseEmail:
      return Lookup::kReverseEmail;
    case domain::RecipeLookup::kVerifyAge:
      return Lookup::kVerifyAge;
    case domain::RecipeLookup::kFindEmail:
      break;
  }
  return Lookup::kFindEmail;
}

milliseconds GapOf(const domain::Recipe& recipe) {
  if (recipe.request.per_minute == 0) return milliseconds(0);
  return milliseconds(std::chrono::minutes(1)) / recipe.request.per_minute;
}

}  // namespace

struct RecipeProvider::Impl : std::enable_shared_from_this<RecipeProvider::Impl> {
  using CallId = std::uint64_t;

  // One lookup that is asked; the question is made again for each time that it is asked.
  struct Call {
    LookupRequest request;
    LookupTurns::Done done;
    AttemptTime time;
    std::unique_ptr<base::Timer> timer;  // of the wait before it is asked again
  };

  Impl(base::EventLoop& l, net::HttpClient& c, const ServiceBudgets& b, const base::Clock& k,
       const domain::Recipe& r)
      : loop(l),
        client(c),
        budgets(b),
        clock(k),
        recipe(r),
        turns(l, k, {r.request.in_flight_max, GapOf(r)},
              [this](LookupRequest request, LookupTurns::Done done) {
                Ask(std::move(request), std::move(done));
              }) {}

  bool Serves(const LookupRequest& request) const;
  void Ask(LookupRequest request, LookupTurns::Done done);
  void Send(CallId id);
  void OnResponse(CallId id, const net::HttpResponse& response);
  void AskAgain(CallId id, milliseconds wait);
  void Finish(CallId id, LookupAnswer answer);

  base::EventLoop& loop;
  net::HttpClient& client;
  const ServiceBudgets budgets;
  const base::Clock& clock;
  const domain::Recipe recipe;
  LookupTurns turns;
  std::unordered_map<CallId, Call> calls;
  CallId last_id = 0;
};

bool RecipeProvider::Impl::Serves(const LookupRequest& request) const {
  if (request.lookup != LookupOf(recipe.lookup)) return false;
  return request.lookup != Lookup::kFindEmail || recipe.Finds(request.mode);
}

void RecipeProvider::Impl::Ask(LookupRequest request, LookupTurns::Done done) {
  const milliseconds timeout = std::min(request.timeout, recipe.request.timeout);
  const CallId id = ++last_id;
  Call call;
  call.request = std::move(request);
  call.done = std::move(done);
  call.time = AttemptTime(clock.SinceBoot(), timeout);
  calls.emplace(id, std::move(call));
  Send(id);
}

void RecipeProvider::Impl::Send(CallId id) {
  const Call& call = calls.at(id);
  auto question = RecipeQuestion(recipe, call.request);
  // Start has found that there is one.
  if (!question) return Finish(id, Nothing{});
  question->headers.emplace_back("Accept", "application/json");
  question->trust = net::Trust::kOperator;
  question->org = call.request.org_id;
  question->timeout = call.time.Timeout(clock.SinceBoot());
  question->budget = &budgets.answers;
  question->body_bytes_max = recipe.request.body_bytes_max;
  client.Send(std::move(*question), [id, weak = weak_from_this()](net::HttpResponse response) {
    if (const auto self = weak.lock()) self->OnResponse(id, response);
  });
}

void RecipeProvider::Impl::OnResponse(CallId id, const net::HttpResponse& response) {
  if (response.error_class != net::HttpErrorClass::kNone) {
    return Finish(id, pages::TransportFailure(response, "the service of a recipe"));
  }
  auto read = ReadRecipeAnswer(recipe, response, clock.Now());
  if (const auto* pending = std::get_if<RecipePending>(&read)) return AskAgain(id, pending->wait);
  Finish(id, std::move(std::get<LookupAnswer>(read)));
}

void RecipeProvider::Impl::AskAgain(CallId id, milliseconds wait) {
  Call& call = calls.at(id);
  if (wait >= call.time.Left(clock.SinceBoot())) {
    return Finish(
        id, domain::Failure{"timeout", "The service of a recipe did not end within the timeout.",
                            true, wait});
  }
  call.timer = std::make_unique<base::Timer>(loop, [this, id] { Send(id); });
  call.timer->Start(wait);
}

void RecipeProvider::Impl::Finish(CallId id, LookupAnswer answer) {
  auto node = calls.extract(id);
  const Call& call = node.mapped();
  call.done(JudgedByTime(std::move(answer), call.request.timeout, recipe.request.timeout));
}

RecipeProvider::RecipeProvider(base::EventLoop& loop, net::HttpClient& client,
                               const ServiceBudgets& budgets, const base::Clock& clock,
                               const domain::Recipe& recipe)
    : impl_(std::make_shared<Impl>(loop, client, budgets, clock, recipe)) {}

RecipeProvider::~RecipeProvider() = default;

std::string_view RecipeProvider::id() const {
  return impl_->recipe.id;
}

void RecipeProvider::Start(LookupRequest request, std::function<void(LookupAnswer)> done) {
  // A person whom the service cannot be asked about takes no turn.
  if (!impl_->Serves(request) || !RecipeQuestion(impl_->recipe, request)) return done(Nothing{});
  impl_->turns.Start(std::move(request), std::move(done));
}

}  // namespace vedette::worker
