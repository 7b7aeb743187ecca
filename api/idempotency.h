#pragma once

#include <optional>
#include <string_view>

#include "api/call.h"
#include "rest/reply.h"
#include "store/idempotency.h"

// The header Idempotency-Key, and what is answered to a key that cannot be used.
namespace vedette::api {

// The key of this request, or nothing where it has none; a 422 for one that cannot be kept. What
// must be equal in a repetition is the body, the caller's team, and `route`, which is empty for
// POST /monitors, whose keys are older than those of other routes. Call it while the body is held.
rest::Judged<std::optional<store::Idempotency>> ReadIdempotency(const Call& call,
                                                                std::string_view route);

rest::Reply KeyInUse();   // 409: another request with this key has not finished
rest::Reply KeyReused();  // 422: the key stands for another request

}  // namespace vedette::api
