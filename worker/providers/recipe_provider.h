#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string_view>
#include <variant>

#include "base/clock.h"
#include "base/event_loop.h"
#include "domain/email/recipe.h"
#include "net/http_client.h"
#include "worker/providers/provider.h"
#include "worker/services/request_room.h"

// A lookup as the request that a recipe makes of it, and what the service's answer means. Pure.
namespace vedette::worker {

// Method, URL, headers and body; the rest of the request is the caller's. Each value is encoded for
// its place. What of query, headers and body has a field that is not known is left out. Empty where
// the service cannot be asked about this person: what the recipe needs is not known, or a value
// cannot stand where it should (a line break in a header, "." and ".." in a path).
std::optional<net::HttpRequest> RecipeQuestion(const domain::Recipe& recipe,
                                               const LookupRequest& request);

// The service has not ended yet: the same question is to be asked again after the wait.
struct RecipePending {
  std::chrono::milliseconds wait{};
};

// A response without an error of transport. Failures: http_status; invalid_answer, where the body
// is no JSON; service_error, where fail_when says so. None of them shows a value.
std::variant<LookupAnswer, RecipePending> ReadRecipeAnswer(const domain::Recipe& recipe,
                                                           const net::HttpResponse& response,
                                                           base::Timestamp now);

// Somebody's API that a recipe describes (docs/providers.md). The URL is the operator's: exempt
// from G9, never redirected. A service that has not ended is asked again until the lookup's time is
// over. Its failures: dns, connect, tls, timeout, protocol, body_too_large, overloaded, shutdown,
// and those of ReadRecipeAnswer. Loop thread only.
class RecipeProvider final : public Provider {
 public:
  // Everything handed in must outlive this object, but for `recipe`.
  RecipeProvider(base::EventLoop& loop, net::HttpClient& client, const ServiceBudgets& budgets,
                 const base::Clock& clock, const domain::Recipe& recipe);
  ~RecipeProvider() override;  // callbacks of what is under way are dropped

  std::string_view id() const override;
  // A lookup that the recipe does not serve is answered with Nothing.
  void Start(LookupRequest request, std::function<void(LookupAnswer)> done) override;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace vedette::worker
