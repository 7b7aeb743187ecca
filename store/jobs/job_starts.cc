#include "store/jobs/job_starts.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/assert.h"

namespace vedette::store {

JobStarts::JobStarts(const base::Clock& clock, std::function<StartLimits()> limits)
    : clock_(clock), limits_(std::move(limits)) {}

StartOutcome JobStarts::Start(Session& session, const NewJob& job) {
  if (MayStartTogether(job)) {
    Entry entry{&job};
    Share(session, &entry);
    if (entry.state == State::kStarted) return JobStarted{job.id, job.estimate_mc, false};
    if (entry.state == State::kUnknown) {
      throw CommitUnknown("the connection broke at the COMMIT of a shared start");
    }
  }
  return StartJob(session, clock_, job, limits_());
}

std::size_t JobStarts::waiting() const {
  const std::lock_guard lock(mutex_);
  return waiting_.size();
}

void JobStarts::Share(Session& session, Entry* entry) {
  std::unique_lock<std::mutex> lock(mutex_);
  waiting_.push_back(entry);
  while (entry->state == State::kWaiting || entry->state == State::kUnderWay) {
    if (entry->state == State::kWaiting && leaders_ < kLeadersMax) {
      Lead(session, &lock);
    } else {
      entry->changed.wait(lock);
    }
  }
}

void JobStarts::Lead(Session& session, std::unique_lock<std::mutex>* lock) {
  const std::size_t count = std::min(waiting_.size(), kTogetherMax);
  base::Assert(count > 0, "who leads waits itself");
  const std::vector<Entry*> entries(waiting_.begin(),
                                    waiting_.begin() + static_cast<std::ptrdiff_t>(count));
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(count));
  std::vector<const NewJob*> jobs;
  jobs.reserve(count);
  for (Entry* entry : entries) {
    entry->state = State::kUnderWay;
    jobs.push_back(entry->job);
  }
  ++leaders_;
  lock->unlock();
  const std::vector<State> states = StartAll(session, jobs);
  lock->lock();
  --leaders_;
  for (std::size_t i = 0; i < count; ++i) {
    entries[i]->state = states[i];
    entries[i]->changed.notify_one();
  }
  if (!waiting_.empty()) waiting_.front()->changed.notify_one();
}

std::vector<JobStarts::State> JobStarts::StartAll(Session& session,
                                                  const std::vector<const NewJob*>& jobs) const {
  std::vector<State> states(jobs.size(), State::kAlone);
  try {
    const std::vector<bool> started = StartJobsTogether(session, jobs, limits_());
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      if (started[i]) states[i] = State::kStarted;
    }
  } catch (const CommitUnknown&) {
    std::fill(states.begin(), states.end(), State::kUnknown);
  } catch (const std::exception&) {
    // Nothing happened. Each finds out by itself whether that was because of it.
  }
  return states;
}

}  // namespace vedette::store
