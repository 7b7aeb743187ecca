#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "store/jobs/start.h"

namespace vedette::store {

// Starts of jobs that an organisation asks for at the same time, by several threads with a session
// each, share transactions: a statement, a COMMIT and its flush for all that came while the one
// before was under way. Who comes alone waits for nobody, and no organisation for another (G10).
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
  // Jobs of one transaction.
  static constexpr std::size_t kTogetherMax = 32;

  // `limits` is asked by every start, of all threads. `clock` must outlive this object.
  JobStarts(const base::Clock& clock, std::function<StartLimits()> limits);

  // Starts the job as StartJob does, which see.
  StartOutcome Start(Session& session, const NewJob& job);

  // Starts that wait for a transaction of their organisation that is under way.
  std::size_t waiting() const;

 private:
  enum class State { kWaiting, kUnderWay, kStarted, kAlone, kUnknown };
  struct Entry {
    const NewJob* job;
    State state = State::kWaiting;
    std::condition_variable changed{};  // its state, or it may lead
  };
  struct Organisation {
    bool is_led = false;  // a transaction is under way
    std::deque<Entry*> waiting{};
  };

  // Until the entry's state is final.
  void Share(Session& session, Entry* entry);
  // Starts what waits, without the lock.
  void Lead(Session& session, Organisation* organisation, std::unique_lock<std::mutex>* lock);
  State StartAll(Session& session, const std::vector<const NewJob*>& jobs) const;

  const base::Clock& clock_;
  const std::function<StartLimits()> limits_;
  mutable std::mutex mutex_;
  std::map<base::Uuid, Organisation> organisations_;  // that are led, or have something waiting
};

}  // namespace vedette::store
