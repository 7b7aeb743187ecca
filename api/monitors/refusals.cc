#include "api/monitors/refusals.h"

namespace vedette::api {

rest::Reply BreachReply(const RuleBreach& breach) {
  return rest::ErrorReply(400, breach.code, breach.message);
}

std::optional<rest::Reply> CheckFrequency(const Call& call, const Frequency& frequency) {
  return CheckFeature(call, frequency.needs_testing, domain::kFeatureTestingMonitors,
                      "the frequency 5m");
}

std::optional<rest::Reply> CheckTier(const Call& call, domain::Tier tier) {
  if (auto reply = CheckFeature(call, tier == domain::Tier::kMicro, domain::kFeatureTestingMonitors,
                                "the tier micro")) {
    return reply;
  }
  return CheckFeature(call, tier == domain::Tier::kHigh, domain::kFeatureHighTier, "the tier high");
}

}  // namespace vedette::api
