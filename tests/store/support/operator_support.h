#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/operator/admin.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "config/parts.h"
#include "metrics/metrics.h"
#include "store/session.h"
#include "store/signals.h"
#include "tests/store/support/fake_key_fetcher.h"
#include "tests/support/test_database.h"

namespace vedette::test {

// An object of these members, also of none and of one whose value is a list of two.
inline base::Json Object(std::initializer_list<std::pair<const char*, base::Json>> members) {
  base::Json json = base::Json::object();
  for (const auto& [name, value] : members) json[name] = value;
  return json;
}

// Takes one answer.
class RecordedExchange final : public net::Exchange {
 public:
  explicit RecordedExchange(net::ServerRequest request) : request_(std::move(request)) {}

  const net::ServerRequest& request() const override { return request_; }
  void Send(net::ServerResponse response) override { answer_.set_value(std::move(response)); }
  void Begin(int, std::vector<std::pair<std::string, std::string>>) override {
    ADD_FAILURE() << "the admin port does not stream";
  }
  void Write(std::string, std::function<void(bool)>) override {}
  void End() override {}

  net::ServerResponse Wait() {
    auto future = answer_.get_future();
    if (future.wait_for(std::chrono::seconds(60)) != std::future_status::ready) {
      throw std::runtime_error("no answer to " + request_.method + " " + request_.target);
    }
    return future.get();
  }

 private:
  net::ServerRequest request_;
  std::promise<net::ServerResponse> answer_;
};

class FakeServiceState final : public admin::ServiceState {
 public:
  bool Ready(std::vector<std::string>* reasons) const override {
    if (!ready) reasons->push_back("the database cannot be reached");
    return ready;
  }
  bool MayAnswer() const override { return may_answer; }
  void Drain() override { drained = true; }
  base::Uuid member_id() const override { return id; }
  std::string rendering_lack() const override { return lack; }

  std::atomic<bool> ready{true};
  std::atomic<bool> may_answer{true};
  std::atomic<bool> drained{false};
  const base::Uuid id = base::Uuid::V4();
  std::string lack;
};

// An admin port over a database of the test's own, without the sockets.
class AdminTest : public testing::Test {
 public:
  static constexpr const char* kToken = "correct horse battery staple";  // an admin's
  static constexpr const char* kOperatorToken = "olli's token";
  static constexpr const char* kViewerToken = "viola's token";

  struct Reply {
    int status;
    mutable base::Json body;  // so that a missing member reads as null
    net::ServerResponse raw;
  };

  using Headers = std::vector<std::pair<std::string, std::string>>;

  AdminTest();

  // With the good token, unless another header is given.
  Reply Ask(const std::string& method, const std::string& target);
  Reply Ask(const std::string& method, const std::string& target, const base::Json& body);
  Reply AskRaw(net::ServerRequest request) { return AskRaw(std::move(request), admin); }
  // The same of another admin port.
  static Reply AskRaw(net::ServerRequest request, admin::Admin& port);
  // With these headers and no others.
  static net::ServerRequest Request(const std::string& method, const std::string& target,
                                    Headers headers);

  // The first column of the first row of a statement, as text; empty without a row.
  std::string Sql(const std::string& statement);

  std::string NewOrganisation(const std::string& name = "Acme");

  TestDatabase database;
  base::SystemClock clock;
  base::Logger log{base::LogLevel::kError, base::LogFormat::kText};
  metrics::Metrics metrics{"test"};
  config::Config config;
  std::atomic<int> deliveries_signalled{0};
  store::Signals signals;
  store::Pool pool;
  FakeServiceState state;
  const domain::search::Catalogue fields;
  FakeKeyFetcher key_fetcher;
  admin::Admin admin;
};

}  // namespace vedette::test
