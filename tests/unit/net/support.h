#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/event_loop.h"
#include "base/log.h"
#include "config/config_fwd.h"
#include "net/http_server.h"

// Real sockets on the loopback interface for the tests of net/.
namespace vedette::net::test {

using std::chrono::milliseconds;

// A test that hangs is cut here; nothing asserts how long anything took.
inline constexpr int kPatienceSeconds = 30;

class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {
    timeval patience{};
    patience.tv_sec = kPatienceSeconds;
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  }
  ~Socket() { Close(); }
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  static Socket Connect(int port) {
    Socket s(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(s.fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
      throw std::runtime_error("connect failed");
    }
    return s;
  }

  // False once the other side is gone.
  bool Send(std::string_view data) {
    while (!data.empty()) {
      const ssize_t n = send(fd_, data.data(), data.size(), MSG_NOSIGNAL);
      if (n <= 0) {
        return false;
      }
      data.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
  }

  // What has come, at most `max`; empty at the end or on a reset.
  std::string Receive(std::size_t max = 65536) {
    std::string data(max, '\0');
    const ssize_t n = recv(fd_, data.data(), data.size(), 0);
    data.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    return data;
  }

  std::string ReceiveAll() {
    std::string all;
    for (;;) {
      const std::string data = Receive();
      if (data.empty()) {
        return all;
      }
      all += data;
    }
  }

  // Until `text` has come; throws when the stream ends before.
  std::string ReceiveUntil(std::string_view text) {
    std::string all;
    while (all.find(text) == std::string::npos) {
      const std::string data = Receive(1);
      if (data.empty()) {
        throw std::runtime_error("the stream ended after: " + all);
      }
      all += data;
    }
    return all;
  }

  void ShutdownSend() { shutdown(fd_, SHUT_WR); }

  // Closes with a reset rather than in order.
  void Reset() {
    const linger now{1, 0};
    setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    Close();
  }

  void Close() {
    if (fd_ >= 0) {
      close(std::exchange(fd_, -1));
    }
  }

  int fd() const { return fd_; }

 private:
  int fd_;
};

// Accepts on 127.0.0.1 and runs `serve` for each connection, on a thread of its own.
class RawServer {
 public:
  using Serve = std::function<void(Socket&)>;

  explicit RawServer(Serve serve)
      : serve_(std::move(serve)), listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
        listen(listener_, 128) != 0 ||
        getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
      throw std::runtime_error("cannot listen");
    }
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { AcceptLoop(); });
  }

  ~RawServer() {
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    close(listener_);
    {
      const std::lock_guard lock(mutex_);
      for (const int fd : open_) {
        shutdown(fd, SHUT_RDWR);
      }
    }
    for (std::thread& t : serving_) {
      t.join();
    }
  }

  int port() const { return port_; }
  int accepted() const { return accepted_; }

 private:
  void AcceptLoop() {
    for (;;) {
      const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) {
        return;
      }
      ++accepted_;
      const std::lock_guard lock(mutex_);
      open_.push_back(fd);
      serving_.emplace_back([this, fd] {
        Socket socket(fd);
        serve_(socket);
        const std::lock_guard closing(mutex_);
        std::erase(open_, fd);
        socket.Close();
      });
    }
  }

  Serve serve_;
  int listener_;
  int port_ = 0;
  std::atomic<int> accepted_{0};
  std::mutex mutex_;
  std::vector<int> open_;
  std::vector<std::thread> serving_;
  std::thread thread_;
};

// An event loop on a thread of its own.
class LoopThread {
 public:
  LoopThread() : thread_([this] { loop.Run(); }) {}
  ~LoopThread() {
    loop.Stop();
    thread_.join();
  }

  // Runs `f` on the loop and waits for it.
  template <typename F>
  auto Run(F f) {
    std::promise<decltype(f())> result;
    auto future = result.get_future();
    loop.Post([&] {
      if constexpr (std::is_void_v<decltype(f())>) {
        f();
        result.set_value();
      } else {
        result.set_value(f());
      }
    });
    return future.get();
  }

  base::EventLoop loop;

 private:
  std::thread thread_;
};

// The configuration of a server on a free port, with times that no test waits for.
const config::HttpServerConfig& ServerConfig();

// Whether the condition holds before patience ends.
template <typename Condition>
bool Await(Condition condition) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(kPatienceSeconds);
  while (!condition() && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(milliseconds(1));
  }
  return condition();
}

inline base::Logger Silent() {
  return {base::LogLevel::kOff, base::LogFormat::kText};
}

// Runs a function for every request, on the server's thread.
class FunctionService final : public WholeBodyService {
 public:
  using Handler = std::function<void(std::shared_ptr<Exchange>)>;
  explicit FunctionService(Handler handler, std::size_t body_bytes_max = 1000)
      : handler_(std::move(handler)), body_bytes_max_(body_bytes_max) {}

  void HandleWhole(std::shared_ptr<Exchange> exchange) override {
    ++handled_;
    handler_(std::move(exchange));
  }
  std::size_t BodyBytesMax(std::string_view, std::string_view) const override {
    return body_bytes_max_;
  }
  int handled() const { return handled_; }

 private:
  Handler handler_;
  std::size_t body_bytes_max_;
  std::atomic<int> handled_{0};
};

}  // namespace vedette::net::test
