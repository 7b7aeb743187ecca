#include "rest/serve.h"

#include <utility>

#include "rest/failure_reply.h"

namespace vedette::rest {
namespace {

Reply ReplyTo(const store::Failure& failure, const Answer& answer, const FailureHandler& failed) {
  return failed ? failed(failure) : FailureReply(failure, answer.request_id());
}

}  // namespace

void GatherBody(const std::shared_ptr<Answer>& answer, std::chrono::milliseconds wait_max,
                std::function<void()> then) {
  answer->exchange().Gather(wait_max, [answer, then = std::move(then)](net::Gathered how) {
    switch (how) {
      case net::Gathered::kWhole:
        then();
        return;
      case net::Gathered::kNoRoom:
        answer->Send(Unavailable("too many bytes of requests are held; nothing was charged"));
        return;
      case net::Gathered::kBroken:  // the server has said so; this one is counted
        answer->Send(ErrorReply(408, "request_timeout", "the body did not come"));
        return;
    }
  });
}

// A fault is ours to mend; the rest is the database's state, which readiness tells as well.
void LogFailure(const Answer& answer, const store::Failure& failure) {
  const base::Logger::Fields fields = {{"request_id", answer.request_id()},
                                       {"target", answer.request().path},
                                       {"error", failure.message}};
  const base::Logger& log = answer.port().log;
  using Kind = store::Failure::Kind;
  switch (failure.kind) {
    case Kind::kUnavailable:
      log.Warn("the database is unavailable", fields);
      return;
    case Kind::kCommitUnknown:
      log.Warn("a commit's outcome is unknown", fields);
      return;
    case Kind::kContention:
    case Kind::kOverloaded:
      log.Warn("a request gave way to others", fields);
      return;
    case Kind::kFault:
      log.Error("a request failed", fields);
      return;
  }
}

Reply CurrentFailureReply(const Answer& answer) {
  const store::Failure failure = store::CurrentFailure();
  LogFailure(answer, failure);
  return FailureReply(failure, answer.request_id());
}

void Serve(store::Pool& pool, const std::optional<base::Uuid>& turn,
           const std::shared_ptr<Answer>& answer, PoolHandler handler, FailureHandler failed) {
  store::Pool::Job job = [answer, handler = std::move(handler), failed](store::Session& session) {
    Handled handled = Parked{};
    try {
      handled = handler(session);
    } catch (...) {
      const store::Failure failure = store::CurrentFailure();
      LogFailure(*answer, failure);
      handled = ReplyTo(failure, *answer, failed);
    }
    if (auto* reply = std::get_if<Reply>(&handled)) answer->Send(std::move(*reply));
  };
  const bool queued = turn ? pool.Post(*turn, std::move(job)) : pool.Post(std::move(job));
  if (queued) return;
  // Not logged: an overloaded process must not write a line for every request that it refuses.
  answer->Send(ReplyTo({store::Failure::Kind::kOverloaded, "the queue is full"}, *answer, failed));
}

}  // namespace vedette::rest
