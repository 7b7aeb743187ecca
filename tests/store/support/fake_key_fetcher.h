#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "api/kit/published_keys.h"
#include "base/uuid.h"

namespace vedette::test {

// Publishes nothing, unless a test says what the URL answers.
class FakeKeyFetcher final : public rest::KeyFetcher {
 public:
  void Fetch(const base::Uuid& org_id, std::string url,
             std::function<void(Outcome)> done) override {
    std::unique_lock lock(mutex_);
    ++fetches;
    if (keeps) kept_.push_back(done);
    last_org = org_id;
    last_url = std::move(url);
    if (held) {
      pending_.push_back(std::move(done));
      return;
    }
    const Outcome now = outcome;
    lock.unlock();
    done(now);
  }
  // What is under way ends with the outcome, and fetches are no longer held.
  void Complete() {
    std::unique_lock lock(mutex_);
    held = false;
    const auto pending = std::exchange(pending_, {});
    lock.unlock();
    for (const auto& done : pending) done(outcome);
  }
  Outcome outcome{Outcome::Kind::kFailed, "connect: nobody listens"};
  bool held = false;   // whether fetches stay under way
  bool keeps = false;  // whether callbacks outlive their answers, as on a thread that was put aside
  std::atomic<int> fetches{0};
  base::Uuid last_org;
  std::string last_url;

 private:
  std::mutex mutex_;
  std::vector<std::function<void(Outcome)>> pending_;  // guarded by mutex_
  std::vector<std::function<void(Outcome)>> kept_;     // guarded by mutex_
};

}  // namespace vedette::test
