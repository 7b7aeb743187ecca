#include <gtest/gtest.h>

#include <atomic>

#include "config/net_config.h"
#include "html/robots.h"
#include "tests/unit/worker/probes/probe_fixture.h"
#include "worker/probes/web_probe.h"

namespace vedette::worker {
namespace {

using net::ServerRequest;
using net::ServerResponse;
using test::FailureClass;
using test::Request;
using test::Site;
using test::Spec;

// A web probe with what it needs to obey robots.txt.
class ObedientProbe final : public Probe {
 public:
  ObedientProbe(base::EventLoop& loop, net::HttpClient& client, base::ThreadPool& pool,
                const net::AddressPolicy& policy, html::PageMemory& memory,
                base::ByteBudget& budget, const config::NetConfig& net)
      : sites_(loop, client, pool, policy, memory, budget, net.user_agent),
        book_(sites_, clock_, net.user_agent),
        web_(loop, client, pool, policy, memory, budget, test::ProbeConfig(), net, &book_) {}
  void Start(ProbeRequest request, std::function<void(ProbeResult)> done) override {
    web_.Start(std::move(request), std::move(done));
  }

 private:
  const base::SystemClock clock_;
  html::Fetcher sites_;
  html::RobotsCache book_;
  WebProbe web_;
};

class ObedientProbeTest : public ::testing::Test {
 protected:
  std::unique_ptr<test::Rig> MakeRig() {
    return std::make_unique<test::Rig>(
        [this](base::EventLoop& loop, net::HttpClient& client) {
          return std::make_unique<ObedientProbe>(loop, client, pool_, policy_, memory_, budget_,
                                                 net_config_);
        },
        net_config_);
  }

  base::ByteBudget budget_{64 << 20, 0.1};
  const config::NetConfig net_config_ = test::NetConfig();
  base::ThreadPool pool_{"probe", base::ThreadPool::Limits{2, 2, 16}};
  const net::AddressPolicy policy_{std::vector<std::string>{"127.0.0.0/8"}};
  html::PageMemory memory_{1 << 20};
};

ServerResponse Html(std::string body) {
  return {200, {{"Content-Type", "text/html"}}, std::move(body)};
}

TEST_F(ObedientProbeTest, ByChoiceRobotsTxtIsReadOnceAndObeyed) {
  Site site([](const ServerRequest& request) {
    if (request.path != "/robots.txt") return Html("<p>x</p>");
    return ServerResponse{200,
                          {{"Content-Type", "text/plain"}},
                          "User-agent: vedette-test\nDisallow: /private\nAllow: /private/ours\n"};
  });
  const auto rig = MakeRig();
  const auto spec = Spec({{"p", "css:p"}});
  const auto check = [&](const char* path) {
    return rig->Check(Request(spec, {{"url", site.Url(path)}}));
  };
  const auto refused = check("/private/a?b");
  EXPECT_EQ(FailureClass(refused), "robots");
  EXPECT_FALSE(std::get<ProbeFailure>(refused).retryable);
  EXPECT_TRUE(std::holds_alternative<Observation>(check("/private/ours")));
  EXPECT_TRUE(std::holds_alternative<Observation>(check("/public")));
  ASSERT_EQ(site.requests().size(), 3U) << "the page that is not allowed is not asked for";
  EXPECT_EQ(site.requests()[0].target, "/robots.txt");
  EXPECT_EQ(site.requests()[1].target, "/private/ours");
}

TEST_F(ObedientProbeTest, WithoutARobotsTxtEverythingIsAllowedAndOneThatCannotBeHadForbids) {
  std::atomic<int> status = 503;
  Site site([&](const ServerRequest& request) {
    if (request.path != "/robots.txt") return Html("<p>x</p>");
    return ServerResponse{status, {}, "no"};
  });
  const auto rig = MakeRig();
  const auto check = [&] {
    return rig->Check(Request(Spec({{"p", "css:p"}}), {{"url", site.Url("/a")}}));
  };
  const auto failed = check();
  EXPECT_EQ(FailureClass(failed), "http_status");
  EXPECT_TRUE(std::get<ProbeFailure>(failed).retryable);
  EXPECT_EQ(site.requests().size(), 1U);
  status = 404;
  EXPECT_TRUE(std::holds_alternative<Observation>(check()));
}

}  // namespace
}  // namespace vedette::worker
