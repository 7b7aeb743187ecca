#include "api/tenant/features.h"

#include <string>

#include "api/kit/reply.h"

namespace vedette::api {

void CheckFeature(const store::Caller& caller, bool needed, std::string_view feature,
                  std::string_view what) {
  if (!needed || caller.Has(feature)) return;
  throw rest::Refusal(403, "feature_not_enabled",
                      std::string(what) + " needs the feature " + std::string(feature) +
                          ", which is not enabled for your organisation: ask the operator for it");
}

void CheckTier(const store::Caller& caller, domain::Tier tier) {
  CheckFeature(caller, tier == domain::Tier::kMicro, domain::kFeatureTestingMonitors,
               "the tier micro");
  CheckFeature(caller, tier == domain::Tier::kHigh, domain::kFeatureHighTier, "the tier high");
}

}  // namespace vedette::api
