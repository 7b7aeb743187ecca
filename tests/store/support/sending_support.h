#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/crypto.h"
#include "config/net_config.h"
#include "config/security_config.h"
#include "config/server_config.h"
#include "delivery/sender.h"
#include "domain/job/webhook.h"
#include "net/http_client.h"
#include "net/http_server.h"
#include "store/accounts/signing_secrets.h"
#include "tests/store/support/worker_support.h"

namespace vedette::test {

inline base::Logger QuietLog() {
  return {base::LogLevel::kOff, base::LogFormat::kText};
}

// Answers everything with one status, or holds it until released.
class Receiver final : public net::WholeBodyService {
 public:
  void HandleWhole(std::shared_ptr<net::Exchange> exchange) override {
    const std::lock_guard lock(mutex_);
    requests_.push_back(exchange->request());
    if (holding_) {
      held_.push_back(std::move(exchange));
    } else {
      exchange->Send({.status = status, .headers = {}, .body = ""});
    }
  }
  std::size_t BodyBytesMax(std::string_view, std::string_view) const override { return 1 << 20; }

  void Hold() {
    const std::lock_guard lock(mutex_);
    holding_ = true;
  }
  void Release() {
    const std::lock_guard lock(mutex_);
    holding_ = false;
    for (const auto& exchange : held_)
      exchange->Send({.status = status, .headers = {}, .body = ""});
    held_.clear();
  }
  std::vector<net::ServerRequest> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

  std::atomic<int> status{200};

 private:
  mutable std::mutex mutex_;
  bool holding_ = false;
  std::vector<net::ServerRequest> requests_;
  std::vector<std::shared_ptr<net::Exchange>> held_;
};

class SendingTest : public WorkerTest {
 public:
  SendingTest() {
    settings.net.allow.emplace_back("127.0.0.0/8");
    settings.security.encryption_key = base::RandomBytes(32);
    config::HttpServerConfig port = settings.admin;
    port.listen = "127.0.0.1:0";
    server_config_ = port;
    server = std::make_unique<net::HttpServer>(server_config_, receiver, QuietLog());
    server->Start();
    url = "http://" + server->address() + "/";
  }
  ~SendingTest() override {
    receiver.Release();
    server->Stop();
  }

  // A loop with what `make` puts onto it.
  template <typename Part>
  class Running {
   public:
    Running(SendingTest& test, std::function<std::unique_ptr<Part>(Running&)> make)
        : pool(test.settings.database, {.name = "delivery", .keyed_plans = true}, 2, test.clock,
               test.metrics, QuietLog()),
          client(loop, test.settings.net),
          part(make(*this)),
          thread_([this] { loop.Run(); }) {}
    ~Running() {
      loop.Stop();
      thread_.join();
      part.reset();
    }
    base::EventLoop loop;
    store::Pool pool;
    net::HttpClient client;
    std::unique_ptr<Part> part;

   private:
    std::thread thread_;
  };
  using RunningSender = Running<delivery::Sender>;
  std::unique_ptr<RunningSender> NewSender() {
    return std::make_unique<RunningSender>(*this, [this](RunningSender& in) {
      return std::make_unique<delivery::Sender>(in.loop, in.pool, in.client, clock, settings,
                                                QuietLog());
    });
  }

  domain::Notification Notice() const {
    domain::Notification n;
    n.org_id = org;
    n.event_group_id = base::Uuid::V4();
    n.url = url;
    return n;
  }
  delivery::SendResult Send(RunningSender& sender, const domain::Notification& n) {
    auto result = std::make_shared<std::promise<delivery::SendResult>>();
    sender.loop.Post([&sender, n, result] {
      sender.part->Send(n, 1,
                        [result](delivery::SendResult r) { result->set_value(std::move(r)); });
    });
    return result->get_future().get();
  }
  std::string LastSignature() const {
    return std::string(receiver.requests().back().Header("service-signature"));
  }
  // Whether the last request was signed with this secret, and with this one alone.
  bool SignedWith(const std::string& secret) const {
    const auto request = receiver.requests().back();
    const std::string signature(request.Header("service-signature"));
    const auto now =
        std::chrono::floor<std::chrono::seconds>(clock.Now()).time_since_epoch().count();
    return std::count(signature.begin(), signature.end(), ',') == 1 &&
           domain::VerifySignature(secret, signature, request.body, now) ==
               domain::SignatureCheck::kValid;
  }
  // The same as the admin port does.
  std::string Rotate() {
    const auto made =
        store::RotateSigningSecret(session, clock, org, std::chrono::seconds(0), 5,
                                   settings.security, {.actor = "t", .action = "rotate"});
    store::AwaitSecretsInForce();
    return made->secret;
  }

  config::HttpServerConfig server_config_;
  Receiver receiver;
  std::unique_ptr<net::HttpServer> server;
  std::string url;
};

}  // namespace vedette::test
