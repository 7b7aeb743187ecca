#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "api/tenant/api.h"
#include "api/tenant/jobs/waits.h"
#include "base/clock.h"
#include "base/event_loop.h"
#include "base/json.h"
#include "base/log.h"
#include "config/parts.h"
#include "metrics/metrics.h"
#include "net/public_address.h"
#include "store/session.h"
#include "store/signals.h"
#include "tests/store/support/fake_key_fetcher.h"
#include "tests/store/support/provider_keys.h"
#include "tests/support/test_database.h"

namespace vedette::test {

// Takes one answer, whole or in pieces, as a client that reads at once.
class ApiExchange final : public net::Exchange {
 public:
  struct Answer {
    int status = 0;
    std::vector<std::pair<std::string, std::string>> headers{};
    std::string body{};
    int pieces = 0;  // of a streamed one
    std::size_t piece_bytes_max = 0;
    bool ended = false;
  };

  explicit ApiExchange(net::ServerRequest request) : request_(std::move(request)) {}
  const net::ServerRequest& request() const override { return request_; }
  void Send(net::ServerResponse response) override;
  void Begin(int status, std::vector<std::pair<std::string, std::string>> headers) override;
  void Write(std::string piece, std::function<void(bool)> then) override;
  void End() override;
  void WhenGone(std::function<void()> then) override;

  Answer Wait();
  bool answered();
  // The client leaves, once its request is parked.
  void Leave();

 private:
  net::ServerRequest request_;
  std::mutex mutex_;
  std::condition_variable ended_;
  Answer answer_;               // guarded by mutex_
  std::function<void()> gone_;  // guarded by mutex_
};

class FakeWebhookTester final : public api::WebhookTester {
 public:
  void Test(api::WebhookTestTarget target,
            std::function<void(api::WebhookTestOutcome)> done) override {
    tested = std::move(target);
    done(outcome);
  }
  std::optional<api::WebhookTestTarget> tested;
  api::WebhookTestOutcome outcome{
      .delivered = true, .status_code = 204, .error = std::nullopt, .duration_ms = 12};
};

// Serves the tiers low and medium; answers with what a test gives it.
class FakePreviewer final : public api::Previewer {
 public:
  bool Serves(domain::Tier tier) const override {
    return tier == domain::Tier::kLow || tier == domain::Tier::kMedium;
  }
  void Preview(api::PreviewRequest request, Done done) override {
    asked = std::move(request);
    done(outcome);
  }
  std::optional<api::PreviewRequest> asked;
  api::PreviewOutcome outcome;
};

// The operating system's clock, until a test holds it at a time. What is measured since boot goes
// on.
class TestClock final : public base::Clock {
 public:
  base::Timestamp Now() const override {
    const std::int64_t held = held_us_;
    return held == kGoes ? own_.Now() : base::Timestamp(std::chrono::microseconds(held));
  }
  std::chrono::nanoseconds SinceBoot() const override { return own_.SinceBoot(); }
  void HoldAt(base::Timestamp time) { held_us_ = time.time_since_epoch().count(); }

 private:
  static constexpr std::int64_t kGoes = -1;
  base::SystemClock own_;
  std::atomic<std::int64_t> held_us_{kGoes};
};

// The public API over a database of the test's own, without the sockets. The organisation "acme"
// has every feature unless a test takes it away.
class ApiTest : public testing::Test {
 public:
  struct Reply {
    int status = 0;
    mutable base::Json body;  // so that a missing member reads as null
    ApiExchange::Answer raw;

    std::string Header(const std::string& name) const;
    std::string error() const { return body.is_object() ? body.value("error", "") : ""; }
    std::string message() const { return body.value("message", ""); }
    // The first item of a 422: its loc as text and its type.
    std::string loc() const;
    std::string type() const;
  };
  using Headers = std::vector<std::pair<std::string, std::string>>;

  // Changes what has no key.
  using Adjust = std::function<void(config::Config&)>;

  explicit ApiTest(const config::Environment& environment = {}, const Adjust& adjust = nullptr);
  ~ApiTest() override;

  // With acme's key, unless the headers have a credential.
  Reply Ask(const std::string& method, const std::string& target, const Headers& headers = {});
  Reply Ask(const std::string& method, const std::string& target, const base::Json& body,
            const Headers& headers = {});
  Reply AskRaw(net::ServerRequest request);
  net::ServerRequest Request(const std::string& method, const std::string& target,
                             const Headers& headers) const;
  // The same as Ask, but does not wait.
  std::shared_ptr<ApiExchange> Begin(net::ServerRequest request);

  // The first column of the first row of a statement, as text; empty without a row.
  std::string Sql(const std::string& statement);

  // Asks while another request of acme's, which has locked it, has done `statement` and not yet
  // committed.
  Reply AskBeside(const std::string& statement, const std::function<Reply()>& ask);

  struct Tenant {
    std::string org_id;
    std::string key;
  };
  Tenant NewTenant(const std::string& name);
  std::string NewTeam(const std::string& org_id);
  std::string NewKey(const std::string& org_id, const std::optional<std::string>& team_id);

  // A body that is accepted: key column `domain`, watched field `price`, two rows.
  static base::Json GoodBody();
  // Creates it, with changes; the monitor's id.
  std::string NewMonitor(const base::Json& changes = base::Json::object());

  TestDatabase database;
  TestClock clock;
  base::Logger log{base::LogLevel::kOff, base::LogFormat::kText};
  metrics::Metrics metrics{"test"};
  config::Config config;
  net::AddressPolicy policy;
  store::Signals signals;
  store::Pool pool;
  base::EventLoop loop;
  std::unique_ptr<api::Waits> waits;
  const domain::search::Catalogue fields;
  store::Pool search_pool;
  FakeWebhookTester tester;
  FakeKeyFetcher key_fetcher;
  FakeProviderKeys provider_keys;
  FakePreviewer previewer;
  api::Outgoing outgoing;
  api::Api api;
  Tenant acme;
  std::thread loop_thread;
};

}  // namespace vedette::test
