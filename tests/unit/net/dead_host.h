#pragma once

#include <fcntl.h>

#include <list>

#include "tests/unit/net/support.h"

namespace vedette::net::test {

// A port of 127.0.0.1 that answers no SYN, as a host behind a silent firewall does: its queue of
// connections is full, and nobody accepts.
class DeadHost {
 public:
  DeadHost() : listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* raw = reinterpret_cast<sockaddr*>(&address);
    if (bind(listener_.fd(), raw, size) != 0 || listen(listener_.fd(), 0) != 0 ||
        getsockname(listener_.fd(), raw, &size) != 0) {
      throw std::runtime_error("cannot listen");
    }
    port_ = ntohs(address.sin_port);
    for (;;) {
      Socket& filler =
          fillers_.emplace_back(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
      connect(filler.fd(), raw, size);
      pollfd wait{filler.fd(), POLLOUT, 0};
      if (poll(&wait, 1, 100) == 0) return;  // no answer: the queue is full
    }
  }
  int port() const { return port_; }

 private:
  Socket listener_;
  std::list<Socket> fillers_;
  int port_ = 0;
};

}  // namespace vedette::net::test
