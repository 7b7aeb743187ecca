#include "net/poller.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
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

std::size_t HandlesMax(int per_host_max) {
  const int handles =
      (per_host_max + CurlLoop::kTransfersPerHandle - 1) / CurlLoop::kTransfersPerHandle;
  return static_cast<std::size_t>(std::max(handles, 1));
}

int KeptMax(int connections_max, std::size_t index) {
  if (index == 0) return std::max(connections_max, 1);
  const int kept = connections_max / static_cast<int>(2 * (index + 1));
  return std::max(kept, CurlLoop::kTransfersPerHandle);
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
                      static_cast<long>(KeptMax(owner.connections_max_, position)));
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

CurlLoop::CurlLoop(base::EventLoop& loop, int connections_max, int per_host_max,
                   std::function<void(CURL*, CURLcode)> done)
    : loop_(loop),
      connections_max_(connections_max),
      handles_max_(HandlesMax(std::min(connections_max, per_host_max))),
      done_(std::move(done)),
      poller_(loop, [this](int fd, unsigned events) { OnReady(fd, events); }) {}

CurlLoop::~CurlLoop() = default;

std::int64_t CurlLoop::ConnectionsKeptMax(int connections_max, int per_host_max) {
  std::int64_t sum = 0;
  const std::size_t handles = HandlesMax(std::min(connections_max, per_host_max));
  for (std::size_t i = 0; i < handles; ++i) sum += KeptMax(connections_max, i);
  return sum;
}

CurlLoop::Handle& CurlLoop::HandleFor(const std::string& host) {
  std::size_t index = 0;
  if (const auto found = hosts_.find(host); found != hosts_.end()) {
    const std::vector<int>& by_handle = found->second.by_handle;
    const auto room = std::find_if(by_handle.begin(), by_handle.end(),
                                   [](int transfers) { return transfers < kTransfersPerHandle; });
    index = static_cast<std::size_t>(room - by_handle.begin());
    if (index == handles_max_) {  // more than per_host_max at once: the least loaded
      index = static_cast<std::size_t>(std::min_element(by_handle.begin(), by_handle.end()) -
                                       by_handle.begin());
    }
  }
  while (handles_.size() <= index) {
    handles_.push_back(std::make_unique<Handle>(*this, handles_.size()));
  }
  return *handles_[index];
}

std::vector<std::string> CurlLoop::TakeStaleNames(Handle& handle) {
  return std::exchange(handle.stale_names, {});
}

void CurlLoop::Add(CURL* easy, Handle& handle, const std::string& host) {
  Host& known = hosts_[host];
  if (known.by_handle.size() <= handle.index) known.by_handle.resize(handle.index + 1);
  ++known.by_handle[handle.index];
  ++known.transfers;
  curl_multi_add_handle(handle.multi, easy);
}

void CurlLoop::Remove(CURL* easy, Handle& handle, const std::string& host, std::string stale_name) {
  curl_multi_remove_handle(handle.multi, easy);
  const auto found = hosts_.find(host);
  base::Assert(found != hosts_.end() && found->second.by_handle[handle.index] > 0,
               "a transfer is removed from the handle that carries it");
  --found->second.by_handle[handle.index];
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
