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
  std::size_t waiting = 0;
  for (const auto& [id, organisation] : organisations_) waiting += organisation.waiting.size();
  return waiting;
}

void JobStarts::Share(Session& session, Entry* entry) {
  std::unique_lock<std::mutex> lock(mutex_);
  Organisation& organisation = organisations_[entry->job->org_id];
  organisation.waiting.push_back(entry);
  while (entry->state == State::kWaiting || entry->state == State::kUnderWay) {
    if (entry->state == State::kWaiting && !organisation.is_led) {
      Lead(session, &organisation, &lock);
    } else {
      entry->changed.wait(lock);
    }
  }
}

void JobStarts::Lead(Session& session, Organisation* organisation,
                     std::unique_lock<std::mutex>* lock) {
  auto& waiting = organisation->waiting;
  const auto count = static_cast<std::ptrdiff_t>(std::min(waiting.size(), kTogetherMax));
  base::Assert(count > 0, "who leads waits itself");
  const std::vector<Entry*> entries(waiting.begin(), waiting.begin() + count);
  waiting.erase(waiting.begin(), waiting.begin() + count);
  std::vector<const NewJob*> jobs;
  for (Entry* entry : entries) {
    entry->state = State::kUnderWay;
    jobs.push_back(entry->job);
  }
  organisation->is_led = true;
  lock->unlock();
  const State end = StartAll(session, jobs);
  lock->lock();
  organisation->is_led = false;
  if (waiting.empty()) {
    organisations_.erase(jobs.front()->org_id);  // nobody looks at it any more
  } else {
    waiting.front()->changed.notify_one();
  }
  for (Entry* entry : entries) {
    entry->state = end;
    entry->changed.notify_one();
  }
}

JobStarts::State JobStarts::StartAll(Session& session, const std::vector<const NewJob*>& jobs) {
  const StartLimits limits = limits_();
  std::optional<CountedJobs> counted;
  if (MustCount(jobs, limits.open_per_org_max)) counted.emplace();
  try {
    if (!StartJobsTogether(session, jobs, limits, counted ? &*counted : nullptr)) {
      return State::kAlone;
    }
    NoteStarted(jobs, counted);
    return State::kStarted;
  } catch (const CommitUnknown&) {
    return State::kUnknown;
  } catch (const std::exception&) {
    // Nothing happened. Each finds out by itself whether that was because of it.
    return State::kAlone;
  }
}

bool JobStarts::MustCount(const std::vector<const NewJob*>& jobs, int open_per_org_max) {
  const auto is_run = [](const NewJob* job) { return job->kind == domain::JobKind::kWorkflow; };
  if (std::any_of(jobs.begin(), jobs.end(), is_run)) return true;
  const std::scoped_lock lock(mutex_);
  const auto it = counted_.find(jobs.front()->org_id);
  if (it == counted_.end()) return true;
  const bool few = it->second.open_max + static_cast<int>(jobs.size()) <= open_per_org_max / 2;
  if (few && clock_.SinceBoot() < it->second.until_boot) return false;
  counted_.erase(it);
  return true;
}

void JobStarts::NoteStarted(const std::vector<const NewJob*>& jobs,
                            const std::optional<CountedJobs>& counted) {
  const std::scoped_lock lock(mutex_);
  const base::Uuid& org_id = jobs.front()->org_id;
  if (counted && counted->took > kCountQuick && counted_.size() < kCountedMax) {
    counted_[org_id] = {counted->open, clock_.SinceBoot() + kCountRest * counted->took};
  }
  if (const auto it = counted_.find(org_id); it != counted_.end()) {
    it->second.open_max += static_cast<int>(jobs.size());
  }
}

}  // namespace vedette::store
