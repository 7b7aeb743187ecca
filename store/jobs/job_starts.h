#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <vector>

#include "base/clock.h"
#include "store/jobs/start.h"

namespace vedette::store {

// Starts of jobs that are asked for at the same time, by several threads with a session each, share
// transactions: a statement, a COMMIT and its flush for all that came while another one was under
// way. Who comes alone waits for nobody.
//
//   waits --taken by a thread that leads, perhaps its own--> under way --COMMIT--> started
//                                                              |
//                                                              +--not admitted, or nothing
//                                                              happened--> alone
//                                                              +--COMMIT's end is not known-->
//                                                              unknown
//
// Alone: its own thread starts it by itself. Any thread.
class JobStarts {
 public:
  // Transactions of several that are under way at once, and jobs of one.
  static constexpr int kLeadersMax = 1;
  static constexpr std::size_t kTogetherMax = 32;

  // `limits` is asked by every start, of all threads. `clock` must outlive this object.
  JobStarts(const base::Clock& clock, std::function<StartLimits()> limits);

  // As StartJob, which see.
  StartOutcome Start(Session& session, const NewJob& job);

  // Starts that wait for the transaction that is under way.
  std::size_t waiting() const;

 private:
  enum class State { kWaiting, kUnderWay, kStarted, kAlone, kUnknown };
  struct Entry {
    const NewJob* job;
    State state = State::kWaiting;
    std::condition_variable changed{};  // its state, or it may lead
  };

  // Until the entry's state is final.
  void Share(Session& session, Entry* entry);
  // Starts what waits, without the lock.
  void Lead(Session& session, std::unique_lock<std::mutex>* lock);
  std::vector<State> StartAll(Session& session, const std::vector<const NewJob*>& jobs) const;

  const base::Clock& clock_;
  const std::function<StartLimits()> limits_;
  mutable std::mutex mutex_;
  std::deque<Entry*> waiting_;
  int leaders_ = 0;
};

}  // namespace vedette::store
