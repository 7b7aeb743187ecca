#pragma once

#include <chrono>
#include <memory>
#include <utility>

#include "worker/probes/probe.h"

namespace vedette::worker {

// Adds up from here on how long `request` waits for its turns, for whoever measures more than one
// request and must not count that. Passes on what `on_turn` is told and answers. One thread.
inline std::shared_ptr<const std::chrono::milliseconds> CountTurnWaits(ProbeRequest* request) {
  auto sum = std::make_shared<std::chrono::milliseconds>(0);
  request->on_turn = [sum, ask = std::move(request->on_turn)](std::chrono::milliseconds waited) {
    *sum += waited;
    return !ask || ask(waited);
  };
  return sum;
}

}  // namespace vedette::worker
