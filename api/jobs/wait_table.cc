#include "api/jobs/wait_table.h"

#include "base/assert.h"

namespace vedette::api {

void WaitTable::Add(Id id, const base::Uuid& job_id, std::chrono::nanoseconds until) {
  const bool is_new = waits_.emplace(id, Wait{job_id, until}).second;
  base::Assert(is_new, "the id of a wait is used once");
  by_job_[job_id].insert(id);
  by_time_.emplace(until, id);
}

bool WaitTable::Take(Id id) {
  const auto it = waits_.find(id);
  if (it == waits_.end()) return false;
  const auto of_job = by_job_.find(it->second.job_id);
  of_job->second.erase(id);
  if (of_job->second.empty()) by_job_.erase(of_job);
  by_time_.erase({it->second.until, id});
  waits_.erase(it);
  return true;
}

std::vector<WaitTable::Id> WaitTable::TakeEnded(const std::vector<base::Uuid>& job_ids) {
  std::vector<Id> ids;
  for (const base::Uuid& job_id : job_ids) {
    const auto of_job = by_job_.find(job_id);
    if (of_job == by_job_.end()) continue;
    ids.insert(ids.end(), of_job->second.begin(), of_job->second.end());
  }
  for (const Id id : ids) Take(id);
  return ids;
}

std::vector<WaitTable::Id> WaitTable::TakeDue(std::chrono::nanoseconds now) {
  std::vector<Id> ids;
  while (!by_time_.empty() && by_time_.begin()->first <= now) {
    ids.push_back(by_time_.begin()->second);
    Take(ids.back());
  }
  return ids;
}

std::vector<WaitTable::Id> WaitTable::TakeAll() {
  return TakeDue(std::chrono::nanoseconds::max());
}

std::optional<std::chrono::nanoseconds> WaitTable::Earliest() const {
  if (by_time_.empty()) return std::nullopt;
  return by_time_.begin()->first;
}

std::vector<base::Uuid> WaitTable::Jobs() const {
  std::vector<base::Uuid> ids;
  ids.reserve(by_job_.size());
  for (const auto& [job_id, waits] : by_job_) ids.push_back(job_id);
  return ids;
}

}  // namespace vedette::api
