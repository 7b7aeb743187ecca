#pragma once

#include <functional>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "config/probe_config.h"
#include "net/http_client.h"
#include "tests/unit/net/site.h"
#include "worker/probes/probe.h"

// A probe on a real loop and client, against a real server on the loopback interface.
namespace vedette::worker::test {

using net::test::Gate;
using net::test::Site;
using std::chrono::milliseconds;

inline const config::NetConfig& NetConfig() {
  return net::test::SiteNetConfig();
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
  // Returns once the callback that told of a result has ended, and let go of the answer.
  void Settle() {
    loop_.Run([] {});
  }

 private:
  net::test::LoopThread loop_;
  std::unique_ptr<net::HttpClient> client_;
  std::unique_ptr<Probe> probe_;
};

inline std::string FailureClass(const ProbeResult& result) {
  const auto* failure = std::get_if<ProbeFailure>(&result);
  return failure != nullptr ? failure->error_class : "";
}

}  // namespace vedette::worker::test
