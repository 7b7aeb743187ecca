#include "base/alarm.h"

#include <sys/timerfd.h>
#include <unistd.h>
#include <uv.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

namespace vedette::base {

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
