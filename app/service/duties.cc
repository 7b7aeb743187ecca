#include "app/service/duties.h"

#include <algorithm>
#include <utility>

#include "config/config.h"
#include "worker/jobs/job_pipeline.h"

namespace vedette::app {
namespace {

bool NamesChecks(const config::Config& config) {
  const auto& lanes = config.worker.lanes;
  return std::find(lanes.begin(), lanes.end(), "checks") != lanes.end();
}

}  // namespace

Duties::Duties(std::set<Role> roles, const config::Config& config)
    : roles_(std::move(roles)),
      checks_(Has(Role::kWorker) && NamesChecks(config)),
      job_lanes_(Has(Role::kWorker) ? worker::ServedLanes(config) : std::set<domain::Lane>()) {}

}  // namespace vedette::app
