#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>

#include "base/byte_budget.h"
#include "base/clock.h"
#include "base/event_loop.h"
#include "base/uuid.h"

namespace vedette::worker {

// What the operator's services hold of a process. Two budgets, because a question is held while its
// answer waits for room: in one, questions could keep each other's answers out.
struct ServiceBudgets {
  base::ByteBudget& questions;
  base::ByteBudget& answers;
};

// Room in a budget for the request that a probe sends: what many checks ask at once holds memory,
// too (G11). Loop thread only. Destroying it gives the room back and ends its wait.
class RequestRoom {
 public:
  RequestRoom(base::EventLoop& loop, base::ByteBudget& budget, const base::Uuid& org);
  ~RequestRoom();
  RequestRoom(const RequestRoom&) = delete;
  RequestRoom& operator=(const RequestRoom&) = delete;

  // True: there is room for a request of `bytes`. False: there is none yet, and `then` is called
  // later: with how long it waited, once there is; with nothing where `wait_max` ran out, after
  // which this is only to be destroyed. One call at a time. A caller that waits should not keep
  // the request, but make it again.
  [[nodiscard]] bool Take(std::size_t bytes, std::chrono::milliseconds wait_max,
                          std::function<void(std::optional<std::chrono::milliseconds>)> then);

 private:
  struct Wait;
  void End(std::optional<std::chrono::milliseconds> waited);

  base::EventLoop& loop_;
  const base::SystemClock clock_;
  std::shared_ptr<Wait> wait_;
  base::ByteBudget::Holding held_;
};

}  // namespace vedette::worker
