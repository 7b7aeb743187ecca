#pragma once

#include <string>
#include <vector>

#include "base/log.h"
#include "store/checks/ticks.h"

namespace vedette::lease {

// A line for each monitor that began to fail, or works again; its rows' events say why.
inline void LogTurns(const base::Logger& log, const std::vector<store::HealthTurn>& turns) {
  for (const store::HealthTurn& turn : turns) {
    const std::string monitor = turn.monitor_id.ToString();
    const std::string org = turn.org_id.ToString();
    if (!turn.fails) {
      log.Info("a monitor works again", {{"monitor", monitor}, {"org", org}});
      continue;
    }
    log.Info("a monitor fails: no check of its last tick completed", {{"monitor", monitor},
                                                                      {"org", org},
                                                                      {"class", turn.failure_class},
                                                                      {"address", turn.address}});
  }
}

}  // namespace vedette::lease
