#include "worker/providers/provider_set.h"

#include <utility>
#include <variant>

#include "base/assert.h"
#include "config/lookup_config.h"
#include "html/http_failure.h"

namespace vedette::worker {
namespace {

using domain::Failure;
using domain::TryOutcome;

// Between two lines in the log about one provider.
constexpr std::chrono::minutes kLogGap{1};

// What this process lacks is no fault of the provider, and neither are a lookup without time and a
// subject's page that cannot be read: a client that waits a second for what takes two, or names
// dead pages, would otherwise have the provider left out for everybody (G10).
bool IsOurs(const Failure& failure) {
  return html::IsOfProcess(failure) || failure.error_class == kLookupUnheld ||
         failure.error_class == kLookupOutOfTime || failure.error_class == kLookupSiteUnread;
}

Asked Skipped(const std::string& id, std::string_view why) {
  Asked asked;
  asked.shown.provider = id;
  asked.shown.outcome = TryOutcome::kSkipped;
  asked.shown.error_class = why;
  return asked;
}

}  // namespace

ProviderSet::ProviderSet(const base::Clock& clock, metrics::Metrics& metrics,
                         const base::Logger& log, const config::ProvidersConfig& config)
    : clock_(clock), metrics_(metrics), log_(log.For("lookups")), config_(config) {}

void ProviderSet::Add(std::unique_ptr<Provider> provider) {
  const std::string id(provider->id());
  const auto [it, is_new] = members_.try_emplace(
      id, Member{std::move(provider), Breaker(config_.breaker_failures, config_.breaker_ms)});
  base::Assert(is_new, "the id of a provider is used once");
}

void ProviderSet::Ask(const std::string& id, LookupRequest request,
                      std::function<void(Asked)> done) {
  const auto it = members_.find(id);
  const std::string_view lookup = LookupName(request.lookup);
  // An id that a client named and that nobody configured here is no label.
  const std::string label = it == members_.end() ? "other" : id;
  const auto end = [this, lookup, label, done = std::move(done)](Asked asked) {
    metrics_.AddProviderCall(label, lookup, domain::TryOutcomeName(asked.shown.outcome));
    done(std::move(asked));
  };
  if (it == members_.end()) return end(Skipped(id, kSkippedNotConfigured));
  Member& member = it->second;
  const auto began = clock_.SinceBoot();
  if (member.breaker.IsOpen(began)) return end(Skipped(id, kSkippedBreakerOpen));
  member.provider->Start(std::move(request), [this, &member, began, end](LookupAnswer answer) {
    end(ToAsked(member, began, std::move(answer)));
  });
}

std::vector<domain::ProviderTry> ProviderSet::Unasked(const std::vector<std::string>& order) const {
  std::vector<domain::ProviderTry> tries;
  tries.reserve(order.size());
  for (const std::string& id : order) {
    domain::ProviderTry& shown = tries.emplace_back();
    shown.provider = id;
    if (members_.contains(id)) continue;
    shown.outcome = domain::TryOutcome::kSkipped;
    shown.error_class = kSkippedNotConfigured;
  }
  return tries;
}

std::vector<AilingProvider> ProviderSet::Ailing() const {
  const auto now = clock_.SinceBoot();
  std::vector<AilingProvider> ailing;
  for (const auto& [id, member] : members_) {
    if (member.breaker.failures() == 0) continue;
    ailing.push_back({id, member.breaker.failures(), member.breaker.IsOpen(now)});
  }
  return ailing;
}

void ProviderSet::CountFailure(Member& member, const Failure& failure) {
  const auto now = clock_.SinceBoot();
  if (IsOurs(failure)) return;
  member.breaker.Failed(now);
  if (member.logged_at.count() != 0 && now - member.logged_at < kLogGap) return;
  member.logged_at = now;
  log_.Warn("a provider of lookups fails", {{"provider", member.provider->id()},
                                            {"error_class", failure.error_class},
                                            {"reason", failure.message}});
}

Asked ProviderSet::ToAsked(Member& member, std::chrono::nanoseconds began, LookupAnswer answer) {
  const auto elapsed = clock_.SinceBoot() - began;
  Asked asked;
  asked.shown.provider = member.provider->id();
  asked.shown.elapsed = std::chrono::floor<std::chrono::milliseconds>(elapsed);
  metrics_.ObserveProviderCall(asked.shown.provider,
                               std::chrono::floor<std::chrono::microseconds>(elapsed));
  if (auto* failure = std::get_if<Failure>(&answer)) {
    CountFailure(member, *failure);
    asked.shown.outcome =
        failure->error_class == kLookupUnheld ? TryOutcome::kSkipped : TryOutcome::kFailed;
    asked.shown.error_class = std::move(failure->error_class);
    asked.retryable = failure->retryable;
    asked.retry_after = failure->retry_after.value_or(std::chrono::milliseconds(0));
    return asked;
  }
  member.breaker.Answered();
  if (auto* candidates = std::get_if<domain::Candidates>(&answer)) {
    asked.shown.outcome = TryOutcome::kFound;
    asked.candidates = std::move(*candidates);
  } else if (auto* verdict = std::get_if<domain::AddressVerdict>(&answer)) {
    asked.shown.outcome = TryOutcome::kFound;
    asked.verdict = std::move(*verdict);
  } else if (auto* person = std::get_if<domain::PersonFound>(&answer)) {
    asked.shown.outcome = TryOutcome::kFound;
    asked.person = std::move(*person);
  } else if (auto* claims = std::get_if<domain::AgeClaims>(&answer)) {
    asked.shown.outcome = TryOutcome::kFound;
    asked.claims = std::move(*claims);
  } else if (auto* company = std::get_if<CompanyDomainFound>(&answer)) {
    asked.shown.outcome = TryOutcome::kFound;
    asked.domain = std::move(company->domain);
  } else if (auto* later = std::get_if<Later>(&answer)) {
    asked.shown.outcome = TryOutcome::kLater;
    asked.later = std::move(*later);
  }
  return asked;
}

}  // namespace vedette::worker
