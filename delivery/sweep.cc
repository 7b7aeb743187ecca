#include "delivery/sweep.h"

namespace vedette::delivery {

bool ReceiverScan::Scanned(const base::Uuid& next, const std::vector<base::Uuid>& passed_over,
                           std::mt19937_64& random) {
  if (passed_over_ == 0) passed_some_over_ = false;
  for (const base::Uuid& id : passed_over) {
    passed_some_over_ = true;
    // Each of k is kept with the chance of one in k, whatever k will be.
    ++passed_over_;
    if (std::uniform_int_distribution<std::size_t>(1, passed_over_)(random) == 1) next_start_ = id;
  }
  cursor_ = next;
  if (state_ == State::kToTheEnd) {
    if (!next.is_nil()) return true;
    if (!start_.is_nil()) {
      state_ = State::kToTheStart;
      return true;
    }
  } else if (!next.is_nil() && next < start_) {
    return true;
  }
  state_ = State::kToTheEnd;
  start_ = next_start_;
  cursor_ = start_;
  next_start_ = {};
  passed_over_ = 0;
  return false;
}

}  // namespace vedette::delivery
