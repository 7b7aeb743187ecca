#pragma once

#include "base/uuid.h"

namespace vedette::work {

// How far walks over all organisations have come. They go by id in portions of bounded length, each
// behind the one before it, round after round. A round does not see what becomes due behind its
// walk: another one follows it, before the walker may rest. No clock, no I/O; one thread.
//
//   kNothingMissed -- MayBeDue, behind the cursor or during a walk --> kSomeMissed
//   kSomeMissed ----- a walk begins at the first id -----------------> kNothingMissed
class Rounds {
 public:
  enum class Walk { kNone, kUnderWay };

  // A walk begins; it visits organisations behind the id that is returned, nil: from the first.
  base::Uuid Begin() {
    if (cursor_.is_nil()) state_ = State::kNothingMissed;
    return cursor_;
  }

  // The walk got as far as `next`; nil: the last id. A walk of which nothing is said is repeated.
  void Walked(const base::Uuid& next) { cursor_ = next; }

  // Something of any organisation may be due.
  void MayBeDue(Walk walk) {
    if (walk == Walk::kUnderWay || !cursor_.is_nil()) state_ = State::kSomeMissed;
  }

  // There are organisations that were not visited since they may have had something due.
  bool some_unseen() const { return !cursor_.is_nil() || state_ == State::kSomeMissed; }

 private:
  enum class State { kNothingMissed, kSomeMissed };
  State state_ = State::kNothingMissed;
  base::Uuid cursor_;
};

}  // namespace vedette::work
