#include "net/poller.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <functional>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <sys/epoll.h>
#include <unistd.h>

#include "base/assert.h"

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

namespace {

// Half of what a handle keeps: hosts fall on handles by chance, and some get twice their share.
constexpr int kConnectionsPerHandle = CurlLoop::kTransfersPerHandle / 2;

std::size_t HandleCount(int connections_max) {
  const int handles = (connections_max + kConnectionsPerHandle - 1) / kConnectionsPerHandle;
  return static_cast<std::size_t>(std::max(handles, 1));
}

int KeptMax(int connections_max) {
  return std::clamp(connections_max, 1, CurlLoop::kTransfersPerHandle);
}

}  // namespace

struct CurlLoop::Handle {
  Handle(CurlLoop& owner, std::size_t position)
      : loop(owner),
        index(position),
        multi(curl_multi_init()),
        timer(owner.loop_, [this] { loop.Act(*this, CURL_SOCKET_TIMEOUT, 0); }) {
    if (multi == nullptr) {
      throw std::runtime_error("curl_multi_init failed");
    }
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, OnSocket);
    curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, this);
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, OnTimer);
    curl_multi_setopt(multi, CURLMOPT_TIMERDATA, this);
    curl_multi_setopt(multi, CURLMOPT_PIPELINING, CURLPIPE_NOTHING);
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS,
                      static_cast<long>(KeptMax(owner.connections_max_)));
  }
  ~Handle() { curl_multi_cleanup(multi); }  // closes the idle connections
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  CurlLoop& loop;
  const std::size_t index;
  CURLM* multi;
  base::Timer timer;
  std::vector<std::string> stale_names;
};

CurlLoop::CurlLoop(base::EventLoop& loop, int connections_max,
                   std::function<void(CURL*, CURLcode)> done)
    : loop_(loop),
      connections_max_(connections_max),
      done_(std::move(done)),
      poller_(loop, [this](int fd, unsigned events) { OnReady(fd, events); }),
      handles_(HandleCount(connections_max)) {}

CurlLoop::~CurlLoop() = default;

std::int64_t CurlLoop::ConnectionsKeptMax(int connections_max) {
  return static_cast<std::int64_t>(HandleCount(connections_max)) * KeptMax(connections_max);
}

// How many handles behind its first one a host has the handle.
std::size_t CurlLoop::StepsTo(const std::string& host, std::size_t index) const {
  const std::size_t first = std::hash<std::string>()(host) % handles_.size();
  return (index + handles_.size() - first) % handles_.size();
}

CurlLoop::Handle& CurlLoop::HandleFor(const std::string& host) {
  std::size_t steps = 0;
  if (const auto found = hosts_.find(host); found != hosts_.end()) {
    const std::vector<int>& carried = found->second.carried;
    const auto room = std::find_if(carried.begin(), carried.end(),
                                   [](int transfers) { return transfers < kTransfersPerHandle; });
    steps = static_cast<std::size_t>(room - carried.begin());
    base::Assert(steps < handles_.size(), "the handles carry twice what is sent at once");
  }
  const std::size_t index = (std::hash<std::string>()(host) + steps) % handles_.size();
  auto& handle = handles_[index];
  if (!handle) handle = std::make_unique<Handle>(*this, index);
  return *handle;
}

std::vector<std::string> CurlLoop::TakeStaleNames(Handle& handle) {
  return std::exchange(handle.stale_names, {});
}

void CurlLoop::Add(CURL* easy, Handle& handle, const std::string& host) {
  Host& known = hosts_[host];
  const std::size_t steps = StepsTo(host, handle.index);
  if (known.carried.size() <= steps) known.carried.resize(steps + 1);
  ++known.carried[steps];
  ++known.transfers;
  curl_multi_add_handle(handle.multi, easy);
}

void CurlLoop::Remove(CURL* easy, Handle& handle, const std::string& host, std::string stale_name) {
  curl_multi_remove_handle(handle.multi, easy);
  const auto found = hosts_.find(host);
  base::Assert(found != hosts_.end(), "a transfer that is removed was added");
  int& carried = found->second.carried.at(StepsTo(host, handle.index));
  base::Assert(carried > 0, "a transfer is removed from the handle that carries it");
  --carried;
  if (--found->second.transfers == 0) hosts_.erase(found);
  if (!stale_name.empty()) handle.stale_names.push_back(std::move(stale_name));
}

void CurlLoop::OpenedSocket(Handle& handle, curl_socket_t fd) {
  const auto i = static_cast<std::size_t>(fd);
  if (handle_of_.size() <= i) handle_of_.resize(i + 64);
  // What another handle still waits for on this number was meant for a socket that is gone.
  if (handle_of_[i] != &handle) poller_.Want(fd, 0);
  handle_of_[i] = &handle;
  poller_.Opened(fd);
}

// A socket that the kernel refuses to watch makes its transfer end at its deadline: an error given
// back to curl would end all transfers.
int CurlLoop::OnSocket(CURL*, curl_socket_t fd, int what, void* handle, void*) {
  const unsigned events =
      what == CURL_POLL_REMOVE
          ? 0
          : ((what & CURL_POLL_IN) != 0 ? unsigned{Poller::kReadable} : 0U) |
                ((what & CURL_POLL_OUT) != 0 ? unsigned{Poller::kWritable} : 0U);
  CurlLoop& self = static_cast<Handle*>(handle)->loop;
  // A late word of a number that another handle has meanwhile says nothing of its new socket.
  const auto i = static_cast<std::size_t>(fd);
  if (i < self.handle_of_.size() && self.handle_of_[i] == handle) self.poller_.Want(fd, events);
  return 0;
}

int CurlLoop::OnTimer(CURLM*, long timeout_ms, void* handle) {
  base::Timer& timer = static_cast<Handle*>(handle)->timer;
  if (timeout_ms < 0) {
    timer.Stop();
  } else {
    timer.Start(std::chrono::milliseconds(timeout_ms));
  }
  return 0;
}

// A broken socket is told as readable and writable: curl then finds out by itself, and sends again
// where it was a kept connection that died. Told of an error, it would give up.
void CurlLoop::OnReady(curl_socket_t fd, unsigned events) {
  Act(*handle_of_[static_cast<std::size_t>(fd)], fd,
      ((events & Poller::kReadable) != 0 ? CURL_CSELECT_IN : 0) |
          ((events & Poller::kWritable) != 0 ? CURL_CSELECT_OUT : 0));
}

void CurlLoop::Act(Handle& handle, curl_socket_t fd, int events) {
  int running = 0;
  curl_multi_socket_action(handle.multi, fd, events, &running);
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(handle.multi, &left)) {
    if (message->msg == CURLMSG_DONE) {
      CURL* easy = message->easy_handle;
      const CURLcode result = message->data.result;
      done_(easy, result);
    }
  }
}

}  // namespace vedette::net
