#include "worker/blocks/part_turn.h"

namespace vedette::worker {

PartTurn::PartTurn(const base::Clock& clock, std::chrono::nanoseconds time_max,
                   std::chrono::nanoseconds deadline)
    : clock_(clock), deadline_(deadline), left_(time_max) {}

void PartTurn::Begin() {
  thread_time_ = base::ThreadTime();
  next_look_ = {};
}

void PartTurn::Ask() {
  if (stopped()) throw PartStopped(PartStop::kUnwanted);
  const auto now = clock_.SinceBoot();
  if (now >= deadline_) throw PartStopped(PartStop::kUnwanted);
  if (now >= next_look_) Look(now);
}

void PartTurn::Look(std::chrono::nanoseconds now) {
  const auto thread_time = base::ThreadTime();
  left_ -= thread_time - thread_time_;
  thread_time_ = thread_time;
  if (left_.count() <= 0) throw PartStopped(PartStop::kOverdue);
  // A thread takes no more of the processor's time than passes.
  next_look_ = now + left_;
}

}  // namespace vedette::worker
