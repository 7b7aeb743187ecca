#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "lease/batcher.h"
#include "lease/drain.h"
#include "lease/lease_keeper.h"
#include "lease/share_out.h"
#include "lease/step.h"
#include "store/lease.h"
#include "store/session.h"

// A kind of leased work as small as one can be: a store that keeps its tasks in memory, and a
// worker over lease/. What the worker says itself is what is particular to its kind: there is no
// polling, renewal, draining or batching in it.
namespace vedette::lease {

// Stands for a module of store/: tasks of organisations, leased under tokens by this store's clock,
// which the test moves. Any thread; each function is one transaction.
class ToyStore {
 public:
  struct Claimed {
    store::Lease lease;
    base::Uuid org_id;
  };

  void Put(const base::Uuid& id, const base::Uuid& org_id) {
    const std::lock_guard lock(mutex_);
    tasks_[id].org_id = org_id;
  }

  std::vector<Asking> Walk() {
    const std::lock_guard lock(mutex_);
    std::map<base::Uuid, Asking> due;
    for (const auto& [id, task] : tasks_) {
      if (Due(task)) due[task.org_id].org_id = task.org_id;
    }
    std::vector<Asking> asking;
    for (const auto& [id, org] : due) asking.push_back(org);
    return asking;
  }

  std::vector<Claimed> Claim(const std::vector<store::ClaimShare>& shares,
                             std::chrono::milliseconds lease) {
    const std::lock_guard lock(mutex_);
    std::vector<Claimed> claimed;
    for (const store::ClaimShare& share : shares) {
      int left = share.rows_max;
      for (auto& [id, task] : tasks_) {
        if (left == 0 || task.org_id != share.org_id || !Due(task)) continue;
        --left;
        task.token = base::Uuid::V4();
        task.leased_until = now_ + lease;
        claimed.push_back({{id, task.token}, task.org_id});
      }
    }
    return claimed;
  }

  std::vector<base::Uuid> Renew(const std::vector<store::Lease>& leases,
                                std::chrono::milliseconds lease) {
    const std::lock_guard lock(mutex_);
    ++renewals_;
    std::vector<base::Uuid> kept;
    for (const store::Lease& l : leases) {
      if (Task* task = Held(l)) {
        task->leased_until = now_ + lease;
        kept.push_back(l.id);
      }
    }
    return kept;
  }

  void GiveBack(const std::vector<store::Lease>& leases) {
    const std::lock_guard lock(mutex_);
    for (const store::Lease& l : leases) {
      if (Task* task = Held(l)) task->token = {};
    }
  }

  // Ends the tasks whose leases hold; the others are dropped.
  std::size_t Record(const std::vector<store::Lease>& leases) {
    const std::lock_guard lock(mutex_);
    std::size_t dropped = 0;
    for (const store::Lease& l : leases) {
      if (Held(l) != nullptr) {
        tasks_.erase(l.id);
        ++recorded_[l.id];
      } else {
        ++dropped;
      }
    }
    return dropped;
  }

  // Somebody else takes the task although its lease has not ended, as after a long standstill.
  void Steal(const base::Uuid& id) {
    const std::lock_guard lock(mutex_);
    tasks_.at(id).token = base::Uuid::V4();
    tasks_.at(id).leased_until = std::chrono::milliseconds::max();
  }

  void Advance(std::chrono::milliseconds time) {
    const std::lock_guard lock(mutex_);
    now_ += time;
  }

  int renewals() {
    const std::lock_guard lock(mutex_);
    return renewals_;
  }
  std::map<base::Uuid, int> recorded() {
    const std::lock_guard lock(mutex_);
    return recorded_;
  }
  std::size_t leased() {
    const std::lock_guard lock(mutex_);
    std::size_t n = 0;
    for (const auto& [id, task] : tasks_) n += Due(task) ? 0 : 1;
    return n;
  }

 private:
  struct Task {
    base::Uuid org_id;
    base::Uuid token;  // nil: not leased
    std::chrono::milliseconds leased_until{};
  };
  bool Due(const Task& task) const { return task.token.is_nil() || task.leased_until <= now_; }
  Task* Held(const store::Lease& lease) {
    const auto it = tasks_.find(lease.id);
    return it == tasks_.end() || it->second.token != lease.token ? nullptr : &it->second;
  }

  std::mutex mutex_;
  std::map<base::Uuid, Task> tasks_;
  std::map<base::Uuid, int> recorded_;
  std::chrono::milliseconds now_{0};
  int renewals_ = 0;
};

struct ToyLimits {
  std::chrono::milliseconds lease{std::chrono::hours(1)};
  std::chrono::milliseconds poll{1};
  std::chrono::milliseconds drain_timeout{std::chrono::hours(1)};
  std::size_t held_max = 16;
};

// Claims tasks, works on each by calling `work`, and records them in batches. Loop thread only.
class ToyWorker {
 public:
  // Does the task, and says so by `Done`, at once or later.
  using Work = std::function<void(const base::Uuid& id)>;

