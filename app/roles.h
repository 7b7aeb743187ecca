#pragma once

#include <set>
#include <string>
#include <vector>

#include "config/config_fwd.h"
#include "domain/job/job.h"

namespace vedette::app {

// What a process of the fleet does.
enum class Role { kApi, kAdmin, kScheduler, kWorker, kDelivery, kBrowser };

// What a process does that is not told: all but kBrowser. It renders for itself where it has a
// browser; others' pages it takes where it is named.
std::set<Role> AllRoles();

// "api,worker" -> roles; throws std::invalid_argument naming the unknown role and the known ones.
std::set<Role> ParseRoles(const std::string& list);

// {kApi, kWorker} -> "api", "worker", in the order of the enum.
std::vector<std::string> RoleNames(const std::set<Role>& roles);

// What a process does, by its roles and the lanes of its configuration. Immutable; any thread.
class Duties {
 public:
  Duties(std::set<Role> roles, const config::Config& config);

  bool Has(Role role) const { return roles_.contains(role); }
  const std::set<Role>& roles() const { return roles_; }

  // Whether it makes the checks of monitors.
  bool checks() const { return checks_; }
  // The lanes of jobs that it serves; none without the role of the worker.
  const std::set<domain::Lane>& job_lanes() const { return job_lanes_; }

 private:
  const std::set<Role> roles_;
  const bool checks_;
  const std::set<domain::Lane> job_lanes_;
};

}  // namespace vedette::app
