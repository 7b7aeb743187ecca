#pragma once

#include <string>
#include <vector>

#include "base/log.h"
#include "store/checks/ticks.h"

namespace vedette::lease {

// A line for each monitor that began to fail, or works again; its rows' events say why.
inline void LogHealthChanges(const base::Logger& log,
                             const std::vector<store::HealthChange>& changes) {
  for (const store::HealthChange& change : changes) {
    const std::string monitor = change.monitor_id.ToString();
    const std::string org = change.org_id.ToString();
    if (!change.fails) {
      log.Info("a monitor works again", {{"monitor", monitor}, {"org", org}});
      continue;
    }
    log.Info("a monitor fails: no check of its last tick completed",
             {{"monitor", monitor},
              {"org", org},
              {"class", change.failure_class},
              {"address", change.address}});
  }
}

}  // namespace vedette::lease
