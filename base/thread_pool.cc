#include "base/thread_pool.h"

#include <pthread.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace vedette::base {

struct ThreadPool::Impl {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> waiting;  // guarded by mutex
  bool stopping = false;                      // guarded by mutex
  std::size_t queue_max = 0;
  std::vector<std::thread> threads;

  void Work() {
    while (true) {
      std::function<void()> job;
      {
        std::unique_lock lock(mutex);
        changed.wait(lock, [this] { return stopping || !waiting.empty(); });
        if (stopping) return;
        job = std::move(waiting.front());
        waiting.pop_front();
      }
      job();
    }
  }
};

ThreadPool::ThreadPool(std::string name, std::size_t threads, std::size_t queue_max)
    : impl_(std::make_unique<Impl>()) {
  impl_->queue_max = queue_max;
  name.resize(std::min<std::size_t>(name.size(), 15));  // the kernel's limit
  for (std::size_t i = 0; i < threads; ++i) {
    impl_->threads.emplace_back([impl = impl_.get()] { impl->Work(); });
    pthread_setname_np(impl_->threads.back().native_handle(), name.c_str());
  }
}

ThreadPool::~ThreadPool() {
  std::deque<std::function<void()>> dropped;
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->stopping = true;
    dropped.swap(impl_->waiting);
  }
  impl_->changed.notify_all();
  dropped.clear();  // what they hold does not wait for the jobs that have begun
  for (std::thread& thread : impl_->threads) thread.join();
}

bool ThreadPool::Post(std::function<void()> job) {
  {
    const std::lock_guard lock(impl_->mutex);
    if (impl_->stopping || impl_->waiting.size() >= impl_->queue_max) return false;
    impl_->waiting.push_back(std::move(job));
  }
  impl_->changed.notify_one();
  return true;
}

}  // namespace vedette::base
