#include "api/tenant/jobs/waits.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <string_view>
#include <utility>

#include "api/kit/answer.h"
#include "api/kit/reply.h"
#include "api/tenant/authenticate.h"
#include "base/assert.h"
#include "base/fair_share.h"
#include "base/json.h"
#include "config/parts.h"
#include "config/server_config.h"
#include "store/async.h"
#include "store/jobs/read.h"
#include "store/place.h"

namespace vedette::api {
namespace {

// The least that stays free beside an organisation that is alone.
constexpr double kReserveMin = 0.001;

}  // namespace

struct WaitPlaces::Counts {
  Counts(std::size_t places_max, double reserve, metrics::Metrics& m)
      : shares(places_max, reserve), metrics(m) {}

  std::mutex mutex;
  base::FairShares<base::Uuid> shares;  // guarded by mutex
  metrics::Metrics& metrics;
};

WaitPlaces::Place::Place(std::shared_ptr<Counts> counts, const base::Uuid& org_id)
    : counts_(std::move(counts)), org_id_(org_id) {}

WaitPlaces::Place::~Place() {
  if (!counts_) return;
  const std::lock_guard lock(counts_->mutex);
  counts_->shares.GiveBack(org_id_);
  counts_->metrics.SetWaits(static_cast<std::int64_t>(counts_->shares.used()));
}

WaitPlaces::WaitPlaces(int places_max, double share, metrics::Metrics& metrics)
    : counts_(std::make_shared<Counts>(static_cast<std::size_t>(places_max),
                                       std::max(1 - share, kReserveMin), metrics)) {
  metrics.SetWaitsMax(places_max);
}

std::optional<WaitPlaces::Place> WaitPlaces::Reserve(const base::Uuid& org_id) {
  const std::lock_guard lock(counts_->mutex);
  if (!counts_->shares.MayTake(org_id)) return std::nullopt;
  counts_->shares.Take(org_id);
  counts_->metrics.SetWaits(static_cast<std::int64_t>(counts_->shares.used()));
  return Place(counts_, org_id);
}

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

namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// No answer of ours: how requests are counted whose client did not wait.
constexpr int kClientGoneStatus = 499;

std::string_view OutcomeName(WaitEnd end) {
  constexpr std::string_view kNames[] = {"ended", "deadline", "client_gone", "shutdown"};
  return kNames[static_cast<std::size_t>(end)];
}

// The job goes on, and the client may ask for it by its id.
rest::Reply NamingJob(rest::Reply reply, const base::Uuid& job_id) {
  base::Json body = base::ParseJsonOrThrow(reply.body);
  body["task_id"] = job_id.ToString();
  reply.body = base::DumpJson(body);
  return reply;
}

// A 503 of a wait.
rest::Reply Broken(std::string_view code, std::string_view message, const base::Uuid& job_id) {
  return NamingJob(rest::Unavailable(code, message), job_id);
}

}  // namespace

Waits::Waits(base::EventLoop& loop, store::Pool& pool, const base::Clock& clock,
             metrics::Metrics& metrics, const config::Config& config, base::Logger log)
    : loop_(loop),
      pool_(pool),
      clock_(clock),
      metrics_(metrics),
      log_(log),
      drain_wait_(config.api.drain_timeout_ms / 2),
      places_(config.waits.waits_max, config.waits.waits_share, metrics),
      deadline_timer_(loop, [this] { OnTime(); }),
      look_timer_(loop, [this] { look_.Wake(); }),
      drain_timer_(loop,
                   [this] {
                     state_ = State::kClosed;
                     for (const WaitTable::Id id : table_.TakeAll()) End(id, WaitEnd::kShutdown);
                     StartTimer();
                   }),
      look_(loop, pool, log, {.failed = "asking which jobs have ended failed", .poll = kLookEvery},
            {.begin = [this]() -> lease::Step<Ended>::Job {
               if (table_.empty()) return nullptr;
               pace_.Began(clock_.SinceBoot());
               return [jobs = table_.Jobs(), clock = &clock_](store::Session& session) {
                 const nanoseconds began = clock->SinceBoot();
                 Ended ended{store::ReadEndedJobs(session, jobs)};
                 ended.took = clock->SinceBoot() - began;
                 return ended;
               };
             },
             .finish = [this](Ended ended) -> lease::Step<Ended>::Then {
               pace_.Ended(ended.took);
               const auto ids = table_.TakeEnded(ended.jobs);
               for (const WaitTable::Id id : ids) End(id, WaitEnd::kEnded);
               StartTimer();
               return lease::kAtPoll;
             }}) {}

std::optional<WaitPlaces::Place> Waits::Reserve(const base::Uuid& org_id) {
  return places_.Reserve(org_id);
}

