#include "worker/probes/web_probe.h"
#include "base/json.h"
#include "config/net_config.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>

#include "net/browser/browser.h"
#include "tests/unit/worker/probes/probe_fixture.h"

namespace vedette::worker {
namespace {

using namespace std::chrono_literals;
using net::ServerRequest;
using net::ServerResponse;
using std::chrono::milliseconds;
using test::FailureClass;
using test::Request;
using test::Site;
using test::Spec;

class WebProbeTest : public ::testing::Test {
 protected:
  // `allow_local`: whether the probe's own check lets the loopback interface through.
  std::unique_ptr<test::Rig> Rig(bool allow_local = true) {
    policy_ = std::make_unique<net::AddressPolicy>(
        allow_local ? std::vector<std::string>{"127.0.0.0/8"} : std::vector<std::string>{});
    return std::make_unique<test::Rig>(
        [this](base::EventLoop& loop, net::HttpClient& client) {
          return std::make_unique<WebProbe>(loop, client, *pool_, *policy_, *memory_, *budget_,
                                            test::ProbeConfig(), net_config_);
        },
        net_config_);
  }
  void MakePool(base::ThreadPool::Limits limits) {
    pool_ = std::make_unique<base::ThreadPool>("probe", limits);
  }

  std::unique_ptr<base::ByteBudget> budget_ = std::make_unique<base::ByteBudget>(64 << 20, 0.1);
  config::NetConfig net_config_ = test::NetConfig();
  std::unique_ptr<base::ThreadPool> pool_ =
      std::make_unique<base::ThreadPool>("probe", base::ThreadPool::Limits{2, 2, 16});
  std::unique_ptr<net::AddressPolicy> policy_;
  std::unique_ptr<html::PageMemory> memory_ = std::make_unique<html::PageMemory>(1 << 20);
};

ServerResponse Html(std::string body) {
  return {200, {{"Content-Type", "text/html"}}, std::move(body)};
}

ServerResponse To(const std::string& location, int status = 302) {
  return {status, {{"Location", location}}, "moved"};
}

TEST_F(WebProbeTest, ObservesTheFieldsOfARowsPage) {
  Site site([](const ServerRequest&) { return Html("<h1>Name</h1><p class=price> 5 </p>"); });
  const auto rig = Rig();
  const auto spec =
      Spec({{"price", "css:.price"}, {"gone", "css:.gone"}, {"n", "xpath:count(//p)"}});
  for (int i = 0; i < 2; ++i) {  // the second time with the compiled fields
    const auto result = rig->Check(Request(spec, {{"url", site.Url("/page#part")}}));
    const auto& fields = std::get<Observation>(result).fields;
    EXPECT_EQ(fields.at("price").value.Value(), "5");
    EXPECT_EQ(fields.at("price").sources, std::vector<std::string>{site.Url("/page")});
    EXPECT_TRUE(fields.at("gone").value.Value().is_null());
    EXPECT_EQ(fields.at("n").value.Value(), 1);
  }
  ASSERT_EQ(site.requests().size(), 2U);
  EXPECT_EQ(site.requests()[0].target, "/page");
  EXPECT_EQ(site.requests()[0].Header("user-agent"), "vedette-test/1");
}

// What renders, now and then; it says what it would have seen.
class SomeRenderer final : public net::Renderer {
 public:
  explicit SomeRenderer(base::EventLoop& loop) : loop_(loop) {}
  bool MayRender() const override { return may; }
  void Render(net::RenderRequest request,
              std::function<void(net::RenderedPage page)> done) override {
    ++renders;
    loop_.Post([url = request.url, done = std::move(done)] {
      net::RenderedPage page;
      page.url = url;
      page.kind = net::RenderedPage::Kind::kAsSent;
      page.response.status = 200;
      page.response.headers = {{"content-type", "text/html"}};
      page.response.body = "<p>rendered</p>";
      done(std::move(page));
    });
  }
  std::atomic<bool> may = true;
  std::atomic<int> renders = 0;

