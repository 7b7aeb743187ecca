#pragma once

#include <cstddef>
#include <random>
#include <vector>

#include "base/uuid.h"

namespace vedette::delivery {

// In which order claims visit receivers: in rounds over all of them, one scan of bounded length
// after the other, by id. An organisation's share may be used up before its last receiver is
// reached. The next round therefore begins behind one of those that got nothing, taken at random,
// so that no receiver is always the last of its organisation (G10). No clock, no I/O; one thread.
//
//   kToTheEnd ---- the last id, not begun in the middle -----------> kToTheEnd, the next round
//        \-------- the last id, begun in the middle --> kToTheStart
//   kToTheStart -- where the round began, or the last id ----------> kToTheEnd, the next round
class ReceiverScan {
 public:
  // The next scan visits receivers behind this one; nil: from the first.
  const base::Uuid& cursor() const { return cursor_; }

  // A scan from cursor() got as far as `next` (nil: the last id) and gave these nothing for lack of
  // room. True while the round goes on.
  bool Scanned(const base::Uuid& next, const std::vector<base::Uuid>& passed_over,
               std::mt19937_64& random);

  // Whether the present round has given some receiver nothing; after its end, whether it had.
  bool passed_some_over() const { return passed_some_over_; }

 private:
  enum class State { kToTheEnd, kToTheStart };
  State state_ = State::kToTheEnd;
  base::Uuid start_;  // nil: the first id
  base::Uuid cursor_;
  base::Uuid next_start_;
  std::size_t passed_over_ = 0;  // in this round
  bool passed_some_over_ = false;
};

}  // namespace vedette::delivery
