#include "api/workflows/run_features.h"

#include <string>

#include "api/monitors/refusals.h"
#include "domain/limits.h"
#include "domain/names.h"
#include "domain/workflow/monitor_rows.h"

namespace vedette::api {
namespace {

domain::Tier TierOf(const domain::DefinedBlock& block) {
  return domain::ParseTier(block.specs.at("tier").get_ref<const std::string&>()).value();
}

// Enrichment has features of its own: who may have more than the usual may have less, too.
std::optional<rest::Reply> JudgeResearch(const Call& call, const domain::DefinedBlock& block) {
  using domain::Tier;
  const Tier tier = TierOf(block);
  const std::string what = "enrichment of the tier " + std::string(domain::TierName(tier));
  if (tier == Tier::kXhigh) return CheckFeature(call, true, domain::kFeatureXhigh, what);
  const bool is_micro = tier == Tier::kMicro && !call.caller.Has(domain::kFeatureXhigh);
  return CheckFeature(call, is_micro || tier == Tier::kHigh, domain::kFeatureHighTier, what);
}

// A block `monitor` needs what POST /monitors does.
std::optional<rest::Reply> JudgeMonitor(const Call& call, const domain::DefinedBlock& block) {
  if (auto reply = CheckFeature(call, true, domain::kFeatureMonitors, "a monitor block")) {
    return reply;
  }
  const bool testing = domain::ReadMonitorOrder(block.specs).frequency == domain::kFrequencyTesting;
  if (auto reply =
          CheckFeature(call, testing, domain::kFeatureTestingMonitors, "the frequency 5m")) {
    return reply;
  }
  return CheckTier(call, TierOf(block));
}

}  // namespace

std::optional<rest::Reply> JudgeFeatures(const Call& call, const domain::Definition& definition) {
  for (const domain::DefinedBlock& block : definition.blocks) {
    const domain::BlockWork work = block.type->work;
    std::optional<rest::Reply> reply;
    if (work == domain::BlockWork::kMonitor) reply = JudgeMonitor(call, block);
    if (work == domain::BlockWork::kResearch) reply = JudgeResearch(call, block);
    if (reply) return reply;
  }
  return std::nullopt;
}

}  // namespace vedette::api
