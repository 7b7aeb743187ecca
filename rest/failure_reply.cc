#include "rest/failure_reply.h"

namespace vedette::rest {

Reply FailureReply(const store::Failure& failure, const std::string& request_id) {
  using Kind = store::Failure::Kind;
  switch (failure.kind) {
    case Kind::kUnavailable:
      return Unavailable("the database cannot be reached; nothing was changed or charged");
    case Kind::kCommitUnknown:
      return Unavailable(
          "the database went away while the change was being made: it may have been made or not. "
          "Look before you repeat it; a create repeated with its Idempotency-Key is safe");
    case Kind::kContention:
      return Unavailable("too many changes at once; nothing was changed or charged");
    case Kind::kOverloaded:
      return Unavailable("too many requests are waiting; nothing was changed or charged");
    case Kind::kFault:
      break;
  }
  return ErrorReply(500, "internal_error", "unexpected failure; quote request id " + request_id);
}

}  // namespace vedette::rest
