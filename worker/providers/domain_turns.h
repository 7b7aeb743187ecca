#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "base/event_loop.h"
#include "base/uuid.h"

namespace vedette::worker {

// Lets the leads of one organisation and one domain guess one after another, so that the second one
// knows what the first has learnt of the domain's pattern. Loop thread only; `loop` must outlive
// this object. Leads that wait when it ends are dropped; turns may end after it.
//
//   Take --nobody has it--> go --> turn ends --> the next one goes
//     |                      ^
//     +-- waits -------------+  also where its wait is over
class DomainTurns {
 public:
  explicit DomainTurns(base::EventLoop& loop);

  // Held while a lead guesses. Its end lets the next one go.
  class Turn;

  // `go` is called once, perhaps from inside Take, with the turn, or with null where `wait_max` is
  // over: it goes without one then.
  void Take(const base::Uuid& org_id, const std::string& domain, std::chrono::milliseconds wait_max,
            std::function<void(std::shared_ptr<Turn>)> go);

 private:
  struct State;
  const std::shared_ptr<State> state_;
};

}  // namespace vedette::worker