 private:
  base::EventLoop& loop_;
};

class RenderingWebProbeTest : public WebProbeTest {
 protected:
  std::unique_ptr<test::Rig> RenderingRig(std::string render) {
    policy_ = std::make_unique<net::AddressPolicy>(std::vector<std::string>{"127.0.0.0/8"});
    config::ProbeConfig config = test::ProbeConfig();
    config.render = std::move(render);
    return std::make_unique<test::Rig>(
        [this, config](base::EventLoop& loop, net::HttpClient& client) {
          renderer_ = std::make_unique<SomeRenderer>(loop);
          return std::make_unique<WebProbe>(loop, client, *pool_, *policy_, *memory_, *budget_,
                                            config, net_config_, nullptr, renderer_.get());
        },
        net_config_);
  }

  std::unique_ptr<SomeRenderer> renderer_;
};

TEST_F(RenderingWebProbeTest, PagesAreReadAsTheyAreSentWhileNothingMayRenderThem) {
  Site site([](const ServerRequest&) { return Html("<p>sent</p>"); });
  const auto rig = RenderingRig("always");
  const auto spec = Spec({{"p", "css:p"}});
  for (const bool may : {true, false, true}) {
    renderer_->may = may;
    const auto result = rig->Check(Request(spec, {{"url", site.Url("/page")}}));
    EXPECT_EQ(std::get<Observation>(result).fields.at("p").value.Value(),
              may ? "rendered" : "sent");
  }
  EXPECT_EQ(site.requests().size(), 1U);
}

// Each step: the page, what is watched, what is observed, and how often pages were fetched and
// rendered by then.
TEST_F(RenderingWebProbeTest, WhatIsLearnedOfAPageChangesNothingForOthers) {
  Site site([](const ServerRequest& request) {
    if (request.path == "/app") return Html("<div id=root></div><script>make()</script>");
    return Html("<b>here</b><p>sent</p><script>count()</script>");
  });
  const auto rig = RenderingRig("auto");
  const auto p = Spec({{"p", "css:p"}}), none = Spec({{"p", "css:h1"}});
  const auto as_sent = Spec({{"p", "regex:id=(root)"}});
  const base::Uuid org_id = base::Uuid::V4();
  struct Step {
    std::string path;
    std::shared_ptr<ProbeSpec> spec;
    base::Json observed;
    std::size_t fetched;
    int rendered;
  };
  const std::vector<Step> steps{{"/plain", p, "sent", 1, 0},
                                {"/app", p, "rendered", 2, 1},
                                {"/app", p, "rendered", 2, 2},
                                {"/plain", p, "sent", 3, 2},
                                {"/app", as_sent, "root", 4, 2},
                                {"/app?other", p, "rendered", 5, 3},
                                // A browser shows no more of it, however often.
                                {"/plain", none, nullptr, 6, 4},
                                {"/plain", none, nullptr, 7, 5},
                                {"/plain", p, "sent", 8, 5}};
  for (std::size_t i = 0; i < steps.size(); ++i) {
    ProbeRequest request = Request(steps[i].spec, {{"url", site.Url(steps[i].path)}});
    request.org_id = org_id;
    const auto result = rig->Check(std::move(request));
    ASSERT_EQ(FailureClass(result), "") << i;
    EXPECT_EQ(std::get<Observation>(result).fields.at("p").value.Value(), steps[i].observed) << i;
    EXPECT_EQ(site.requests().size(), steps[i].fetched) << i;
    EXPECT_EQ(renderer_->renders, steps[i].rendered) << i;
  }
  // What belongs to no monitor is its organisation's.
  const auto looked_at = Spec({{"p", "css:p"}});
  looked_at->monitor_id = {};
  for (const auto& [org, fetched] :
       {std::pair(org_id, 9U), {org_id, 9U}, {base::Uuid::V4(), 10U}}) {
    ProbeRequest request = Request(looked_at, {{"url", site.Url("/app")}});
    request.org_id = org;
    EXPECT_EQ(FailureClass(rig->Check(std::move(request))), "");
    EXPECT_EQ(site.requests().size(), fetched);
  }
}

TEST_F(WebProbeTest, FollowsUpToFiveRedirects) {
  Site site([](const ServerRequest& request) {
    const int n = std::stoi(request.path.substr(request.path.rfind('/') + 1));
    if (n == 0) return Html("<p>" + request.path + "</p>");
    const int statuses[] = {301, 302, 303, 307, 308};
    return To("../b/" + std::to_string(n - 1), statuses[n % 5]);
  });
  const auto rig = Rig();
  const auto spec = Spec({{"p", "css:p"}});
  const auto result = rig->Check(Request(spec, {{"url", site.Url("/a/5")}}));
  const auto& field = std::get<Observation>(result).fields.at("p");
  EXPECT_EQ(field.value.Value(), "/b/0");
  EXPECT_EQ(field.sources, std::vector<std::string>{site.Url("/b/0")});
  const auto more = rig->Check(Request(spec, {{"url", site.Url("/a/6")}}));
  EXPECT_EQ(FailureClass(more), "http_status");
  EXPECT_FALSE(std::get<ProbeFailure>(more).retryable);
}

TEST_F(WebProbeTest, ALoginInPlaceOfThePageIsAFailureAndNoAbsentPrice) {
  const std::string form = "<form><input type=Password name=p></form>";
  Site site([&](const ServerRequest& request) {
    const std::string& path = request.path;
    if (path == "/expired") return To("/login?next=%2Fexpired%3Ftoken%3D1");
    if (path == "/sent-away") return To("/account/start");
    if (path == "/") return To("/en/");
    if (path == "/en/") return Html("<p class=price>1399</p>" + form);
    if (path == "/open") return To("/new-place");
    if (path == "/new-place") return Html("<h1>Sold out</h1>");
    if (path == "/in-place") return Html(form);
    return Html("<title>Log in</title>" + form);
  });
  const auto rig = Rig();
  const auto ask = [&](const std::string& path) {
    return rig->Check(Request(Spec({{"price", "css:.price"}}), {{"url", site.Url(path)}}));
  };
  for (const auto& [path, led_to] :
       {std::pair("/expired", "/login"), std::pair("/sent-away", "/account/start")}) {
    const auto result = ask(path);
    ASSERT_EQ(FailureClass(result), "login_required") << path;
    const auto& failure = std::get<ProbeFailure>(result);
    EXPECT_FALSE(failure.retryable);
    EXPECT_NE(failure.message.find(site.Url(led_to) + ","), std::string::npos) << failure.message;
    EXPECT_EQ(failure.message.find("token"), std::string::npos) << failure.message;
  }
  const auto price = [&](const std::string& path) {
    return std::get<Observation>(ask(path)).fields.at("price");
  };
  EXPECT_EQ(price("/").value.Value(), "1399") << "a page that is open may have a login beside";
  EXPECT_TRUE(price("/in-place").value.Value().is_null()) << "nobody was led anywhere";
  EXPECT_TRUE(price("/login").value.Value().is_null())
      << "the login is the page that was asked for";
  EXPECT_TRUE(price("/open").value.Value().is_null());
  EXPECT_EQ(price("/open").sources, std::vector<std::string>{site.Url("/new-place")})
      << "which page it is absent from";
}

// Read as it comes, the page would be another one.
TEST_F(WebProbeTest, APageThatIsToBeActedOnIsNotReadWithoutABrowser) {
  Site site([](const ServerRequest&) { return Html("<p class=price>5</p>"); });
  const auto rig = Rig();
  auto spec = std::make_shared<ProbeSpec>(*Spec({{"price", "css:.price"}}));
  spec->options.render = domain::Render::kAlways;
  spec->options.steps = {{.kind = domain::PageStep::Kind::kClick, .target = "#more"}};
  const auto result = rig->Check(Request(spec, {{"url", site.Url("/")}}));
  EXPECT_EQ(FailureClass(result), "not_rendered");
  EXPECT_FALSE(std::get<ProbeFailure>(result).retryable);
  EXPECT_TRUE(site.requests().empty());
}

TEST_F(WebProbeTest, G9EveryHopIsChecked) {
  Site site([](const ServerRequest& request) {
    if (request.path == "/private") return To("http://10.0.0.1/");
    if (request.path == "/decimal") return To("//2886729729/x");
    if (request.path == "/file") return To("file:///etc/passwd");
    return To("http://user:pw@example.com/");
  });
  const auto rig = Rig();
  for (const char* path : {"/private", "/decimal", "/file", "/credentials"}) {
    const auto result = rig->Check(Request(Spec({{"p", "css:p"}}), {{"url", site.Url(path)}}));
    EXPECT_EQ(FailureClass(result), "refused_address") << path;
    EXPECT_FALSE(std::get<ProbeFailure>(result).retryable);
  }
}

TEST_F(WebProbeTest, G9TheFirstAddressIsChecked) {
  Site site([](const ServerRequest&) { return Html("<p>inside</p>"); });
  const auto rig = Rig(false);
  const auto result = rig->Check(Request(Spec({{"p", "css:p"}}), {{"url", site.Url()}}));
  EXPECT_EQ(FailureClass(result), "refused_address");
  for (const char* url : {"ftp://example.com/", "http://", "http://[::1]/", "http://a b/"}) {
    EXPECT_EQ(FailureClass(rig->Check(Request(Spec({{"p", "css:p"}}), {{"url", url}}))),
              "refused_address")
        << url;
  }
  EXPECT_TRUE(site.requests().empty());
}

TEST_F(WebProbeTest, StatusesAreFailures) {
  Site site([](const ServerRequest& request) {
    return ServerResponse{std::stoi(request.path.substr(1)), {{"Retry-After", "9"}}, "<p>no</p>"};
  });
  const auto rig = Rig();
  for (const auto& [status, retryable] :
       {std::pair(404, false), std::pair(410, false), std::pair(302, false), std::pair(403, false),
        std::pair(408, true), std::pair(425, true), std::pair(429, true), std::pair(503, true)}) {
    const auto result = rig->Check(
        Request(Spec({{"p", "css:p"}}), {{"url", site.Url("/" + std::to_string(status))}}));
    ASSERT_EQ(FailureClass(result), "http_status") << status;
    const auto& failure = std::get<ProbeFailure>(result);
    EXPECT_EQ(failure.retryable, retryable) << status;
    EXPECT_EQ(failure.retry_after.has_value(), retryable) << status;
    EXPECT_EQ(failure.retry_after.value_or(9s), 9s);
  }
}

TEST_F(WebProbeTest, WhatCannotBeServedIsNotFetched) {
  Site site([](const ServerRequest&) { return Html("<p>x</p>"); });
  const auto rig = Rig();
  const base::Json row = {{"url", site.Url()}};
  const auto prose = rig->Check(Request(Spec({{"q", "the price"}}), row));
  EXPECT_EQ(FailureClass(prose), "unsupported_description");
  EXPECT_NE(std::get<ProbeFailure>(prose).message.find("'q'"), std::string::npos);
  const auto bad = rig->Check(Request(Spec({{"q", "css:p["}}), row));
  EXPECT_EQ(FailureClass(bad), "bad_selector");
  EXPECT_NE(std::get<ProbeFailure>(bad).message.find("'q'"), std::string::npos);
  const auto none = rig->Check(Request(Spec({{"p", "css:p"}}), {{"name", "x"}}));
  EXPECT_EQ(FailureClass(none), "no_address");
  EXPECT_TRUE(site.requests().empty());
}

TEST_F(WebProbeTest, ThePageMayBeNamedByTheContext) {
  Site site([](const ServerRequest&) { return Html("<p>x</p>"); });
  const auto rig = Rig();
  auto request = Request(Spec({{"p", "css:p"}}), {{"name", "x"}});
  request.context = base::Json{{"Website", site.Url("/w")}};
  EXPECT_EQ(std::get<Observation>(rig->Check(request)).fields.at("p").value.Value(), "x");
}

TEST_F(WebProbeTest, G11LongPagesAreRefused) {
  Site site([](const ServerRequest&) { return Html(std::string((1 << 20) + 1, 'x')); });
  const auto rig = Rig();
  EXPECT_EQ(FailureClass(rig->Check(Request(Spec({{"p", "text"}}), {{"url", site.Url()}}))),
            "body_too_large");
}

TEST_F(WebProbeTest, AnUnreachableSiteIsARetryableFailure) {
  std::string url;
  {
    Site site([](const ServerRequest&) { return Html(""); });
    url = site.Url();
  }
  const auto rig = Rig();
  const auto result = rig->Check(Request(Spec({{"p", "css:p"}}), {{"url", url}}));
  EXPECT_EQ(FailureClass(result), "connect");
  EXPECT_TRUE(std::get<ProbeFailure>(result).retryable);
}

TEST_F(WebProbeTest, G11AFullQueueIsARetryableFailureOfTheOrganisationWhoseItIs) {
  Site site([](const ServerRequest&) { return Html("<p>x</p>"); });
  MakePool({1, 1, 1});
  test::Gate gate;
  const auto rig = Rig();
  const auto mine = Request(Spec({{"p", "css:p"}}), {{"url", site.Url()}});
  const auto neighbours = Request(Spec({{"p", "css:p"}}), {{"url", site.Url()}});
  // One job of mine runs, one waits: there is room for no more of mine.
  test::Gate running;
  ASSERT_TRUE(pool_->Post(mine.org_id, [&] {
    running.Open();
    gate.Wait();
  }));
  running.Wait();
  ASSERT_TRUE(pool_->Post(mine.org_id, [] {}));
  const auto result = rig->Check(mine);
  EXPECT_EQ(FailureClass(result), "overloaded");
  EXPECT_TRUE(std::get<ProbeFailure>(result).retryable);
  auto other = rig->Begin(neighbours);
  gate.Open();
  EXPECT_TRUE(std::holds_alternative<Observation>(other.get()));
}

TEST_F(WebProbeTest, G11AnEndlessExtractionEndsWithTheAttempt) {
  std::string page;
  // Grows with the square: minutes on any machine.
  for (int i = 0; i < 60000; ++i) page += "<a>bbbbbbbbb</a>";
  Site site([&](const ServerRequest&) { return Html(page); });
  const auto rig = Rig();
  auto request = Request(Spec({{"p", "xpath://a[contains(/, 'zz')]"}}), {{"url", site.Url()}});
  request.timeout = 1000ms;
  EXPECT_EQ(FailureClass(rig->Check(request)), "bad_content");
  pool_.reset();  // waits for the extraction that was told to stop
}

// Keeps a thread of a pool busy from its start until it is opened.
class Busy {
 public:
  Busy(base::ThreadPool& pool, const base::Uuid& org) {
    EXPECT_TRUE(pool.Post(org, [running = running_, gate = gate_]() mutable {
      running.Open();
      gate.Wait();
    }));
    running_.Wait();
  }
  void End() { gate_.Open(); }