rest::Parked Waits::Park(WaitPlaces::Place place, Wait wait,
                         const std::shared_ptr<rest::Answer>& answer) {
  WaitTable::Id id = 0;
  {
    const std::lock_guard lock(mutex_);
    id = next_id_++;
  }
  // The client may leave before the wait is in the table; then Add finds this set.
  const auto is_gone = std::make_shared<std::atomic<bool>>(false);
  const rest::Parked parked = answer->Park([this, id, is_gone] {
    *is_gone = true;
    loop_.Post([this, id] {
      if (!table_.Take(id)) return;
      End(id, WaitEnd::kGone);
      StartTimer();
    });
  });
  // The answer is the loop's from here on. What is posted holds no answer, as the loop may stop
  // before it runs.
  {
    const std::lock_guard lock(mutex_);
    waiters_.emplace(id,
                     std::make_shared<Waiter>(Waiter{std::move(place), std::move(wait), answer}));
  }
  loop_.Post([this, id, is_gone] { Add(id, *is_gone); });
  return parked;
}

void Waits::Add(WaitTable::Id id, bool is_gone) {
  if (is_gone || state_ == State::kClosed) {
    End(id, is_gone ? WaitEnd::kGone : WaitEnd::kShutdown);
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    const Wait& wait = waiters_.at(id)->wait;
    table_.Add(id, wait.job_id, wait.until);
  }
  StartTimer();
  LookIn(kLookAfterAdd);
}

// A wake while a look is under way makes the step look once more; the timer keeps the gap.
void Waits::LookIn(milliseconds wait) {
  if (table_.empty()) return;
  const nanoseconds now = clock_.SinceBoot();
  const nanoseconds at = pace_.From(now + wait);
  if (look_timer_.active() && look_at_ <= at) return;
  look_at_ = at;
  look_timer_.Start(std::chrono::ceil<milliseconds>(at - now));
}

void Waits::OnTime() {
  for (const WaitTable::Id id : table_.TakeDue(clock_.SinceBoot())) End(id, WaitEnd::kDeadline);
  StartTimer();
}

void Waits::StartTimer() {
  const auto earliest = table_.Earliest();
  if (!earliest) {
    deadline_timer_.Stop();
    return;
  }
  const nanoseconds left = *earliest - clock_.SinceBoot();
  deadline_timer_.Start(std::max(milliseconds(0), std::chrono::ceil<milliseconds>(left)));
}

void Waits::Drain() {
  loop_.Post([this] {
    state_ = State::kDraining;
    drain_timer_.Start(drain_wait_);
  });
}

// The wait is not in the table any more.
void Waits::End(WaitTable::Id id, WaitEnd end) {
  std::shared_ptr<Waiter> waiter;
  {
    const std::lock_guard lock(mutex_);
    const auto it = waiters_.find(id);
    waiter = std::move(it->second);
    waiters_.erase(it);
  }
  metrics_.AddWait(OutcomeName(end));
  Give(waiter, end);
}

// The job ends by its deadline where the pool has no room or the database is away.
void Waits::EndForTheGone(const std::shared_ptr<Waiter>& waiter) {
  const auto note = [log = log_, id = waiter->wait.job_id](const std::string& why) {
    log.Debug("the job of a client that has left goes on to its deadline",
              {{"job_id", id.ToString()}, {"reason", why}});
  };
  const bool posted = pool_.Post(waiter->wait.org_id, [waiter, note](store::Session& session) {
    try {
      waiter->wait.gone(session);
    } catch (...) {
      const store::Failure failure = store::CurrentFailure();
      if (failure.kind == store::Failure::Kind::kFault) throw;  // the pool logs it
      note(failure.message);
    }
  });
  if (!posted) note("too many database jobs are waiting");
}

// The place goes with the waiter, once the pool has answered.
void Waits::Give(const std::shared_ptr<Waiter>& waiter, WaitEnd end) {
  const Wait& wait = waiter->wait;
  switch (end) {
    case WaitEnd::kEnded:
    case WaitEnd::kDeadline:
      rest::Serve(
          pool_, wait.org_id, waiter->answer,
          [waiter, end, clock = &clock_](store::Session& session) -> rest::Handled {
            try {
              return waiter->wait.reply(session, end);
            } catch (const store::OrganisationAway& away) {
              return NamingJob(AwayReply(away.place(), clock->Now()), waiter->wait.job_id);
            }
          },
          [waiter](const store::Failure& failure) {
            if (failure.kind == store::Failure::Kind::kFault) {
              return rest::FailureReply(failure, waiter->answer->request_id());
            }
            return Broken("unavailable",
                          "how the job ended could not be read now; ask for it by its task_id",
                          waiter->wait.job_id);
          });
      return;
    case WaitEnd::kGone:
      waiter->answer->Send({kClientGoneStatus, ""});  // for the metrics alone
      if (wait.gone) EndForTheGone(waiter);
      return;
    case WaitEnd::kShutdown:
      waiter->answer->Send(Broken("shutting_down",
                                  "this process stops; the job goes on: ask for it by its task_id",
                                  wait.job_id));
      return;
  }
}

}  // namespace vedette::api
