#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "api/kit/answer.h"
#include "base/clock.h"
#include "base/event_loop.h"
#include "base/log.h"
#include "base/uuid.h"
#include "config/config_fwd.h"
#include "lease/step.h"
#include "metrics/metrics.h"
#include "store/session.h"

namespace vedette::api {

// When the next look for ended jobs may begin. Looks take at most a tenth of one connection's time:
// a look for which the database took long, because many jobs are asked about or it is busy, is
// followed by a longer gap. What a look waits for a connection does not count: it takes nobody's
// time. Between two beginnings there are kGapMin to kGapMax. Pure: the caller hands in the time,
// since boot. One thread.
//
//   a look: |--took--|
//           |--------------gap: 10 x took--------------|--took--|
class LookPace {
 public:
  using Nanoseconds = std::chrono::nanoseconds;

  static constexpr int kTimesTook = 10;
  static constexpr std::chrono::milliseconds kGapMin{2};
  static constexpr std::chrono::milliseconds kGapMax{20};

  void Began(Nanoseconds now) { began_ = now; }
  // The answer to the look that began last; what the database took for it.
  void Ended(Nanoseconds took) {
    gap_ = std::clamp<Nanoseconds>(kTimesTook * took, kGapMin, kGapMax);
  }
  // The first time from `wanted` on at which a look may begin.
  Nanoseconds From(Nanoseconds wanted) const { return std::max(wanted, began_ + gap_); }

 private:
  Nanoseconds began_{-kGapMax};  // the first look waits for nothing
  Nanoseconds gap_{kGapMin};
};

// The places of requests that wait for the end of a job: [api] waits_max in one process, of which
// one organisation that is alone may have waits_share; several greedy ones have equal shares, and
// some stay free for the next one (base/fair_share.h). Any thread. `metrics` must outlive the
// places.
class WaitPlaces {
 public:
  struct Counts;

  // One place, given back with the object. May outlive WaitPlaces.
  class Place {
   public:
    Place(std::shared_ptr<Counts> counts, const base::Uuid& org_id);
    ~Place();
    Place(Place&& other) noexcept = default;
    Place& operator=(Place&&) = delete;

   private:
    std::shared_ptr<Counts> counts_;  // null once it was moved from
    base::Uuid org_id_;
  };

  WaitPlaces(int places_max, double share, metrics::Metrics& metrics);
  // Nothing where no place is free, or where the organisation has its share.
  std::optional<Place> Reserve(const base::Uuid& org_id);

 private:
  std::shared_ptr<Counts> counts_;
};

// The requests that wait for jobs, and until when: decides which waits are over. Times are since
// boot. No clock, no I/O; one thread. Every call costs O(log waits) for each wait that it gives or
// takes.
class WaitTable {
 public:
  using Id = std::uint64_t;

  // An id is used once. Several may wait for one job.
  void Add(Id id, const base::Uuid& job_id, std::chrono::nanoseconds until);
  // False where the wait is over already.
  bool Take(Id id);
  // Those that wait for one of these jobs; they are taken out, as are those of the calls below.
  std::vector<Id> TakeEnded(const std::vector<base::Uuid>& job_ids);
  // Those whose time is over, the earliest first.
  std::vector<Id> TakeDue(std::chrono::nanoseconds now);
  std::vector<Id> TakeAll();

  // The end of the wait that ends next by time.
  std::optional<std::chrono::nanoseconds> Earliest() const;
  // The jobs that somebody waits for, each once.
  std::vector<base::Uuid> Jobs() const;
  bool empty() const { return waits_.empty(); }

 private:
  struct Wait {
    base::Uuid job_id;
    std::chrono::nanoseconds until;
  };

