#pragma once

#include <functional>
#include <string>
#include <utility>
#include <variant>

#include "base/event_loop.h"
#include "store/session.h"

namespace vedette::store {

// Why an asynchronous job gave no value.
struct Failure {
  enum class Kind {
    kUnavailable,    // nothing happened
    kCommitUnknown,  // it happened or not
    kContention,     // nothing happened
    kOverloaded,     // the pool's queue is full; nothing happened
    kFault,          // a bug, or a statement that the database refused
  };
  Kind kind;
  std::string message;
};

// The failure that stands for the exception being handled. Call inside a catch block.
Failure CurrentFailure();

// Runs `work` on the pool, then `done` on the loop, exactly once. Loop thread, or before the loop
// runs.
template <typename T>
void RunAsync(Pool& pool, base::EventLoop& loop, std::function<T(Session&)> work,
              std::function<void(std::variant<T, Failure>)> done) {
  auto shared_done =
      std::make_shared<std::function<void(std::variant<T, Failure>)>>(std::move(done));
  auto finish = [&loop, shared_done](std::variant<T, Failure> result) {
    loop.Post([shared_done, r = std::make_shared<std::variant<T, Failure>>(std::move(result))] {
      (*shared_done)(std::move(*r));
    });
  };
  const bool queued = pool.Post([work = std::move(work), finish](Session& session) {
    try {
      finish(work(session));
    } catch (...) {
      finish(CurrentFailure());
    }
  });
  if (!queued) {
    finish(Failure{Failure::Kind::kOverloaded, "too many database jobs are waiting"});
  }
}

}  // namespace vedette::store
