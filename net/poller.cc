#include "net/poller.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

namespace vedette::net {

namespace {

constexpr int kEventsPerRound = 256;

std::uint32_t ToEpoll(unsigned events) {
  return ((events & Poller::kReadable) != 0 ? EPOLLIN : 0U) |
         ((events & Poller::kWritable) != 0 ? EPOLLOUT : 0U);
}

unsigned FromEpoll(std::uint32_t events) {
  if ((events & (EPOLLERR | EPOLLHUP)) != 0) {
    return Poller::kReadable | Poller::kWritable;
  }
  return ((events & EPOLLIN) != 0 ? Poller::kReadable : 0U) |
         ((events & EPOLLOUT) != 0 ? Poller::kWritable : 0U);
}

}  // namespace

struct Poller::Watcher {
  uv_poll_t poll;
  Poller* owner;
  int epoll;
};

Poller::Poller(base::EventLoop& loop, std::function<void(int fd, unsigned events)> ready)
    : ready_(std::move(ready)), epoll_(epoll_create1(EPOLL_CLOEXEC)) {
  if (epoll_ < 0) {
    throw std::system_error(errno, std::generic_category(), "epoll_create1");
  }
  watcher_ = new Watcher{{}, this, epoll_};
  if (const int error = uv_poll_init(loop.raw(), &watcher_->poll, epoll_); error != 0) {
    delete watcher_;
    close(epoll_);
    throw std::system_error(-error, std::generic_category(), "uv_poll_init");
  }
  watcher_->poll.data = watcher_;
  uv_poll_start(&watcher_->poll, UV_READABLE, [](uv_poll_t* poll, int, int) {
    static_cast<Watcher*>(poll->data)->owner->Collect();
  });
}

// uv_close takes the epoll instance out of libuv's own at once, so that it may be closed here.
Poller::~Poller() {
  uv_close(reinterpret_cast<uv_handle_t*>(&watcher_->poll),
           [](uv_handle_t* handle) { delete static_cast<Watcher*>(handle->data); });
  close(epoll_);
}

void Poller::Opened(int fd) {
  const auto i = static_cast<std::size_t>(fd);
  if (i >= entries_.size()) {
    entries_.resize(i + 64);
  }
  Entry& entry = entries_[i];
  entry.registered = 0;
  ++entry.generation;
  if (entry.wanted != 0) {
    Register(fd, entry);
  }
}

bool Poller::Want(int fd, unsigned events) {
  const auto i = static_cast<std::size_t>(fd);
  if (i >= entries_.size()) {
    entries_.resize(i + 64);
  }
  Entry& entry = entries_[i];
  entry.wanted = events;
  return events == 0 || events == entry.registered || Register(fd, entry);
}

bool Poller::Register(int fd, Entry& entry) {
  epoll_event event{};
  event.events = ToEpoll(entry.wanted);
  event.data.u64 = std::uint64_t{entry.generation} << 32 | static_cast<std::uint32_t>(fd);
  const bool known = entry.registered != 0;
  entry.registered = entry.wanted;
  // The socket that was registered may be gone, or this one may be known where it was not expected.
  if (epoll_ctl(epoll_, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event) == 0 ||
      (errno == ENOENT && epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) == 0) ||
      (errno == EEXIST && epoll_ctl(epoll_, EPOLL_CTL_MOD, fd, &event) == 0)) {
    return true;
  }
  entry.registered = 0;
  return false;
}

void Poller::Unregister(int fd, Entry& entry) {
  entry.registered = 0;
  epoll_ctl(epoll_, EPOLL_CTL_DEL, fd, nullptr);
}

// What nobody waits for is taken out before anything is called: at that point each descriptor of
// the round is surely open and surely the one that was meant. What becomes unwanted by a call may
// be closed, so it is left alone; if it is not closed, the next round tells of it again.
void Poller::Collect() {
  std::array<epoll_event, kEventsPerRound> events;
  const int n = epoll_wait(epoll_, events.data(), kEventsPerRound, 0);
  const auto number = [](const epoll_event& event) {
    return static_cast<std::size_t>(event.data.u64 & 0xffffffffU);
  };
  for (int k = 0; k < n; ++k) {
    const std::size_t fd = number(events[static_cast<std::size_t>(k)]);
    if (entries_[fd].wanted == 0) {
      Unregister(static_cast<int>(fd), entries_[fd]);
    }
  }
  for (int k = 0; k < n; ++k) {
    const epoll_event& event = events[static_cast<std::size_t>(k)];
    const Entry& entry = entries_[number(event)];
    // The event is of another generation: the socket was replaced within this round.
    if (entry.wanted != 0 && entry.generation == static_cast<std::uint32_t>(event.data.u64 >> 32)) {
      ready_(static_cast<int>(number(event)), FromEpoll(event.events));
    }
  }
}

}  // namespace vedette::net
