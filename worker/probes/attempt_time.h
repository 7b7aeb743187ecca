#pragma once

#include <chrono>
#include <memory>
#include <utility>

#include "worker/probes/probe.h"
#include "worker/services/attempt_time.h"

namespace vedette::worker {

// The time of an attempt of `timeout` that begins with `request`, another probe's: the turns of
// that request count in it, and `on_turn` is told and asked as before.
inline std::shared_ptr<const AttemptTime> MeasureTurns(ProbeRequest* request,
                                                       std::chrono::milliseconds timeout,
                                                       std::chrono::nanoseconds now) {
  auto time = std::make_shared<AttemptTime>(now, timeout);
  request->on_turn = [time, ask = std::move(request->on_turn)](std::chrono::milliseconds waited) {
    const auto all = time->WaitedForTurn(waited);
    return !ask || ask(all);
  };
  return time;
}

}  // namespace vedette::worker
