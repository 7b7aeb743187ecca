#include "base/event_loop.h"

#include <sys/timerfd.h>
#include <unistd.h>
#include <uv.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace vedette::base {
namespace {

void Check(int result, const char* what) {
  if (result != 0) throw std::runtime_error(std::string(what) + ": " + uv_strerror(result));
}

}  // namespace

struct EventLoop::Impl {
  uv_loop_t loop;
  uv_async_t wake;
  std::atomic<std::thread::id> thread;

  std::mutex mutex;
  std::vector<std::function<void()>> posted;  // guarded by mutex
  bool closed = false;                        // guarded by mutex; posts are dropped from then on

  // noexcept: libuv's frames are C, nothing may be thrown through them.
  void RunPosted() noexcept {
    std::vector<std::function<void()>> batch;
    {
      const std::lock_guard lock(mutex);
      batch.swap(posted);
    }
    for (auto& f : batch) {
      f();
      f = nullptr;  // what it holds goes before the next one runs
    }
  }
};

EventLoop::EventLoop() : impl_(std::make_unique<Impl>()) {
  Check(uv_loop_init(&impl_->loop), "cannot create an event loop");
  impl_->wake.data = impl_.get();
  const int result = uv_async_init(&impl_->loop, &impl_->wake, [](uv_async_t* handle) {
    static_cast<Impl*>(handle->data)->RunPosted();
  });
  if (result != 0) {
    uv_loop_close(&impl_->loop);
    Check(result, "cannot create an event loop");
  }
}

EventLoop::~EventLoop() {
  std::vector<std::function<void()>> unrun;
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->closed = true;
    unrun.swap(impl_->posted);
  }
  // Before the handles are closed: what the functions hold may own some.
  unrun.clear();
  uv_walk(
      &impl_->loop,
      [](uv_handle_t* handle, void*) {
        if (!uv_is_closing(handle)) uv_close(handle, nullptr);
      },
      nullptr);
  while (uv_loop_close(&impl_->loop) == UV_EBUSY) uv_run(&impl_->loop, UV_RUN_ONCE);
}

void EventLoop::Run() {
  impl_->thread = std::this_thread::get_id();
  uv_run(&impl_->loop, UV_RUN_DEFAULT);
}

void EventLoop::Stop() {
  Post([this] { uv_stop(&impl_->loop); });
}

void EventLoop::Post(std::function<void()> f) {
  const std::lock_guard lock(impl_->mutex);
  if (impl_->closed) return;
  impl_->posted.push_back(std::move(f));
  // The thread that found the list empty has woken the loop, or the loop is about to take the list.
  if (impl_->posted.size() == 1) uv_async_send(&impl_->wake);
}

bool EventLoop::InLoopThread() const {
  return impl_->thread.load() == std::this_thread::get_id();
}

uv_loop_t* EventLoop::raw() {
  return &impl_->loop;
}

struct Timer::Impl {
  uv_timer_t handle;
  std::function<void()> callback;
};

Timer::Timer(EventLoop& loop, std::function<void()> callback) : impl_(new Impl) {
  impl_->callback = std::move(callback);
  uv_timer_init(loop.raw(), &impl_->handle);
  impl_->handle.data = impl_;
}

Timer::~Timer() {
  auto* handle = reinterpret_cast<uv_handle_t*>(&impl_->handle);
  if (uv_is_closing(handle)) {
    delete impl_;  // the loop is gone and has closed the handle
    return;
  }
  // The callback may be what is running right now, so it lives until libuv lets go of the handle.
  uv_close(handle, [](uv_handle_t* closed) { delete static_cast<Impl*>(closed->data); });
}

void Timer::Start(std::chrono::milliseconds delay, std::chrono::milliseconds repeat) {
  // The loop's time is that of the start of its round; a delay counts from now.
  uv_update_time(impl_->handle.loop);
  const auto ms = [](std::chrono::milliseconds d) {
    return static_cast<std::uint64_t>(d.count() > 0 ? d.count() : 0);
  };
  uv_timer_start(
      &impl_->handle,
      [](uv_timer_t* handle) noexcept { static_cast<Impl*>(handle->data)->callback(); }, ms(delay),
      ms(repeat));
}

void Timer::Stop() {
  uv_timer_stop(&impl_->handle);
}

bool Timer::active() const {
  return uv_is_active(reinterpret_cast<const uv_handle_t*>(&impl_->handle)) != 0;
}

struct Alarm::Impl {
  uv_poll_t handle;
  std::function<void()> callback;
  int fd;

  ~Impl() { close(fd); }

  // noexcept: libuv's frames are C, nothing may be thrown through them.
  void Fire() noexcept {
    std::uint64_t times = 0;
    // Nothing is there to be read where it was started again meanwhile.
    if (read(fd, &times, sizeof times) == sizeof times) callback();
  }
};

Alarm::Alarm(EventLoop& loop, std::function<void()> callback) : impl_(new Impl) {
  impl_->callback = std::move(callback);
  impl_->fd = timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC);
  // An error of libuv's is one of the system, below zero.
  const int result = impl_->fd < 0 ? -errno : uv_poll_init(loop.raw(), &impl_->handle, impl_->fd);
  if (result != 0) {
    delete impl_;
    throw std::runtime_error(std::string("cannot create a timer: ") + uv_strerror(result));
  }
  impl_->handle.data = impl_;
  uv_poll_start(&impl_->handle, UV_READABLE,
                [](uv_poll_t* handle, int, int) { static_cast<Impl*>(handle->data)->Fire(); });
}

Alarm::~Alarm() {
  auto* handle = reinterpret_cast<uv_handle_t*>(&impl_->handle);
  if (uv_is_closing(handle)) {
    delete impl_;  // the loop is gone and has closed the handle
    return;
  }
  // The callback may be what is running right now, so it lives until libuv lets go of the handle.
  uv_close(handle, [](uv_handle_t* closed) { delete static_cast<Impl*>(closed->data); });
}

void Alarm::Start(std::chrono::nanoseconds delay) {
  // A delay of zero would stop it.
  const auto wait = std::max(delay, std::chrono::nanoseconds(1));
  const auto whole = std::chrono::floor<std::chrono::seconds>(wait);
  itimerspec at{};
  at.it_value.tv_sec = whole.count();
  at.it_value.tv_nsec = (wait - whole).count();
  timerfd_settime(impl_->fd, 0, &at, nullptr);
}

}  // namespace vedette::base