  ToyWorker(base::EventLoop& loop, store::Pool& pool, const base::Clock& clock, base::Logger log,
            ToyStore& store, ToyLimits limits, Work work)
      : store_(store),
        limits_(limits),
        work_(std::move(work)),
        claim_(loop, pool, log, {.failed = "claiming tasks failed", .poll = limits.poll},
               {.begin = [this] { return Walk(); },
                .finish = [this](Claim claim) { return OnClaim(std::move(claim)); }}),
        leases_(
            loop, pool, log, limits.lease,
            {.renew = [&store](store::Session&, const auto& leases,
                               auto lease) { return store.Renew(leases, lease); },
             .give_back = [&store](store::Session&, const auto& leases) { store.GiveBack(leases); },
             .lost = [this](const base::Uuid&) { ++lost_; },
             .given_back = [this] { drain_.Check(); }}),
        recorder_(loop, pool, clock, log,
                  {.delayed = "tasks could not be recorded yet",
                   .refused = "tasks could not be recorded",
                   .delay = std::chrono::milliseconds(1),
                   .weight_max = 8,
                   .batches_max = 2,
                   .backoff = {std::chrono::milliseconds(1), std::chrono::milliseconds(8)}},
                  {.begin =
                       [&store](const std::vector<store::Lease>& batch, bool) {
                         return [&store, batch](store::Session&) { return store.Record(batch); };
                       },
                   .written =
                       [this](const auto&, std::size_t dropped, bool) {
                         dropped_ += dropped;
                         claim_.Wake();
                         drain_.Check();
                       },
                   .lost = [this](const auto&, const Loss&) { drain_.Check(); }}),
        drain_(loop, limits.drain_timeout,
               {.idle = [this] { return leases_.idle() && recorder_.idle() && !claim_.running(); },
                .overdue = [this] { leases_.GiveBack(held_); },
                .abandon = [this] { recorder_.Abandon(); }}) {}

  void Start() {
    claim_.Start();
    leases_.Start();
  }

  void Done(const base::Uuid& id) {
    std::erase(held_, id);
    if (const auto lease = leases_.Drop(id)) recorder_.Add(*lease);
    drain_.Check();
  }

  void Drain(std::function<void()> done) {
    claim_.Drain([this] { drain_.Check(); });
    drain_.Begin(std::move(done));
  }

  int lost() const { return lost_; }
  std::size_t dropped() const { return dropped_; }
  std::size_t held() const { return leases_.held(); }

 private:
  // A claim is two jobs: who has work due, and then the leases.
  using Due = std::vector<Asking>;
  using Claimed = std::vector<ToyStore::Claimed>;
  using Claim = std::variant<Due, Claimed>;

  Step<Claim>::Job Walk() {
    if (leases_.held() >= limits_.held_max) return nullptr;
    // On the pool, where this object may be gone: it refers to the store alone.
    return [&store = store_](store::Session&) -> Claim { return store.Walk(); };
  }

  Step<Claim>::Then OnClaim(Claim claim) {
    if (const auto* due = std::get_if<Due>(&claim)) {
      Room room;
      room.rows_max = room.rows_left = room.rows_left_for_slots = room.slots_max = limits_.held_max;
      room.rows_open = room.in_flight = leases_.held();
      room.newcomer_share = 0.1;
      const auto shares = ShareOut(*due, room);
      if (shares.empty()) return kAtPoll;
      return Step<Claim>::Job([&store = store_, shares, lease = limits_.lease](
                                  store::Session&) -> Claim { return store.Claim(shares, lease); });
    }
    const auto& claimed = std::get<Claimed>(claim);
    std::vector<base::Uuid> ids;
    for (const ToyStore::Claimed& task : claimed) {
      leases_.Hold(task.lease);
      ids.push_back(task.lease.id);
    }
    if (drain_.begun()) {
      // What was held before goes on: it has its time.
      leases_.GiveBack(ids);
    } else {
      held_.insert(held_.end(), ids.begin(), ids.end());
      for (const ToyStore::Claimed& task : claimed) work_(task.lease.id);
    }
    return claimed.empty() ? kAtPoll : kAtOnce;
  }

  ToyStore& store_;
  const ToyLimits limits_;
  const Work work_;
  std::vector<base::Uuid> held_;
  int lost_ = 0;
  std::size_t dropped_ = 0;
  Step<Claim> claim_;
  LeaseKeeper leases_;
  Batcher<store::Lease, std::size_t> recorder_;
  class Drain drain_;
};

}  // namespace vedette::lease
