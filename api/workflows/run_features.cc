#include "api/workflows/run_features.h"

#include <string>

#include "domain/limits.h"
#include "domain/names.h"
#include "domain/workflow/monitor_rows.h"

namespace vedette::api {
namespace {

std::optional<rest::Reply> JudgeTier(const Call& call, const std::string& tier) {
  if (auto reply = CheckFeature(call, tier == "high", domain::kFeatureHighTier, "tier high")) {
    return reply;
  }
  return CheckFeature(call, tier == "micro", domain::kFeatureTestingMonitors, "tier micro");
}

// A block `monitor` needs what POST /monitors does.
std::optional<rest::Reply> JudgeMonitor(const Call& call, const domain::DefinedBlock& block) {
  if (auto reply = CheckFeature(call, true, domain::kFeatureMonitors, "a monitor block")) {
    return reply;
  }
  const bool testing = domain::ReadMonitorOrder(block.specs).frequency == domain::kFrequencyTesting;
  return CheckFeature(call, testing, domain::kFeatureTestingMonitors, "frequency 5m");
}

}  // namespace

std::optional<rest::Reply> JudgeFeatures(const Call& call, const domain::Definition& definition) {
  for (const domain::DefinedBlock& block : definition.blocks) {
    const domain::BlockWork work = block.type->work;
    if (work == domain::BlockWork::kMonitor) {
      if (auto reply = JudgeMonitor(call, block)) return reply;
    } else if (work != domain::BlockWork::kResearch) {
      continue;
    }
    if (auto reply = JudgeTier(call, block.specs.at("tier").get<std::string>())) return reply;
  }
  return std::nullopt;
}

}  // namespace vedette::api
