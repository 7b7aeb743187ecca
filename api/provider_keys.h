#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "domain/auth/jwk_set.h"

namespace vedette::api {

// The keys of the operator's identity provider ([oidc]), which the process fetches and keeps. Built
// by app; every method on any thread.
class ProviderKeys {
 public:
  // What is known at one moment. Immutable.
  struct View {
    std::shared_ptr<const std::vector<domain::SetKey>> keys;  // null before the first fetch
    domain::KeyCache cache;
    base::Timestamp now;  // by the clock that the cache's times are of
  };

  virtual ~ProviderKeys() = default;
  virtual View Now() const = 0;

  // Begins a fetch if the last one was begun long enough ago, or joins the one that is under way.
  // `then` runs exactly once, on any thread: once that fetch has ended, or soon where there is
  // none.
  virtual void Fetch(std::function<void()> then) = 0;
};

}  // namespace vedette::api
