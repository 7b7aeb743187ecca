#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <utility>

#include "base/fair_queue.h"
#include "base/uuid.h"

namespace vedette::lease {

// The tries of work that is suspected to end its process: one slot of the process, for all kinds.
// The first try of a suspect goes beside a few others, so that innocent ones that were held by a
// process that died are done soon. One that died again is tried alone, so that a process that dies
// during that try tells which suspect it was. A try alone waits until no other waits or is under
// way: else it would make suspects of those beside it.
//
//   tries beside others:  |-- up to kWithOthersMax under way --|  end  |-- the next ones --|  end
//   tries alone:                                                                          | one |
//
// Organisations take turns (G10). `who` is an address that stands for the asking object until its
// Leave. How many may wait is bounded by what a process holds. Loop thread only.
class SuspectSlot {
 public:
  enum class Try {
    kWithOthers,  // with up to kWithOthersMax - 1 others
    kAlone,
  };

  // Tries beside others that are under way at once. A death makes suspects of as many at most,
  // which are then tried alone one by one.
  static constexpr std::size_t kWithOthersMax = 16;

  // `start` runs once, when `who` may be tried: inside this call where that is so at once, else
  // inside the Leave of another. Each asks once.
  void Enter(const void* who, const base::Uuid& org_id, Try how, std::function<void()> start) {
    QueueOf(how).Push(org_id, {who, how, std::move(start)});
    StartNext();
  }

  // The try of `who` has ended, or it waits no longer. Where it neither waits nor is tried, nothing
  // happens.
  void Leave(const void* who) {
    if (alone_ == who) {
      alone_ = nullptr;
    } else if (beside_.erase(who) == 0) {
      const auto is_who = [who](const Waiting& waiting) { return waiting.who == who; };
      beside_waiting_.EraseIf(is_who);
      alone_waiting_.EraseIf(is_who);
    }
    StartNext();
  }

 private:
  struct Waiting {
    const void* who;
    Try how;
    std::function<void()> start;
  };
  using Queue = base::FairQueue<base::Uuid, Waiting>;

  Queue& QueueOf(Try how) { return how == Try::kWithOthers ? beside_waiting_ : alone_waiting_; }

  std::optional<Waiting> PopNext() {
    if (alone_ != nullptr || beside_.size() >= kWithOthersMax) return std::nullopt;
    if (!beside_waiting_.empty()) return beside_waiting_.Pop();
    return beside_.empty() ? alone_waiting_.Pop() : std::nullopt;
  }

  void StartNext() {
    while (const auto next = PopNext()) {
      if (next->how == Try::kAlone) {
        alone_ = next->who;
      } else {
        beside_.insert(next->who);
      }
      next->start();  // may come back here
    }
  }

  Queue beside_waiting_;
  Queue alone_waiting_;
  std::set<const void*> beside_;  // under way
  const void* alone_ = nullptr;   // under way; then beside_ is empty
};

}  // namespace vedette::lease
