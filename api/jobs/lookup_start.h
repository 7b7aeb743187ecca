#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "api/call.h"
#include "rest/reply.h"
#include "store/jobs/start.h"

// How a route that starts a lookup of any kind does so, once its request is judged.
namespace vedette::api {

// Whether the client waits for the job's end; an investigation, for which nobody waits, has an
// answer of its own to a start.
enum class Answering : std::uint8_t { kWaited, kStarted, kInvestigation };

// The answer to a request whose key is known, before anything that a start would need: the same
// task; of a route that waits its result, or the wait for it. Empty where the key is new, or there
// is none.
std::optional<rest::Handled> RepeatLookup(Call& call, Answering answering,
                                          const std::optional<store::Idempotency>& idempotency);

// Starts the job: 503 no_worker (nobody serves the lane of a job that is waited for) and
// too_many_waiting, 402, 409, 422. `time`: how long the client is kept at most, or else the job's
// deadline. `job` says what is asked and what it costs; who asks, and until when, is filled in
// here.
rest::Handled StartLookup(Call& call, Answering answering, std::chrono::milliseconds time,
                          store::NewJob job);

}  // namespace vedette::api
