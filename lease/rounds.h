#pragma once

#include "base/uuid.h"

namespace vedette::lease {

// How far walks over all organisations have come. They go by id in portions of bounded length, each
// behind the one before it, round after round. A round does not see what becomes due behind its
// walk: another one follows it, before the walker may rest. No clock, no I/O; one thread.
//
//   kNothingMissed -- MayBeDue, behind the cursor or during a walk --> kSomeMissed
//   kSomeMissed ----- a walk begins at the first id -----------------> kNothingMissed
//
// What a walk saw and did not take is left until the next round, although later walks of the same
// round find nothing.
//
//   Left::kNothing -- a walk that leaves some, Repeat -> Left::kSome
//   Left::kSome ----- a walk begins at the first id ---> Left::kNothing
class Rounds {
 public:
  enum class Walk { kNone, kUnderWay };
  enum class Left { kNothing, kSome };

  // A walk begins; it visits organisations behind the id that is returned, nil: from the first.
  base::Uuid Begin() {
    if (cursor_.is_nil()) {
      state_ = State::kNothingMissed;
      left_ = Left::kNothing;
    }
    return cursor_;
  }

  // The walk got as far as `next`; nil: the last id. `left`: whether it saw what may be left
  // behind. A walk of which nothing is said is repeated.
  void Walked(const base::Uuid& next, Left left = Left::kNothing) {
    cursor_ = next;
    if (left == Left::kSome) left_ = left;
  }

  // Nothing could be taken of what the walk found: the next one begins at the same place.
  void Repeat() { left_ = Left::kSome; }

  // Something of any organisation may be due.
  void MayBeDue(Walk walk) {
    if (walk == Walk::kUnderWay || !cursor_.is_nil()) state_ = State::kSomeMissed;
  }

  // There are organisations that were not visited since they may have had something due.
  bool some_unseen() const { return !cursor_.is_nil() || state_ == State::kSomeMissed; }
  // A walk of this round may have left something behind.
  bool some_left() const { return left_ == Left::kSome; }

 private:
  enum class State { kNothingMissed, kSomeMissed };
  State state_ = State::kNothingMissed;
  Left left_ = Left::kNothing;
  base::Uuid cursor_;
};

}  // namespace vedette::lease
