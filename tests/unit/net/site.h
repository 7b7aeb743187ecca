#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "net/http_server.h"
#include "tests/unit/net/support.h"

// A real server on the loopback interface, for tests of what fetches from it.
namespace vedette::net::test {

using ServerHandler = std::function<ServerResponse(const ServerRequest&)>;

// A server that answers with what `handler` makes of a request (on the server's thread), and
// remembers the requests.
class Site {
 public:
  explicit Site(ServerHandler handler)
      : service_(
            [this, handler = std::move(handler)](std::shared_ptr<Exchange> exchange) {
              {
                const std::lock_guard lock(mutex_);
                requests_.push_back(exchange->request());
              }
              exchange->Send(handler(exchange->request()));
            },
            1 << 20),
        server_(ServerConfig(), service_, Silent()) {
    server_.Start();
  }
  ~Site() { server_.Stop(); }

  std::string Url(const std::string& path = "/") const {
    return "http://" + server_.address() + path;
  }
  std::vector<ServerRequest> requests() {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  std::mutex mutex_;
  std::vector<ServerRequest> requests_;
  FunctionService service_;
  HttpServer server_;
};

// The configuration of a client that may reach it.
const config::NetConfig& SiteNetConfig();

// Blocks every thread that waits until it is opened. Copies are the same gate, which outlives
// those that wait: a thread that was let through may still be on its way out of Wait.
class Gate {
 public:
  void Open() {
    const auto state = state_;
    const std::lock_guard lock(state->mutex);
    state->open = true;
    state->changed.notify_all();
  }
  void Wait() {
    const auto state = state_;
    std::unique_lock lock(state->mutex);
    state->changed.wait(lock, [&] { return state->open; });
  }

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    bool open = false;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace vedette::net::test
