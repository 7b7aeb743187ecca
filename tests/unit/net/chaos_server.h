#pragma once

#include <fcntl.h>

#include <map>
#include <random>

#include "tests/unit/net/support.h"

namespace vedette::net::test {

// Answers, drips, hangs, resets and closes as the path of each request asks, thousands of
// connections on one thread:
//   /ok/N            N bytes, the connection is kept
//   /kept-then-gone  an answer that says "keep-alive"; then the connection is closed
//   /close/N  /reset  /half  /hang  /garbage
//   /late/N          a redirect to /ok/10, after N ms
class ChaosServer {
 public:
  explicit ChaosServer(std::string packed)
      : packed_(std::move(packed)),
        listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* raw = reinterpret_cast<sockaddr*>(&address);
    if (bind(listener_.fd(), raw, size) != 0 || listen(listener_.fd(), 1024) != 0 ||
        getsockname(listener_.fd(), raw, &size) != 0) {
      throw std::runtime_error("cannot listen");
    }
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] {
      while (!stop_) Round();
    });
  }
  ~ChaosServer() {
    stop_ = true;
    thread_.join();
  }
  int port() const { return port_; }

 private:
  using Clock = std::chrono::steady_clock;
  enum class Then { kKeep, kClose, kReset };
  struct Connection {
    Socket socket;
    std::string in{};
    std::string out{};
    Clock::time_point out_at{};
    Then then = Then::kKeep;
  };

  void Round() {
    std::vector<pollfd> polls{{listener_.fd(), POLLIN, 0}};
    const auto now = Clock::now();
    for (auto& [fd, c] : connections_) {
      const bool due = !c.out.empty() && c.out_at <= now;
      polls.push_back({fd, static_cast<short>(POLLIN | (due ? POLLOUT : 0)), 0});
    }
    poll(polls.data(), polls.size(), 2);
    for (const pollfd& p : polls) {
      if (p.revents == 0) continue;
      if (p.fd == listener_.fd()) {
        Accept();
      } else if (!Serve(connections_.at(p.fd), p.revents)) {
        connections_.erase(p.fd);
      }
    }
  }

  void Accept() {
    for (;;) {
      const int fd = accept4(listener_.fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (fd < 0) return;
      connections_.emplace(fd, Connection{Socket(fd)});
    }
  }

  // False: the connection has ended.
  bool Serve(Connection& c, short events) {
    if ((events & (POLLIN | POLLHUP | POLLERR)) != 0) {
      const std::string data = c.socket.Receive(4096);
      if (data.empty()) return false;
      c.in += data;
      const std::size_t end = c.in.find("\r\n\r\n");
      if (end != std::string::npos && c.out.empty()) {
        const std::size_t from = c.in.find(' ') + 1;
        Decide(c, c.in.substr(from, c.in.find(' ', from) - from));
        c.in.erase(0, end + 4);
        if (c.then == Then::kReset) c.socket.Reset();
        if (c.then == Then::kReset) return false;
      }
    }
    if ((events & POLLOUT) != 0 && !c.out.empty()) {
      const ssize_t n = send(c.socket.fd(), c.out.data(), c.out.size(), MSG_NOSIGNAL);
      if (n <= 0) return false;
      c.out.erase(0, static_cast<std::size_t>(n));
      if (c.out.empty() && c.then == Then::kClose) return false;
    }
    return true;
  }

  void Decide(Connection& c, const std::string& path) {
    const std::string ok = "HTTP/1.1 200 OK\r\n";
    const std::string number = path.substr(path.rfind('/') + 1);
    const auto sized = [&](const std::string& body, const std::string& more = "") {
      return ok + more + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
    };
    c.out_at = Clock::now();
    c.then = Then::kKeep;
    if (path.starts_with("/ok/")) {
      c.out = sized(std::string(std::stoul(number), 'x'));
    } else if (path == "/kept-then-gone") {
      c.out = sized("gone", "Connection: keep-alive\r\n");
      c.then = Then::kClose;
    } else if (path.starts_with("/close/")) {
      c.out = ok + "\r\n" + std::string(std::stoul(number), 'x');
      c.then = Then::kClose;
    } else if (path == "/packed") {
      c.out = sized(packed_, "Content-Encoding: gzip\r\n");
    } else if (path == "/reset") {
      c.then = Then::kReset;
    } else if (path == "/half") {
      c.out = ok + "Content-Length: 100\r\n\r\nhalf";
      c.then = Then::kClose;
    } else if (path == "/garbage") {
      c.out = "garbage\r\n\r\n";
      c.then = Then::kClose;
    } else if (path.starts_with("/late/")) {
      c.out = "HTTP/1.1 302 Found\r\nLocation: /ok/10\r\nContent-Length: 0\r\n\r\n";
      c.out_at += milliseconds(std::stoi(number));
    }  // else: hangs
  }

  const std::string packed_;
  Socket listener_;
  int port_ = 0;
  std::map<int, Connection> connections_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace vedette::net::test
