#pragma once

#include <memory>
#include <string_view>

#include "base/clock.h"
#include "base/event_loop.h"
#include "domain/recipe/recipe.h"
#include "net/http_client.h"
#include "worker/providers/provider.h"
#include "worker/services/request_room.h"

namespace vedette::worker {

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
