#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/kit/sign_in.h"

namespace vedette::test {

// The keys of an identity provider, as a test sets them; a fetch brings `published`.
class FakeProviderKeys final : public rest::ProviderKeys {
 public:
  View Now() const override {
    const std::lock_guard lock(mutex_);
    return view_;
  }
  void Fetch(std::function<void()> then) override {
    {
      const std::lock_guard lock(mutex_);
      ++fetches;
      view_.cache.tried_at = view_.now;
      if (published) Set(*published);
    }
    then();
  }
  void Publish(std::vector<domain::SetKey> keys) {
    const std::lock_guard lock(mutex_);
    published = std::move(keys);
  }
  // Time passes, for the keys alone.
  void Pass(std::chrono::seconds time) {
    const std::lock_guard lock(mutex_);
    view_.now += time;
  }
  void Redeem(std::string form, std::function<void(Redeemed)> done) override {
    redeemed = std::move(form);
    done({answer, answer.empty() ? "a fault of the test" : ""});
  }
  void OfferSignIn() {
    const std::lock_guard lock(mutex_);
    view_.endpoints = std::make_shared<const domain::SignInEndpoints>(domain::SignInEndpoints{
        "https://idp.example/authorize?kind=code", "https://idp.example/token"});
  }
  std::atomic<int> fetches{0};
  std::optional<std::vector<domain::SetKey>> published;
  std::string redeemed;  // the form of the last code
  std::string answer;    // to it

 private:
  void Set(std::vector<domain::SetKey> keys) {
    view_.keys = std::make_shared<const std::vector<domain::SetKey>>(std::move(keys));
    view_.cache.has_keys = true;
    view_.cache.fetched_at = view_.now;
  }
  mutable std::mutex mutex_;
  View view_{nullptr, {}, base::Timestamp(std::chrono::hours(1))};
};

}  // namespace vedette::test