 private:
  test::Gate running_;
  test::Gate gate_;
};

TEST_F(WebProbeTest, G10ASmallPageIsReadBesideANeighboursHeavyOnes) {
  Site site([](const ServerRequest&) { return Html("<p>x</p>"); });
  MakePool({2, 1, 16});
  const auto rig = Rig();
  const auto neighbour = base::Uuid::V4();
  Busy heavy(*pool_, neighbour);
  for (int i = 0; i < 8; ++i) ASSERT_TRUE(pool_->Post(neighbour, [] {}));
  const auto result = rig->Check(Request(Spec({{"p", "css:p"}}), {{"url", site.Url()}}));
  EXPECT_TRUE(std::holds_alternative<Observation>(result));
  heavy.End();
}

TEST_F(WebProbeTest, G10WaitingForAThreadIsNoTimeOfThePage) {
  Site site([](const ServerRequest&) { return Html("<p>x</p>"); });
  MakePool({1, 1, 16});
  const auto rig = Rig();
  auto request = Request(Spec({{"p", "css:p"}}), {{"url", site.Url()}});
  rig->Check(request);  // compiles the fields
  request.timeout = 1000ms;
  milliseconds waited{};
  request.on_turn = [&](milliseconds w) {
    waited += w;
    return true;
  };
  Busy neighbour(*pool_, base::Uuid::V4());
  auto reading = rig->Begin(request);
  EXPECT_EQ(reading.wait_for(2 * request.timeout), std::future_status::timeout);
  neighbour.End();
  EXPECT_TRUE(std::holds_alternative<Observation>(reading.get()));
  EXPECT_GE(waited, request.timeout / 2) << "the check is told, and does not count it either";
}

TEST_F(WebProbeTest, G11AWaitForAThreadEndsWithTheCheck) {
  Site site([](const ServerRequest&) { return Html("<p>x</p>"); });
  MakePool({1, 1, 16});
  const auto rig = Rig();
  auto request = Request(Spec({{"p", "css:p"}}), {{"url", site.Url()}});
  rig->Check(request);
  Busy neighbour(*pool_, base::Uuid::V4());
  request.deadline_left = 300ms;
  const auto read = rig->Check(request);
  EXPECT_EQ(FailureClass(read), "overloaded");
  EXPECT_TRUE(std::get<ProbeFailure>(read).retryable);
  request.spec = Spec({{"q", "css:q"}});
  EXPECT_EQ(FailureClass(rig->Check(request)), "overloaded") << "also to compile the fields";
  neighbour.End();
  pool_.reset();  // before the loop, to which the page that nobody waits for any more is posted
}

TEST_F(WebProbeTest, G10TheQueueOfAHostIsNoTimeOfItsPages) {
  Site site([](const ServerRequest&) {
    std::this_thread::sleep_for(200ms);  // a slow host
    return Html("<p>x</p>");
  });
  net_config_.connections_per_host_max = 1;
  const auto rig = Rig();
  std::atomic<int> turns = 0;
  std::atomic<std::int64_t> waited_max = 0;
  auto request = Request(Spec({{"p", "css:p"}}), {{"url", site.Url()}});
  rig->Check(request);  // compiles the fields, for which thirty at once might not find room
  request.timeout = 2000ms;
  request.deadline_left = 4000ms;
  request.on_turn = [&](milliseconds waited) {
    ++turns;
    waited_max = std::max<std::int64_t>(waited_max, waited.count());
    return true;
  };
  std::vector<std::future<ProbeResult>> checks;
  for (int i = 0; i < 30; ++i) checks.push_back(rig->Begin(request));
  for (auto& check : checks) {
    const ProbeResult result = check.get();
    EXPECT_TRUE(std::holds_alternative<Observation>(result)) << FailureClass(result);
  }
  EXPECT_GE(turns, 30);
  EXPECT_GE(waited_max, request.deadline_left.count());
}

TEST_F(WebProbeTest, G5WhoeverIsRefusedItsTurnAsksNothing) {
  Site site([](const ServerRequest&) { return Html("<p>x</p>"); });
  const auto rig = Rig();
  auto request = Request(Spec({{"p", "css:p"}}), {{"url", site.Url()}});
  request.on_turn = [](milliseconds) { return false; };
  EXPECT_EQ(FailureClass(rig->Check(request)), "overloaded");
  EXPECT_TRUE(site.requests().empty());
}

// Pages of half of the budget, whose readers wait for a thread: no more of them are fetched than
// there is room for, and all are read in the end.
TEST_F(WebProbeTest, G11PagesThatWaitHaveRoomInTheBudgetOrAreNotFetched) {
  const std::string page = "<p>x</p>" + std::string(500'000, ' ');
  Site site([&](const ServerRequest&) { return Html(page); });
  MakePool({1, 1, 16});
  budget_ = std::make_unique<base::ByteBudget>(1 << 20, 0.1);
  const auto rig = Rig();
  auto request = Request(Spec({{"p", "css:p"}}), {{"url", site.Url()}});
  rig->Check(request);
  rig->Settle();
  EXPECT_EQ(budget_->usage().used, 0U);
  Busy neighbour(*pool_, base::Uuid::V4());
  std::vector<std::future<ProbeResult>> checks;
  for (int i = 0; i < 10; ++i) checks.push_back(rig->Begin(request));
  std::size_t most = 0;
  while (budget_->usage().waiting == 0) {
    most = std::max(most, budget_->usage().used);
    std::this_thread::yield();
  }
  EXPECT_LE(most, budget_->total() + 2 * page.size());
  neighbour.End();
  for (auto& check : checks) {
    const ProbeResult result = check.get();
    EXPECT_TRUE(std::holds_alternative<Observation>(result)) << FailureClass(result);
  }
  rig->Settle();
  EXPECT_EQ(budget_->usage().used, 0U);
}

TEST_F(WebProbeTest, G11EveryPathGivesItsBytesBack) {
  const std::string page = "<p>x</p>" + std::string(200'000, ' ');
  std::string slow;
  for (int i = 0; i < 15000; ++i) slow += "<a>bbbbbbbbb</a>";
  Site site([&](const ServerRequest& request) -> ServerResponse {
    if (request.path == "/moved") {
      ServerResponse answer = To("/page");
      answer.body = page;
      return answer;
    }
    if (request.path == "/missing") return {404, {}, page};
    if (request.path == "/slow") return Html(slow);
    if (request.path == "/long") return Html(std::string((1 << 20) + 1, 'x'));
    return Html(page);
  });
  const auto rig = Rig();
  const std::string slow_path = "/slow";
  for (const std::string path : {"/page", "/moved", "/missing", "/long", "/slow"}) {
    const auto spec = Spec({{"p", "xpath://a[contains(/, 'zz')]"}});
    rig->Check(Request(spec, {{"url", site.Url(path)}}));
    rig->Settle();
    // What was told to stop ends a little later.
    while (path == slow_path && budget_->usage().used > 0) std::this_thread::yield();
    EXPECT_EQ(budget_->usage().used, 0U) << path;
  }
  pool_.reset();  // its jobs post to the loop, which lives on
}

// A page with a version; 304 to whoever has it.
ServerResponse Versioned(const ServerRequest& request, const std::string& etag,
                         const std::string& body) {
  if (request.Header("if-none-match") == etag) return {304, {{"ETag", etag}}, ""};
  return {200, {{"Content-Type", "text/html"}, {"ETag", etag}}, body};
}

TEST_F(WebProbeTest, A304IsTheSameObservationAgain) {
  std::atomic<int> version = 1;
  Site site([&](const ServerRequest& request) {
    if (request.path == "/moved") return To("/page");
    const std::string n = std::to_string(version.load());
    return Versioned(request, "\"v" + n + "\"", "<p>" + n + "</p>");
  });
  const auto rig = Rig();
  // A spec of its own for every check, as for every claim.
  const std::vector<WatchedField> watched{{"p", "css:p"}, {"gone", "css:h1"}};
  const auto monitor = Spec(watched);
  const auto check = [&](const std::string& path) {
    return std::get<Observation>(
        rig->Check(Request(std::make_shared<ProbeSpec>(*monitor), {{"url", site.Url(path)}})));
  };
  for (int i = 0; i < 3; ++i) {
    const auto seen = check("/moved");
    EXPECT_EQ(seen.fields.at("p").value.Value(), "1");
    EXPECT_EQ(seen.fields.at("p").sources, std::vector<std::string>{site.Url("/page")});
    EXPECT_TRUE(seen.fields.at("gone").value.Value().is_null());
  }
  const auto asked = site.requests();
  ASSERT_EQ(asked.size(), 6U);
  EXPECT_EQ(asked[1].Header("if-none-match"), "");
  EXPECT_EQ(asked[2].Header("if-none-match"), "") << "the redirect has no version";
  EXPECT_EQ(asked[3].Header("if-none-match"), "\"v1\"");
  version = 2;
  EXPECT_EQ(check("/moved").fields.at("p").value.Value(), "2");
  EXPECT_EQ(check("/page").fields.at("p").value.Value(), "2");
  EXPECT_EQ(site.requests().back().Header("if-none-match"), "\"v2\"");
}

TEST_F(WebProbeTest, APageOfTheSameBytesIsNotReadAgain) {
  std::atomic<int> version = 1;
  std::atomic<bool> latin = false;
  Site site([&](const ServerRequest&) -> ServerResponse {
    const char* type = latin ? "text/html; charset=latin1" : "text/html; charset=utf-8";
    return {200, {{"Content-Type", type}}, "<p>\xC3\xA9" + std::to_string(version.load())};
  });
  const auto rig = Rig();
  const auto monitor = Spec({{"p", "css:p"}, {"gone", "css:h1"}});
  const auto check = [&] {
    const auto result = rig->Check(Request(monitor, {{"url", site.Url()}}));
    EXPECT_TRUE(std::get<Observation>(result).fields.at("gone").value.Value().is_null());
    return std::get<Observation>(result).fields.at("p").value.Value();
  };
  EXPECT_EQ(check(),
            "\xC3\xA9"
            "1");
  EXPECT_EQ(memory_->same_bodies(), 0U);
  EXPECT_EQ(check(),
            "\xC3\xA9"
            "1");
  EXPECT_EQ(memory_->same_bodies(), 1U);
  version = 2;
  EXPECT_EQ(check(),
            "\xC3\xA9"
            "2");
  latin = true;  // the same bytes, but another text
  EXPECT_EQ(check(),
            "\xC3\x83\xC2\xA9"
            "2");
  rig->Check(Request(Spec({{"p", "css:p"}}), {{"url", site.Url()}}));  // another monitor
  EXPECT_EQ(memory_->same_bodies(), 1U);
}

TEST_F(WebProbeTest, WhatIsRememberedIsOfThisMonitorAndTheseFields) {
  Site site([](const ServerRequest& request) { return Versioned(request, "\"v\"", "<p>1"); });
  const auto rig = Rig();
  const base::Json row = {{"url", site.Url()}};
  const auto monitor = Spec({{"p", "css:p"}});
  rig->Check(Request(monitor, row));
  rig->Check(Request(Spec({{"p", "css:p"}}), row));  // another monitor
  auto changed = std::make_shared<ProbeSpec>(*monitor);
  changed->watched[0].description = "css:p | count";
  rig->Check(Request(changed, row));
  for (const auto& request : site.requests()) EXPECT_EQ(request.Header("if-none-match"), "");
  rig->Check(Request(monitor, row));
  EXPECT_EQ(site.requests().back().Header("if-none-match"), "\"v\"");
}

TEST_F(WebProbeTest, AfterARestartThePageIsFetchedWhole) {
  Site site([](const ServerRequest& request) { return Versioned(request, "\"v\"", "<p>1"); });
  const auto monitor = Spec({{"p", "css:p"}});
  for (int i = 0; i < 2; ++i) {
    memory_ = std::make_unique<html::PageMemory>(1 << 20);
    const auto result = Rig()->Check(Request(monitor, {{"url", site.Url()}}));
    EXPECT_EQ(std::get<Observation>(result).fields.at("p").value.Value(), "1");
    EXPECT_EQ(site.requests().back().Header("if-none-match"), "");
  }
}

TEST_F(WebProbeTest, A304ThatNobodyAskedForIsAFailure) {
  Site site([](const ServerRequest&) { return ServerResponse{304, {}, ""}; });
  const auto result = Rig()->Check(Request(Spec({{"p", "css:p"}}), {{"url", site.Url()}}));
  EXPECT_EQ(FailureClass(result), "http_status");
}

TEST_F(WebProbeTest, WallsAgainstRobotsAreFailuresWhateverTheirStatus) {
  const std::string wall =
      "<!DOCTYPE html><html><head><title>Just a moment...</title></head><body><script "
      "src=\"/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1\"></script></body></html>";
  Site site([&](const ServerRequest& request) -> ServerResponse {
    const int status = std::stoi(request.path.substr(2));
    if (request.path[1] == 'b') return {status, {{"Content-Type", "text/html"}}, wall};
    return {status, {{"CF-Mitigated", "challenge"}, {"Retry-After", "9"}}, "<p>wait</p>"};
  });
  const auto rig = Rig();
  for (const char* path : {"/b200", "/b403", "/b503", "/h200", "/h403", "/h429"}) {
    const auto result = rig->Check(Request(Spec({{"p", "css:p"}}), {{"url", site.Url(path)}}));
    ASSERT_EQ(FailureClass(result), "blocked") << path;
    const std::string_view status = std::string_view(path).substr(2);
    EXPECT_EQ(std::get<ProbeFailure>(result).retryable, status == "429" || status == "503");
  }
}

TEST_F(WebProbeTest, AnArticleAboutWallsIsNoWall) {
  Site site([](const ServerRequest&) {
    return Html(
        "<title>What \"Just a moment...\" means</title><p>px-captcha, _Incapsula_Resource"
        "<script src=/cdn-cgi/challenge-platform/scripts/jsd/main.js></script>");
  });
  const auto result = Rig()->Check(Request(Spec({{"t", "css:title"}}), {{"url", site.Url()}}));
  EXPECT_TRUE(std::holds_alternative<Observation>(result));
}

TEST_F(WebProbeTest, CallbacksAreDroppedWithTheProbe) {
  test::Gate gate;
  test::Gate asked;
  Site site([&](const ServerRequest&) {
    asked.Open();
    gate.Wait();
    return Html("<p>x</p>");
  });
  const auto rig = Rig();
  auto fetching = rig->Begin(Request(Spec({{"p", "css:p"}}), {{"url", site.Url()}}));
  asked.Wait();
  rig->DestroyProbe();
  gate.Open();
  EXPECT_THROW(fetching.get(), std::future_error);  // nobody holds the promise any more
}

TEST_F(WebProbeTest, CallbacksAreDroppedWithTheProbeWhileAPageIsRead) {
  Site site([](const ServerRequest&) { return Html("<p>x</p>"); });
  MakePool({1, 1, 16});
  const auto rig = Rig();
  test::Gate gate;
  ASSERT_TRUE(pool_->Post({}, [&] { gate.Wait(); }));
  auto compiling = rig->Begin(Request(Spec({{"p", "css:p"}}), {{"url", site.Url()}}));
  rig->DestroyProbe();
  gate.Open();
  EXPECT_THROW(compiling.get(), std::future_error);
  pool_.reset();  // its jobs post to the loop, which lives on
}

}  // namespace
}  // namespace vedette::worker
