#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "store/jobs/start.h"

namespace vedette::store {

// Starts of jobs that an organisation asks for at the same time, by several threads with a session
// each, share transactions: a statement, a COMMIT and its flush for all that came while the one
// before was under way. Who comes alone waits for nobody, and no organisation for another (G10).
//
//   waits --taken by a thread that leads, perhaps its own--> under way
//   under way --COMMIT--> started
//   under way --not admitted, or nothing happened--> alone
//   under way --COMMIT's end is not known--> unknown
//
// Alone: its own thread starts it by itself. Any thread.
class JobStarts {
 public:
  // Jobs of one transaction.
  static constexpr std::size_t kTogetherMax = 32;

  // The index entries of jobs that have ended stay while a snapshot is held that is older, and to
  // count the open ones visits them all. What took longer than kCountQuick is counted again after
  // kCountRest times as long, as long as half of open_per_org_max is not reached.
  static constexpr std::chrono::milliseconds kCountQuick{10};
  static constexpr int kCountRest = 50;
  // More organisations have everything counted.
  static constexpr std::size_t kCountedMax = 10'000;

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
  State StartAll(Session& session, const std::vector<const NewJob*>& jobs);

  // What is known of an organisation whose open jobs took long to count.
  struct Counted {
    int open_max = 0;                       // not more are open, but for starts of other processes
    std::chrono::nanoseconds until_boot{};  // until then, since boot
  };
  // Whether its open jobs are to be counted before `jobs` start: nobody knows that they are few.
  bool MustCount(const std::vector<const NewJob*>& jobs, int open_per_org_max);
  // They have started; `counted` is empty where nobody counted.
  void NoteStarted(const std::vector<const NewJob*>& jobs,
                   const std::optional<CountedJobs>& counted);

  const base::Clock& clock_;
  const std::function<StartLimits()> limits_;
  mutable std::mutex mutex_;
  std::map<base::Uuid, Organisation> organisations_;  // that are led, or have something waiting
  std::map<base::Uuid, Counted> counted_;             // at most kCountedMax
};

}  // namespace vedette::store
