#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include "base/uuid.h"
#include "rest/answer.h"
#include "store/async.h"

namespace vedette::rest {

// Takes what is pending of the request's body, waiting at most `wait_max` in sum for bytes of its
// budget, and runs `then` on the server's thread, or at once where nothing is pending. Otherwise
// the answer is a 503, or the client is gone.
void GatherBody(const std::shared_ptr<Answer>& answer, std::chrono::milliseconds wait_max,
                std::function<void()> then);

// Plain blocking code, on a pool's thread. It may throw what the store throws.
using PoolHandler = std::function<Handled(store::Session&)>;
// The answer to what a handler threw, or to a queue that is full.
using FailureHandler = std::function<Reply(const store::Failure&)>;

// Logs the failure under the answer's request id, as an error where it is a fault.
void LogFailure(const Answer& answer, const store::Failure& failure);
// Logs the exception that is being handled and says what to answer (failure_reply.h). Call inside a
// catch block.
Reply CurrentFailureReply(const Answer& answer);

// Runs `handler` on the pool, in the turn of `turn` (nothing: of nobody), and sends its reply
// unless it parked the answer. What it throws is logged and answered by `failed`, by default
// FailureReply; a full queue is, too. `pool` must outlive the request. Any thread.
void Serve(store::Pool& pool, const std::optional<base::Uuid>& turn,
           const std::shared_ptr<Answer>& answer, PoolHandler handler, FailureHandler failed = {});

}  // namespace vedette::rest
