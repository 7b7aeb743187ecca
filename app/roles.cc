#include "app/roles.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "config/parts.h"
#include "config/role_config.h"
#include "worker/jobs/job_pipeline.h"

namespace vedette::app {
namespace {

constexpr std::array<std::pair<Role, const char*>, 6> kRoles = {{{Role::kApi, "api"},
                                                                 {Role::kAdmin, "admin"},
                                                                 {Role::kScheduler, "scheduler"},
                                                                 {Role::kWorker, "worker"},
                                                                 {Role::kDelivery, "delivery"},
                                                                 {Role::kBrowser, "browser"}}};

}  // namespace

std::set<Role> AllRoles() {
  std::set<Role> all;
  for (const auto& [role, name] : kRoles) {
    if (role != Role::kBrowser) all.insert(role);
  }
  return all;
}

std::set<Role> ParseRoles(const std::string& list) {
  std::set<Role> roles;
  std::stringstream stream(list);
  std::string name;
  while (std::getline(stream, name, ',')) {
    bool known = false;
    for (const auto& [role, role_name] : kRoles) {
      if (name != role_name) continue;
      roles.insert(role);
      known = true;
    }
    if (!known) {
      throw std::invalid_argument(fmt::format(
          "--roles: \"{}\" is no role; the roles are api, admin, scheduler, worker, delivery, "
          "browser",
          name));
    }
  }
  if (roles.empty()) throw std::invalid_argument("--roles: name at least one role");
  return roles;
}

std::vector<std::string> RoleNames(const std::set<Role>& roles) {
  std::vector<std::string> names;
  for (const auto& [role, name] : kRoles) {
    if (roles.contains(role)) names.emplace_back(name);
  }
  return names;
}

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
