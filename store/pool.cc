#include <algorithm>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/fair_queue.h"
#include "base/fair_share.h"
#include "config/database_config.h"
#include "store/async.h"
#include "store/session.h"
#include "store/session_impl.h"

namespace vedette::store {
namespace {

using std::chrono::nanoseconds;

// The share of the queue that one key leaves free, however much it has to do.
constexpr double kQueueReserve = 0.1;

}  // namespace

// Jobs are given to threads that are idle and have a connection; where none has, idle threads are
// told to connect first, while the job stays in the queue for the first thread that is ready. So a
// thread that gets no connection waits out its backoff without a job, unless no thread has one.
struct Pool::Impl {
  // One thread:  idle -> running -> idle,  idle -> connecting -> idle.
  struct Member {
    enum class State { kIdle, kRunning, kConnecting };

    Member(const config::DatabaseConfig& config, const SessionOptions& options,
           const base::Clock& clock, metrics::Metrics& metrics, base::Logger log)
        : session(config, options, clock, metrics, log) {}

    Session session;  // the thread's alone
    std::thread thread{};
    std::condition_variable wake{};
    // Guarded by the pool's mutex.
    State state = State::kIdle;
    base::Uuid key{};  // of the job that it runs
    Job job{};
    bool connected = false;
    bool failed = false;      // its last attempt to connect did
    nanoseconds retry_at{0};  // the next one
  };

  const std::size_t queue_max;
  const bool turns_by_time;
  const base::Clock& clock;
  const base::Logger log;
  std::vector<std::unique_ptr<Member>> members{};

  std::mutex mutex{};
  // All guarded by mutex.
  base::FairQueue<base::Uuid, Job> queue{};
  std::map<base::Uuid, std::size_t> running_by{};  // jobs under way, of keys that have any
  std::size_t running = 0;
  std::vector<Member*> idle{};
  std::size_t connecting = 0;
  std::size_t connected = 0;
  std::size_t failed = 0;
  nanoseconds retry_at{0};  // when no thread has a connection, none tries before
  bool stopping = false;

  Impl(std::size_t max, bool by_time, const base::Clock& c, base::Logger l)
      : queue_max(max), turns_by_time(by_time), clock(c), log(l) {}

  bool Ended() const { return stopping && queue.empty(); }

  // Whether the key may have one more thread. One key leaves one thread free for the next one.
  bool MayRun(const base::Uuid& key) const {
    if (key.is_nil() || connected == 0) return true;
    const std::size_t threads = std::max<std::size_t>(1, members.size() - failed);
    const auto it = running_by.find(key);
    return base::MayTakeMore(it == running_by.end() ? 0 : it->second, running, threads,
                             1.0 / static_cast<double>(threads));
  }

  bool MayConnect(const Member& m) const {
    const nanoseconds now = clock.SinceBoot();
    return !m.connected && m.retry_at <= now && (connected > 0 || retry_at <= now);
  }

  template <typename Wanted>
  Member* TakeIdle(Wanted wanted) {
    const auto it = std::find_if(idle.rbegin(), idle.rend(), wanted);
    if (it == idle.rend()) return nullptr;
    Member* found = *it;
    idle.erase(std::next(it).base());
    return found;
  }

  // Gives what waits to the threads that are idle. With the lock, after every change.
  void Dispatch() {
    while (!queue.empty() && !idle.empty()) {
      Member* m = TakeIdle([](const Member* i) { return i->connected; });
      if (m == nullptr && connecting < queue.size()) {
        m = TakeIdle([this](const Member* i) { return MayConnect(*i); });
        if (m != nullptr) {
          m->state = Member::State::kConnecting;
          ++connecting;
          m->wake.notify_one();
          continue;
        }
      }
      if (m == nullptr && connected == 0 && connecting == 0) {
        m = TakeIdle([](const Member*) { return true; });  // its job fails at once
      }
      if (m == nullptr) return;
      if (!Give(m)) {
        idle.push_back(m);
        return;
      }
    }
  }

