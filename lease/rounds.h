#pragma once

#include "base/uuid.h"

namespace vedette::lease {

// How far scans over all organisations have come. They go by id in portions of bounded length, each
// behind the one before it, round after round. A round does not see what becomes due behind its
// scan: another one follows it, before the scanner may rest. No clock, no I/O; one thread.
//
//   kNothingMissed -- MayBeDue, behind the cursor or during a scan --> kSomeMissed
//   kSomeMissed ----- a scan begins at the first id -----------------> kNothingMissed
//
// What a scan saw and did not take is left until the next round, although later scans of the same
// round find nothing.
//
//   Left::kNothing -- a scan that leaves some, Repeat -> Left::kSome
//   Left::kSome ----- a scan begins at the first id ---> Left::kNothing
class Rounds {
 public:
  enum class Scan { kNone, kUnderWay };
  enum class Left { kNothing, kSome };

  // A scan begins; it visits organisations behind the id that is returned, nil: from the first.
  base::Uuid Begin() {
    if (cursor_.is_nil()) {
      state_ = State::kNothingMissed;
      left_ = Left::kNothing;
    }
    return cursor_;
  }

  // The scan got as far as `next`; nil: the last id. `left`: whether it saw what may be left
  // behind. A scan of which nothing is said is repeated.
  void Scanned(const base::Uuid& next, Left left = Left::kNothing) {
    cursor_ = next;
    if (left == Left::kSome) left_ = left;
  }

  // Nothing could be taken of what the scan found: the next one begins at the same place.
  void Repeat() { left_ = Left::kSome; }

  // Something of any organisation may be due.
  void MayBeDue(Scan scan) {
    if (scan == Scan::kUnderWay || !cursor_.is_nil()) state_ = State::kSomeMissed;
  }

  // There are organisations that were not visited since they may have had something due.
  bool some_unseen() const { return !cursor_.is_nil() || state_ == State::kSomeMissed; }
  // A scan of this round may have left something behind.
  bool some_left() const { return left_ == Left::kSome; }

 private:
  enum class State { kNothingMissed, kSomeMissed };
  State state_ = State::kNothingMissed;
  Left left_ = Left::kNothing;
  base::Uuid cursor_;
};

}  // namespace vedette::lease
