#pragma once

#include <vector>

#include "base/log.h"
#include "store/checks/health_turn.h"

namespace vedette::work {

// A line for each monitor that began to fail, or works again; its rows' events say why.
inline void LogTurns(const base::Logger& log, const std::vector<store::HealthTurn>& turns) {
  for (const store::HealthTurn& turn : turns) {
    log.Info(turn.fails ? "a monitor fails: no check of its last tick completed"
                        : "a monitor works again",
             {{"monitor", turn.monitor_id.ToString()}, {"org", turn.org_id.ToString()}});
  }
}

}  // namespace vedette::work
