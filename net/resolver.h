#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/event_loop.h"
#include "net/public_address.h"

namespace vedette::net {

struct ResolveResult {
  std::vector<IpAddress> addresses;  // empty on failure
  std::string error;                 // c-ares' words
};

// Names to addresses on the loop: the hosts file, then DNS, by c-ares. Loop thread only.
class Resolver {
 public:
  // `servers`: "ip" or "ip:port"; empty: the system's.
  Resolver(base::EventLoop& loop, const std::vector<std::string>& servers,
           std::chrono::milliseconds timeout);
  ~Resolver();  // pending callbacks are dropped

  // `done` exactly once, later, on the loop thread.
  void Resolve(const std::string& host, std::function<void(ResolveResult)> done);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vedette::net