  bool Give(Member* m) {
    auto job = queue.PopIf([&](const base::Uuid& key, const Job&) {
      m->key = key;
      return MayRun(key);
    });
    if (!job) return false;
    m->job = std::move(*job);
    m->state = Member::State::kRunning;
    ++running;
    ++running_by[m->key];
    m->wake.notify_one();
    if (Ended()) {
      for (Member* other : idle) other->wake.notify_one();
    }
    return true;
  }

  void Run(Member& m) {
    std::unique_lock lock(mutex);
    for (;;) {
      idle.push_back(&m);
      Dispatch();
      while (m.state == Member::State::kIdle && !Ended()) Rest(m, lock);
      switch (m.state) {
        case Member::State::kIdle:
          return;
        case Member::State::kConnecting:
          Connect(m, lock);
          break;
        case Member::State::kRunning:
          RunJob(m, lock);
          break;
      }
      m.state = Member::State::kIdle;
    }
  }

  // Until it is woken, or may try again to connect.
  void Rest(Member& m, std::unique_lock<std::mutex>& lock) {
    const nanoseconds left = m.retry_at - clock.SinceBoot();
    if (m.connected || left <= nanoseconds(0)) {
      m.wake.wait(lock);
    } else if (m.wake.wait_for(lock, left) == std::cv_status::timeout) {
      Dispatch();
    }
  }

  void Connect(Member& m, std::unique_lock<std::mutex>& lock) {
    lock.unlock();
    try {
      m.session.impl().Connect();
    } catch (const Unavailable&) {
      // Logged there; the job that it was for is still in the queue.
    }
    lock.lock();
    --connecting;
    Note(m);
  }

  void RunJob(Member& m, std::unique_lock<std::mutex>& lock) {
    lock.unlock();
    const nanoseconds began = clock.SinceBoot();
    try {
      m.job(m.session);
    } catch (const std::exception&) {
      log.Error("a database job failed", {{"error", CurrentFailure().message}});
    }
    m.job = nullptr;
    const nanoseconds took = clock.SinceBoot() - began;
    lock.lock();
    if (turns_by_time) queue.Charge(m.key, static_cast<std::uint64_t>(took.count()));
    --running;
    const auto it = running_by.find(m.key);
    if (--it->second == 0) running_by.erase(it);
    Note(m);
  }

  // What the thread's session has come to.
  void Note(Member& m) {
    const Session::Impl& session = m.session.impl();
    const bool has = session.connection != nullptr;
    const bool lost = !has && session.retry_at > nanoseconds(0);
    connected = connected + (has ? 1 : 0) - (m.connected ? 1 : 0);
    failed = failed + (lost ? 1 : 0) - (m.failed ? 1 : 0);
    m.connected = has;
    m.failed = lost;
    m.retry_at = has ? nanoseconds(0) : session.retry_at;
    if (connected == 0) retry_at = m.retry_at;
  }
};

Pool::Pool(const config::DatabaseConfig& config, SessionOptions options, int connections,
           const base::Clock& clock, metrics::Metrics& metrics, base::Logger log)
    : impl_(std::make_unique<Impl>(static_cast<std::size_t>(config.queue_max),
                                   options.turns_by_time, clock, log)) {
  for (int i = 0; i < connections; ++i) {
    impl_->members.push_back(std::make_unique<Impl::Member>(config, options, clock, metrics, log));
  }
  for (const auto& member : impl_->members) {
    member->thread = std::thread([this, m = member.get()] { impl_->Run(*m); });
  }
}

Pool::~Pool() {
  Stop();
}

bool Pool::Post(Job job) {
  return Post(base::Uuid{}, std::move(job));
}

bool Pool::Post(const base::Uuid& key, Job job) {
  const std::lock_guard lock(impl_->mutex);
  auto& queue = impl_->queue;
  if (impl_->stopping || queue.size() >= impl_->queue_max) return false;
  const bool fair = key.is_nil() || base::MayTakeMore(queue.size_of(key), queue.size(),
                                                      impl_->queue_max, kQueueReserve);
  if (!fair) return false;
  queue.Push(key, std::move(job));
  impl_->Dispatch();
  return true;
}

void Pool::Stop() {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->stopping = true;
    for (const auto& member : impl_->members) member->wake.notify_one();
  }
  for (const auto& member : impl_->members) {
    if (member->thread.joinable()) member->thread.join();
  }
}

}  // namespace vedette::store