  std::map<Id, Wait> waits_;
  std::map<base::Uuid, std::set<Id>> by_job_;
  std::set<std::pair<std::chrono::nanoseconds, Id>> by_time_;
};

// How a wait ends.
enum class WaitEnd : std::uint8_t {
  kEnded,     // the job has ended
  kDeadline,  // its time is over
  kGone,      // the client has left
  kShutdown,  // the process stops
};

// One request that waits for the end of a job.
struct Wait {
  base::Uuid job_id;
  base::Uuid org_id;                 // whose turn the answer takes on the pool
  std::chrono::nanoseconds until{};  // since boot
  // The answer at kEnded and kDeadline, on a thread of the pool. It may throw what the store
  // throws, which is answered by a 503 that names the job. It refers to nothing of the request.
  std::function<rest::Reply(store::Session&, WaitEnd)> reply;
  // What becomes of the job when the client has left, on a thread of the pool. Empty: nothing.
  std::function<void(store::Session&)> gone;
};

// The requests of this process that wait for jobs. They hold no thread: each is a parked answer,
// and one read at a time, as often as LookPace allows, asks which of their jobs have ended. It is
// made when a job's end is signalled, kLookAfterAdd after an addition where nothing was signalled
// meanwhile, and every kLookEvery.
//
//                    the job has ended: the reply of the pool
//   Reserve   Park   the time is over:  the reply of the pool
//   --------> -----> the client left:   `gone` on the pool
//                    shutdown:          503 shutting_down with the task_id; the job goes on
//
// The table as a whole:
//
//   kOpen -- Drain --> kDraining -- half of [api] drain_timeout_ms --> kClosed
//
// In kDraining waits go on; kClosed ends all that are left, and every later one at once, so that
// the server's drain finds nobody waiting. Everything handed in must outlive this object; destroy
// it once the server and the pool have stopped, while the loop does not run, and before what the
// answers refer to (rest::Port).
class Waits {
 public:
  static constexpr std::chrono::milliseconds kLookEvery{1000};
  // A job that ended before its wait was in the table is found by then. One that ends later is
  // signalled, and a look at once would find it running.
  static constexpr std::chrono::milliseconds kLookAfterAdd{20};

  Waits(base::EventLoop& loop, store::Pool& pool, const base::Clock& clock,
        metrics::Metrics& metrics, const config::Config& config, base::Logger log);

  // A place for a request of the organisation, before there is a job; any thread.
  std::optional<WaitPlaces::Place> Reserve(const base::Uuid& org_id);
  // Parks the answer until the wait ends; any thread. The handler returns what this returns.
  rest::Parked Park(WaitPlaces::Place place, Wait wait,
                    const std::shared_ptr<rest::Answer>& answer);
  // A job that somebody waits for may have ended. Loop thread.
  void Look() { LookIn(std::chrono::milliseconds(0)); }
  // The server is about to stop. Any thread; once.
  void Drain();

 private:
  enum class State { kOpen, kDraining, kClosed };
  struct Waiter {
    WaitPlaces::Place place;
    Wait wait;
    std::shared_ptr<rest::Answer> answer;
  };
  struct Ended {
    std::vector<base::Uuid> jobs;
    std::chrono::nanoseconds took{};  // of the look's statement
  };

  void Add(WaitTable::Id id, bool is_gone);
  void LookIn(std::chrono::milliseconds wait);
  void OnTime();
  void StartTimer();
  void End(WaitTable::Id id, WaitEnd end);
  void Give(const std::shared_ptr<Waiter>& waiter, WaitEnd end);
  void EndForTheGone(const std::shared_ptr<Waiter>& waiter);

  base::EventLoop& loop_;
  store::Pool& pool_;
  const base::Clock& clock_;
  metrics::Metrics& metrics_;
  const base::Logger log_;
  const std::chrono::milliseconds drain_wait_;
  WaitPlaces places_;
  std::mutex mutex_;
  WaitTable::Id next_id_ = 1;                                 // guarded by mutex_
  std::map<WaitTable::Id, std::shared_ptr<Waiter>> waiters_;  // guarded by mutex_
  // The loop's from here on.
  State state_ = State::kOpen;
  WaitTable table_;
  LookPace pace_;
  std::chrono::nanoseconds look_at_{};  // since boot: when look_timer_ fires, while it is active
  base::Timer deadline_timer_;
  base::Timer look_timer_;
  base::Timer drain_timer_;
  lease::Step<Ended> look_;
};

}  // namespace vedette::api
