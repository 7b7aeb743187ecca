#include "bench/delivery/arrivals.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>

namespace vedette::bench {
namespace {

constexpr std::string_view kAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
constexpr std::string_view kIdHeader = "\r\nService-Event-Id: ";

std::string EventId(const std::string& request) {
  const std::size_t begin = request.find(kIdHeader);
  if (begin == std::string::npos) return {};
  const std::size_t from = begin + kIdHeader.size();
  return request.substr(from, request.find('\r', from) - from);
}

}  // namespace

Arrivals::Arrivals(int port) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  const int one = 1;
  setsockopt(fd_, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  if (bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      listen(fd_, 1024) != 0) {
    perror("bench_delivery: listen");
    exit(1);
  }
  std::thread([this] { Accept(); }).detach();
}

Arrivals::Clock::time_point Arrivals::Wait(const std::string& event_id) {
  std::unique_lock lock(mutex_);
  arrived_.wait(lock, [&] { return at_.contains(event_id); });
  return at_.at(event_id);
}

void Arrivals::Accept() {
  for (;;) {
    const int connection = accept(fd_, nullptr, nullptr);
    if (connection < 0) return;
    std::thread([this, connection] { Serve(connection); }).detach();
  }
}

void Arrivals::Serve(int connection) {
  const int one = 1;
  setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  std::string request;
  char buffer[8192];
  for (;;) {
    const auto n = read(connection, buffer, sizeof buffer);
    if (n <= 0) break;
    request.append(buffer, static_cast<std::size_t>(n));
    if (!request.ends_with("}")) continue;  // the end of the body
    const auto now = Clock::now();
    std::string event_id = EventId(request);
    request.clear();
    if (write(connection, kAnswer.data(), kAnswer.size()) < 0) break;
    const std::lock_guard lock(mutex_);
    at_.emplace(std::move(event_id), now);
    arrived_.notify_all();
  }
  close(connection);
}

}  // namespace vedette::bench
