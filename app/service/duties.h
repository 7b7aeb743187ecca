#pragma once

#include <set>

#include "app/roles.h"
#include "config/config_fwd.h"
#include "domain/job.h"

namespace vedette::app {

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
