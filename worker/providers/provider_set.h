#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/assert.h"
#include "base/clock.h"
#include "base/log.h"
#include "config/config_fwd.h"
#include "domain/email/found.h"
#include "metrics/metrics.h"
#include "worker/providers/provider.h"

namespace vedette::worker {

// Leaves a provider out for a while that failed several times in a row, in one process.
//
//   closed --`failures_max` failures in a row--> open --after `open_for`--> on trial
//     ^                                           ^                            |
//     |                                           +--------one failure---------+
//     +-----------------------------one answer---------------------------------+
//
// On trial everything is let through until the first answer or failure comes back. No clock, no
// lock: one thread, and time is handed in (base::Clock::SinceBoot).
class Breaker {
 public:
  Breaker(int failures_max, std::chrono::milliseconds open_for)
      : failures_max_(failures_max), open_for_(open_for) {
    base::Assert(failures_max > 0, "a breaker opens after at least one failure");
  }

  bool IsOpen(std::chrono::nanoseconds now) const {
    return failures_ >= failures_max_ && now < opened_at_ + open_for_;
  }

  int failures() const { return failures_; }

  void Answered() { failures_ = 0; }
  void Failed(std::chrono::nanoseconds now) {
    // Failures of what was under way when it opened do not prolong it.
    if (IsOpen(now)) return;
    if (failures_ < failures_max_) ++failures_;
    if (failures_ == failures_max_) opened_at_ = now;
  }

 private:
  const int failures_max_;
  const std::chrono::milliseconds open_for_;
  int failures_ = 0;  // in a row, counted up to failures_max_
  std::chrono::nanoseconds opened_at_{};
};

// What came of asking a provider once.
struct Asked {
  domain::ProviderTry shown;
  domain::Candidates candidates;                  // of TryOutcome::kFound, and Lookup::kFindEmail
  std::optional<domain::AddressVerdict> verdict;  // of TryOutcome::kFound, and Lookup::kVerifyEmail
  std::optional<domain::PersonFound> person;      // of kFound, and Lookup::kReverseEmail
  domain::AgeClaims claims;                       // of kFound, and Lookup::kVerifyAge
  std::string domain{};                           // of kFound, and Lookup::kCompanyDomain
  std::optional<Later> later;                     // of TryOutcome::kLater
  bool retryable = false;                         // of TryOutcome::kFailed
  std::chrono::milliseconds retry_after{};        // what the provider asks for
};

// A provider that has failed since it last answered.
struct AilingProvider {
  std::string id;
  int failures = 0;       // in a row, counted up to breaker_failures
  bool left_out = false;  // its breaker is open
};

// Error classes of TryOutcome::kSkipped.
inline constexpr std::string_view kSkippedBreakerOpen = "breaker_open";
inline constexpr std::string_view kSkippedNotConfigured = "not_configured";

// The providers of this process, each behind its breaker, counted in the metrics, its failures in
// the log at most once a minute. Neither says anything of a person. Loop thread only. Everything
// handed in must outlive this object.
class ProviderSet {
 public:
  ProviderSet(const base::Clock& clock, metrics::Metrics& metrics, const base::Logger& log,
              const config::ProvidersConfig& config);

  // No two providers have one id.
  void Add(std::unique_ptr<Provider> provider);

  // `done` is called exactly once, possibly before Ask returns. A provider whose breaker is open,
  // or that this process does not know, is not asked.
  void Ask(const std::string& id, LookupRequest request, std::function<void(Asked)> done);

  // What a client is shown of providers that are not asked, as the person is on the suppression
  // list: each has found nothing, as it might have, or is not known here.
  std::vector<domain::ProviderTry> Unasked(const std::vector<std::string>& order) const;

  // By id.
  std::vector<AilingProvider> Ailing() const;

 private:
  struct Member {
    std::unique_ptr<Provider> provider;
    Breaker breaker;
    std::chrono::nanoseconds logged_at{};  // a failure; 0: none yet
  };
  void CountFailure(Member& member, const domain::Failure& failure);
  Asked ToAsked(Member& member, std::chrono::nanoseconds began, LookupAnswer answer);

  const base::Clock& clock_;
  metrics::Metrics& metrics_;
  const base::Logger log_;
  const config::ProvidersConfig& config_;
  std::map<std::string, Member> members_;
};

}  // namespace vedette::worker
