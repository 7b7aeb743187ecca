#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "base/uuid.h"
#include "lease/lease_keeper.h"
#include "lease/share_out.h"
#include "store/lease.h"

namespace vedette::lease {

// Stands for a module of store/: tasks of organisations, leased under tokens by this store's clock,
// which the test moves. Any thread; each function is one transaction.
class ToyStore {
 public:
  struct Claimed {
    store::Lease lease;
    base::Uuid org_id;
    int claims = 0;        // this one included
    bool suspect = false;  // its worker died while the task was tried alone
  };
  enum class End { kDone, kQuarantined };
  using Ended = std::vector<std::pair<store::Lease, End>>;

  void Put(const base::Uuid& id, const base::Uuid& org_id) {
    const std::lock_guard lock(mutex_);
    tasks_[id].org_id = org_id;
  }

  std::vector<Asking> Scan() {
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
        claimed.push_back({{id, task.token}, task.org_id, ++task.claims, task.suspect});
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

  void Return(const std::vector<store::GiveBack>& given_back) {
    const std::lock_guard lock(mutex_);
    for (const store::GiveBack& back : given_back) {
      if (Task* task = Held(back.lease)) *task = {task->org_id};
    }
  }

  bool MarkSuspect(const store::Lease& lease) {
    const std::lock_guard lock(mutex_);
    Task* task = Held(lease);
    if (task != nullptr) task->suspect = true;
    return task != nullptr;
  }

  // Ends the tasks whose leases hold; gives the others, which are dropped.
  std::set<base::Uuid> Record(const Ended& ended) {
    const std::lock_guard lock(mutex_);
    std::set<base::Uuid> dropped;
    for (const auto& [lease, end] : ended) {
      if (Held(lease) == nullptr) {
        dropped.insert(lease.id);
        continue;
      }
      tasks_.erase(lease.id);
      ++recorded_[lease.id];
      if (end == End::kQuarantined) quarantined_.insert(lease.id);
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

  int renewals() { return Locked(renewals_); }
  std::map<base::Uuid, int> recorded() { return Locked(recorded_); }
  std::set<base::Uuid> quarantined() { return Locked(quarantined_); }
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
    int claims = 0;
    bool suspect = false;
  };
  bool Due(const Task& task) const { return task.token.is_nil() || task.leased_until <= now_; }
  Task* Held(const store::Lease& lease) {
    const auto it = tasks_.find(lease.id);
    return it == tasks_.end() || it->second.token != lease.token ? nullptr : &it->second;
  }
  template <typename T>
  T Locked(const T& value) {
    const std::lock_guard lock(mutex_);
    return value;
  }

  std::mutex mutex_;
  std::map<base::Uuid, Task> tasks_;
  std::map<base::Uuid, int> recorded_;
  std::set<base::Uuid> quarantined_;
  std::chrono::milliseconds now_{0};
  int renewals_ = 0;
};

}  // namespace vedette::lease
