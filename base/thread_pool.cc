#include "base/thread_pool.h"

#include <pthread.h>

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/fair_queue.h"

namespace vedette::base {

struct ThreadPool::Impl {
  struct Job {
    Uuid key;
    std::function<void()> run;
  };

  const Limits limits;
  std::mutex mutex{};
  std::condition_variable changed{};
  FairQueue<Uuid, Job> waiting{};         // guarded by mutex
  std::map<Uuid, std::size_t> running{};  // guarded by mutex; keys with a job under way
  bool stopping = false;                  // guarded by mutex
  std::vector<std::thread> threads{};

  explicit Impl(Limits l) : limits(l) {}

  // The next job that may begin, counted as running. With the mutex held.
  std::optional<Job> Take() {
    auto job = waiting.PopIf([this](const Uuid& key, const Job&) {
      const auto it = running.find(key);
      return it == running.end() || it->second < limits.threads_per_key_max;
    });
    if (job) ++running[job->key];
    return job;
  }

  // A thread sleeps only while nothing may begin. A job that ends makes at most one other job
  // begin, and its own thread looks for that one, so that nobody needs to be woken for it.
  void Work() {
    std::unique_lock lock(mutex);
    while (true) {
      std::optional<Job> job;
      changed.wait(lock, [&] {
        if (!stopping) job = Take();
        return stopping || job;
      });
      if (!job) return;
      const Uuid key = job->key;
      lock.unlock();
      job->run();
      job.reset();  // what it holds goes before the next one begins
      lock.lock();
      const auto it = running.find(key);
      Assert(it != running.end() && it->second > 0, "a job that ends was counted as running");
      if (--it->second == 0) running.erase(it);
    }
  }
};

ThreadPool::ThreadPool(std::string name, Limits limits) : impl_(std::make_unique<Impl>(limits)) {
  name.resize(std::min<std::size_t>(name.size(), 15));  // the kernel's limit
  for (std::size_t i = 0; i < limits.threads; ++i) {
    impl_->threads.emplace_back([impl = impl_.get()] { impl->Work(); });
    pthread_setname_np(impl_->threads.back().native_handle(), name.c_str());
  }
}

ThreadPool::~ThreadPool() {
  FairQueue<Uuid, Impl::Job> dropped;
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->stopping = true;
    dropped = std::exchange(impl_->waiting, {});
  }
  impl_->changed.notify_all();
  dropped = {};  // what they hold does not wait for the jobs that have begun
  for (std::thread& thread : impl_->threads) thread.join();
}

bool ThreadPool::Post(const Uuid& key, std::function<void()> job) {
  {
    const std::lock_guard lock(impl_->mutex);
    if (impl_->stopping || impl_->waiting.size_of(key) >= impl_->limits.queue_per_key_max) {
      return false;
    }
    impl_->waiting.Push(key, {key, std::move(job)});
  }
  impl_->changed.notify_one();
  return true;
}

}  // namespace vedette::base
