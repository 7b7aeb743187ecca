#pragma once

#include <string>

#include "rest/reply.h"
#include "store/async.h"

namespace vedette::rest {

// The one mapping from failures of the store to answers, on every port:
//
//   kUnavailable, kContention, kOverloaded   503, Retry-After: nothing was changed or charged
//   kCommitUnknown                           503, Retry-After: the change was made or not
//   kFault                                   500; `request_id` is what the client may quote
//
// Pure.
Reply FailureReply(const store::Failure& failure, const std::string& request_id);

}  // namespace vedette::rest
