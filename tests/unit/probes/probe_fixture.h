#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "net/http_client.h"
#include "net/http_server.h"
#include "tests/unit/net/support.h"
#include "worker/probes/probe.h"

// A probe on a real loop and client, against a real server on the loopback interface.
namespace vedette::worker::test {

using std::chrono::milliseconds;
using ServerHandler = std::function<net::ServerResponse(const net::ServerRequest&)>;

// A server that answers with what `handler` makes of a request (on the server's thread), and
// remembers the requests.
class Site {
 public:
  explicit Site(ServerHandler handler)
      : service_(
            [this, handler = std::move(handler)](std::shared_ptr<net::Exchange> exchange) {
              {
                const std::lock_guard lock(mutex_);
                requests_.push_back(exchange->request());
              }
              exchange->Send(handler(exchange->request()));
            },
            1 << 20),
        server_(net::test::ServerConfig(), service_, net::test::Silent()) {
    server_.Start();
  }
  ~Site() { server_.Stop(); }

  std::string Url(const std::string& path = "/") const {
    return "http://" + server_.address() + path;
  }
  std::vector<net::ServerRequest> requests() {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  std::mutex mutex_;
  std::vector<net::ServerRequest> requests_;
  net::test::FunctionService service_;
  net::HttpServer server_;
};

inline config::NetConfig NetConfig() {
  config::NetConfig c{};
  c.allow = {"127.0.0.0/8"};
  c.user_agent = "vedette-test/1";
  c.connect_timeout_ms = milliseconds(5000);
  c.connections_max = 64;
  c.connections_per_host_max = 16;
  return c;
}

inline config::ProbeConfig ProbeConfig() {
  config::ProbeConfig c{};
  c.timeout_ms = milliseconds(20000);
  c.body_bytes_max = 1 << 20;
  return c;
}

inline std::shared_ptr<ProbeSpec> Spec(std::vector<WatchedField> watched) {
  auto spec = std::make_shared<ProbeSpec>();
  spec->monitor_id = base::Uuid::V4();
  spec->subject_type = domain::SubjectType::kCompany;
  spec->tier = domain::Tier::kLow;
  spec->watched = std::move(watched);
  return spec;
}

inline ProbeRequest Request(std::shared_ptr<const ProbeSpec> spec, base::Json subject) {
  ProbeRequest request;
  request.check_id = base::Uuid::V4();
  request.row_id = base::Uuid::V4();
  request.spec = std::move(spec);
  request.subject = std::move(subject);
  request.context = base::Json::object();
  request.known = base::Json::object();
  request.until = base::SystemClock().Now();
  request.org_id = base::Uuid::V4();
  request.timeout = milliseconds(20000);
  request.deadline_left = milliseconds(60000);
  return request;
}

// A loop on its thread, a client and a probe on it.
class Rig {
 public:
  using Make = std::function<std::unique_ptr<Probe>(base::EventLoop&, net::HttpClient&)>;

  explicit Rig(const Make& make, const config::NetConfig& net = NetConfig()) {
    loop_.Run([&] {
      client_ = std::make_unique<net::HttpClient>(loop_.loop, net);
      probe_ = make(loop_.loop, *client_);
    });
  }
  ~Rig() {
    DestroyProbe();
    loop_.Run([this] { client_.reset(); });
  }

  std::future<ProbeResult> Begin(ProbeRequest request) {
    auto promise = std::make_shared<std::promise<ProbeResult>>();
    auto future = promise->get_future();
    loop_.Run([&] {
      probe_->Start(std::move(request),
                    [promise](ProbeResult result) { promise->set_value(std::move(result)); });
    });
    return future;
  }
  ProbeResult Check(ProbeRequest request) { return Begin(std::move(request)).get(); }
  void DestroyProbe() {
    loop_.Run([this] { probe_.reset(); });
  }
  net::test::LoopThread& loop() { return loop_; }

 private:
  net::test::LoopThread loop_;
  std::unique_ptr<net::HttpClient> client_;
  std::unique_ptr<Probe> probe_;
};

// Blocks whoever waits until it is opened.
class Gate {
 public:
  void Open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void Wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

inline std::string FailureClass(const ProbeResult& result) {
  const auto* failure = std::get_if<ProbeFailure>(&result);
  return failure != nullptr ? failure->error_class : "";
}

}  // namespace vedette::worker::test
