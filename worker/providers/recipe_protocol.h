#pragma once

#include <chrono>
#include <optional>
#include <variant>

#include "base/clock.h"
#include "domain/recipe/recipe.h"
#include "net/http_client.h"
#include "worker/providers/provider.h"

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

}  // namespace vedette::worker
