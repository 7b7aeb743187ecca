// No tenant takes another's turn at the API, whatever its requests cost (G10).
#include <gmock/gmock.h>

#include <condition_variable>
#include <mutex>

#include "tests/store/support/tenant_support.h"

namespace vedette::test {
namespace {

// Compiling a selector takes until the test lets it.
class ApiTurns : public ApiTest {
 public:
  ApiTurns()
      : slow_api(
            config, pool, signals, clock, metrics, policy, outgoing, *waits,
            [this](const std::string&, const std::string&) {
              Compile();
              return std::nullopt;
            },
            log) {}
  ~ApiTurns() override {
    Open();
    pool.Stop();
  }

  void Compile() {
    std::unique_lock lock(mutex);
    ++compiling;
    changed.notify_all();
    changed.wait_for(lock, std::chrono::seconds(60), [this] { return open; });
  }
  void Open() {
    const std::lock_guard lock(mutex);
    open = true;
    changed.notify_all();
  }

  std::shared_ptr<ApiExchange> Send(net::ServerRequest request) {
    auto exchange = std::make_shared<ApiExchange>(std::move(request));
    slow_api.Handle(exchange);
    return exchange;
  }

  std::mutex mutex;
  std::condition_variable changed;
  bool open = false;
  int compiling = 0;
  api::Api slow_api;
};

TEST_F(ApiTurns, G10_CostlyRequestsOfOneKeyDoNotDelayAnothers) {
  const Tenant other = NewTenant("other");
  std::vector<std::shared_ptr<ApiExchange>> costly;
  for (int i = 0; i < 24; ++i) {
    net::ServerRequest request = Request("POST", "/monitors", {});
    request.body = base::DumpJson(GoodBody());
    costly.push_back(Send(std::move(request)));
  }
  {
    std::unique_lock lock(mutex);
    ASSERT_TRUE(
        changed.wait_for(lock, std::chrono::seconds(60), [this] { return compiling >= 3; }));
  }
  for (int i = 0; i < 5; ++i) {
    const auto small = Send(Request("GET", "/monitors", {{"x-api-key", other.key}}));
    EXPECT_EQ(small->Wait().status, 200);
  }
  // A key that is tried for the first time is not delayed either, known or not.
  const auto stranger =
      Send(Request("GET", "/monitors", {{"x-api-key", "vd_live_" + std::string(43, 'a')}}));
  EXPECT_EQ(stranger->Wait().status, 401);
  Open();
  for (const auto& exchange : costly) EXPECT_EQ(exchange->Wait().status, 200);
}

}  // namespace
}  // namespace vedette::test
