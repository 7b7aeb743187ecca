// Pages that one process asks for and another one renders.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/event_loop.h"
#include "base/uuid.h"
#include "config/database_config.h"
#include "config/probe_config.h"
#include "config/security_config.h"
#include "metrics/metrics.h"
#include "net/browser/browser.h"
#include "store/renders.h"
#include "store/session.h"
#include "store/signals.h"
#include "tests/support/test_database.h"
#include "worker/rendering/fleet_renderer.h"
#include "worker/rendering/render_message.h"
#include "worker/rendering/render_server.h"

namespace vedette::test {
namespace {

using namespace std::chrono_literals;
using store::RenderNews;

class RendersTest : public testing::Test {
 protected:
  base::Uuid Ask(const base::Uuid& org_id, std::chrono::milliseconds asked = 60s) {
    const base::Uuid id = base::Uuid::V7(clock);
    store::AskForRender(session, id, org_id, "a request", asked);
    return id;
  }
  std::vector<store::ClaimedRender> Claim(const base::Uuid& with, int limit,
                                          const store::RenderTurns& turns = {},
                                          std::chrono::milliseconds lease = 60s) {
    return store::ClaimRenders(session, with, limit, turns, lease);
  }
  std::vector<RenderNews> News(const base::Uuid& id, bool renew = false) {
    return store::LookAtRenders(session, {id}, renew, 60s);
  }
  // The process that has the page is not heard of any more.
  void LetLeaseEnd(const base::Uuid& id) {
    db.Sql("update render set leased_until = now() - interval '1 second' where id = '" +
           id.ToString() + "'");
  }

  TestDatabase db;
  const config::DatabaseConfig config = db.config();
  base::SystemClock clock;
  metrics::Metrics metrics{"test"};
  const base::Logger log{base::LogLevel::kError, base::LogFormat::kText};
  store::Session session{config, {"test"}, clock, metrics, log};
  const base::Uuid org = base::Uuid::V4();
  const base::Uuid token = base::Uuid::V4();
};

TEST_F(RendersTest, APageGoesFromAskingToItsAnswerAndIsGone) {
  const base::Uuid id = Ask(org);
  EXPECT_TRUE(News(id).empty());
  const auto claimed = Claim(token, 10);
  ASSERT_EQ(claimed.size(), 1U);
  EXPECT_EQ(claimed[0].org_id, org);
  EXPECT_EQ(claimed[0].request, "a request");
  EXPECT_TRUE(Claim(base::Uuid::V4(), 10).empty()) << "it is one process's alone";
  const auto offered = News(id);
  ASSERT_EQ(offered.size(), 1U);
  EXPECT_EQ(offered[0].kind, RenderNews::Kind::kOffered);
  EXPECT_TRUE(store::TakenRenders(session, {{id, token}}).empty());
  EXPECT_FALSE(store::AnswerRender(session, {id, token}, "too early"));
  EXPECT_EQ(store::AcceptRenders(session, {{id, offered[0].token}}), std::vector{id});
  EXPECT_EQ(store::TakenRenders(session, {{id, token}}), std::vector{id});
  EXPECT_TRUE(store::AnswerRender(session, {id, token}, std::string("\0\xff", 2)));
  EXPECT_EQ(News(id).at(0).kind, RenderNews::Kind::kAnswered);
  EXPECT_EQ(store::CollectRenders(session, {id}).at(id), std::string("\0\xff", 2));
  EXPECT_EQ(db.Sql("select count(*) from render"), "0");
  EXPECT_EQ(News(id, true).at(0).kind, RenderNews::Kind::kGone);
}

TEST_F(RendersTest, APageOfADeadProcessIsTakenOverAndWhatThatSaysLaterHasNoEffect) {
  const base::Uuid id = Ask(org);
  ASSERT_EQ(Claim(token, 1).size(), 1U);
  store::AcceptRenders(session, {{id, token}});
  EXPECT_EQ(store::RenewRenders(session, {{id, token}}, 60s), std::vector{id});
  LetLeaseEnd(id);
  const base::Uuid other = base::Uuid::V4();
  ASSERT_EQ(Claim(other, 1).size(), 1U);
  EXPECT_EQ(News(id).at(0).claims, 2);
  EXPECT_TRUE(store::AcceptRenders(session, {{id, token}}).empty()) << "the offer of the dead one";
  store::AcceptRenders(session, {{id, other}});
  EXPECT_TRUE(store::RenewRenders(session, {{id, token}}, 60s).empty());
  EXPECT_FALSE(store::AnswerRender(session, {id, token}, "the dead one's"));
  EXPECT_TRUE(store::AnswerRender(session, {id, other}, "the other's"));
  EXPECT_FALSE(store::AnswerRender(session, {id, other}, "once more"));
  EXPECT_EQ(store::CollectRenders(session, {id}).at(id), "the other's");
}

TEST_F(RendersTest, APageThatKillsItsProcessesIsGivenUp) {
  const base::Uuid id = Ask(org);
  for (int i = 0; i < store::kRenderClaimsMax; ++i) {
    ASSERT_TRUE(News(id).empty()) << i;
    const base::Uuid one = base::Uuid::V4();
    ASSERT_EQ(Claim(one, 1).size(), 1U) << i;
    store::AcceptRenders(session, {{id, one}});
    LetLeaseEnd(id);
  }
  EXPECT_TRUE(Claim(token, 1).empty());
  EXPECT_EQ(News(id).at(0).kind, RenderNews::Kind::kGivenUp);
}

TEST_F(RendersTest, WhatIsGivenBackWaitsAgainAndCountsAsNoDeath) {
  const base::Uuid id = Ask(org);
  for (int i = 0; i < 2 * store::kRenderClaimsMax; ++i) {
    ASSERT_EQ(Claim(token, 1).size(), 1U) << i;
    store::GiveBackRenders(session, {{id, token}});
  }
  EXPECT_TRUE(News(id).empty());
}

TEST_F(RendersTest, NobodyRendersForWhoIsGone) {
  Ask(org, -1ms);
  EXPECT_TRUE(Claim(token, 1).empty());
  const base::Uuid id = Ask(org);
  ASSERT_EQ(Claim(token, 1).size(), 1U);
  store::ForgetRenders(session, {{id, token}});
  EXPECT_EQ(News(id, true).at(0).kind, RenderNews::Kind::kGone) << "an offer that nobody accepted";
  const base::Uuid late = Ask(org);
  ASSERT_EQ(Claim(token, 1).size(), 1U);
  store::AcceptRenders(session, {{late, token}});
  db.Sql("update render set asked_until = now() - interval '1 second'");
  EXPECT_TRUE(store::RenewRenders(session, {{late, token}}, 60s).empty());
}

TEST_F(RendersTest, OrganisationsTakeTurnsByWhatTheyHaveUsed) {
  const base::Uuid other = base::Uuid::V4();
  for (int i = 0; i < 20; ++i) Ask(org);
  Ask(other);
  Ask(other);
  const auto of_other = [&](const std::vector<store::ClaimedRender>& claimed) {
    return std::count_if(claimed.begin(), claimed.end(),
                         [&](const auto& one) { return one.org_id == other; });
  };
  const auto even = Claim(token, 4, {.page = 1000});
  EXPECT_EQ(even.size(), 4U);
  EXPECT_EQ(of_other(even), 2) << "nobody waits behind a backlog";
  Ask(other);
  const auto next = Claim(token, 2, {.org_ids = {org}, .used = {10'000}, .page = 1000});
  EXPECT_EQ(of_other(next), 1);
  Ask(other);
  Ask(other);
  const auto burnt = Claim(token, 2, {.org_ids = {org}, .used = {10'000}, .page = 1000});
  EXPECT_EQ(of_other(burnt), 2) << "who has used much waits until the others have, too";
}

// Two processes of a fleet on one loop, with a browser that is none.
class RenderingTest : public RendersTest {
 protected:
  class Fake final : public net::Renderer {
   public:
    bool MayRender() const override { return true; }
    void Render(net::RenderRequest request,
                std::function<void(net::RenderedPage page)> done) override {
      asked.push_back(request.url);
      timers.push_back(std::make_unique<base::Timer>(
          *loop, [this, request = std::move(request), done = std::move(done)] {
            net::RenderedPage page;
            page.url = request.url + "#rendered";
            page.response.status = 200;
            page.response.body = std::string("<p>\0\xff", 5);
            page.response.headers = {{"content-type", "text/html"}};
            page.response.duration = 5ms;
            page.bytes = 77;
            if (request.holds_open) page.open = Open();
            done(std::move(page));
          }));
      timers.back()->Start(5ms);
    }
    // One that is open until its picture is taken, which names what it outlines, or it is closed.
    std::unique_ptr<net::OpenPage> Open() {
      return std::make_unique<net::OpenPage>(net::OpenPage::Elsewhere{
          .picture =
              [](const net::PictureOrder& order, const std::function<void(net::Picture)>& taken) {
                taken({"a picture of " + order.outlined.at(0).selector, "[]"});
              },
          .close = [this] { closed(); }});
    }
    base::EventLoop* loop = nullptr;
    std::function<void()> closed;
    std::vector<std::string> asked;
    std::vector<std::unique_ptr<base::Timer>> timers;
  };

  static config::BrowserConfig Browser() {
    config::BrowserConfig config{};
    config.pages_max = 2;
    return config;
  }

  RenderingTest() {
    fake.loop = &loop;
    signals.Listen(store::Signal::kRender, [this] { loop.Post([this] { server->Wake(); }); });
    signals.Listen(store::Signal::kRendered, [this] { loop.Post([this] { asker->Wake(); }); });
  }
  ~RenderingTest() override {
    signals.Stop();
    asker.reset();
    server.reset();
    pool.Stop();
  }

  // What comes of these pages, in their order, in any time that is not endless.
  std::vector<net::RenderedPage> Rendered(std::vector<net::RenderRequest> requests,
                                          std::chrono::milliseconds awaited = 1h) {
    server = std::make_unique<worker::RenderServer>(
        loop, pool, signals, clock, browser, security_of_browsers, fake,
        [] { return std::size_t{0}; }, 1s, log);
    asker = std::make_unique<worker::FleetRenderer>(loop, pool, signals, clock, metrics, security,
                                                    "there is none", log, awaited);
    std::vector<net::RenderedPage> pages(requests.size());
    std::size_t left = requests.size();
    for (const auto& request : requests) left += request.holds_open ? 1 : 0;
    const auto one_less = [&] {
      if (--left == 0) loop.Stop();
    };
    fake.closed = one_less;
    base::Timer guard(loop, [&] { loop.Stop(); });
    guard.Start(60s);
    base::Timer begin(loop, [&] {
      for (std::size_t i = 0; i < requests.size(); ++i) {
        asker->Render(std::move(requests[i]), [&, i](net::RenderedPage page) {
          pages[i] = std::move(page);
          one_less();
          const std::shared_ptr<net::OpenPage> open = std::move(pages[i].open);
          if (open == nullptr || i % 2 == 1) return;  // nobody wants its picture
          open->TakePicture({{{false, pages[i].url}}, false}, [&, i, open](net::Picture picture) {
            pictures[i] = std::move(picture.file);
            one_less();
          });
        });
      }
    });
    signals.Start();
    loop.Post([&] {
      asker->Start();
      server->Start();
      begin.Start(awaited == 0ms ? 500ms : 0ms);
    });
    loop.Run();
    EXPECT_EQ(left, 0U) << "they came in time";
    return pages;
  }
  net::RenderRequest Page(const std::string& url) const {
    net::RenderRequest request;
    request.org_id = org;
    request.url = url;
    request.timeout = 20s;
    request.wait_max = 20s;
    return request;
  }
  void BrowserIsAlive() {
    db.Sql(
        "insert into member (id, roles, version, host, pid) values (gen_random_uuid(), "
        "'{browser}', '1', 'h', 1)");
  }

  base::EventLoop loop;
  std::map<std::size_t, std::string> pictures;
  Fake fake;
  const config::BrowserConfig browser = Browser();
  config::SecurityConfig security{};
  config::SecurityConfig security_of_browsers{};
  store::Signals signals{config, clock, metrics, log};
  store::Pool pool{config, {"render", true}, 2, clock, metrics, log};
  std::unique_ptr<worker::RenderServer> server;
  std::unique_ptr<worker::FleetRenderer> asker;
};

TEST_F(RenderingTest, PagesComeBackWholeAndLeaveNothing) {
  BrowserIsAlive();
  std::vector<net::RenderRequest> requests;
  for (int i = 0; i < 20; ++i) requests.push_back(Page("http://a.test/" + std::to_string(i)));
  const auto pages = Rendered(std::move(requests));
  for (int i = 0; i < 20; ++i) {
    const net::RenderedPage& page = pages.at(static_cast<std::size_t>(i));
    EXPECT_EQ(page.url, "http://a.test/" + std::to_string(i) + "#rendered");
    EXPECT_EQ(page.response.body, std::string("<p>\0\xff", 5));
    EXPECT_EQ(page.response.Header("content-type"), "text/html");
    EXPECT_EQ(page.bytes, 77U);
  }
  EXPECT_EQ(fake.asked.size(), 20U) << "each once";
  EXPECT_EQ(db.Sql("select count(*) from render"), "0");
}

TEST_F(RenderingTest, APageStaysOpenUntilItIsPicturedOrNobodyWantsThat) {
  BrowserIsAlive();
  std::vector<net::RenderRequest> requests;
  for (int i = 0; i < 4; ++i) {
    requests.push_back(Page("http://a.test/" + std::to_string(i)));
    requests.back().holds_open = true;
  }
  const auto pages = Rendered(std::move(requests));
  EXPECT_EQ(pages.at(3).response.body, std::string("<p>\0\xff", 5));
  EXPECT_EQ(pictures,
            (std::map<std::size_t, std::string>{{0, "a picture of http://a.test/0#rendered"},
                                                {2, "a picture of http://a.test/2#rendered"}}));
  EXPECT_EQ(fake.asked.size(), 4U) << "each is loaded once";
  EXPECT_EQ(db.Sql("select count(*) from render"), "0");
}

TEST_F(RenderingTest, G5APageWhoseCheckMayNotBeginAnyMoreIsNotLoaded) {
  BrowserIsAlive();
  net::RenderRequest request = Page("http://a.test/");
  request.on_turn = [](std::chrono::milliseconds) { return false; };
  EXPECT_EQ(Rendered({request}).at(0).response.error_class, net::HttpErrorClass::kBusy);
  EXPECT_TRUE(fake.asked.empty());
}

TEST_F(RenderingTest, APageWhoseSecretsTheBrowsersProcessCannotOpenFailsAtOnceWithThat) {
  BrowserIsAlive();
  security.encryption_key = std::string(32, 'n');
  security_of_browsers.encryption_key = std::string(32, 'o');
  net::RenderRequest request = Page("http://a.test/");
  request.timeout = 1h;
  request.steps.emplace_back().secret = "a password";
  const auto pages = Rendered({request, Page("http://b.test/")});
  EXPECT_EQ(pages.at(0).response.error_class, net::HttpErrorClass::kProtocol);
  EXPECT_NE(pages.at(0).response.error.find("role browser"), std::string::npos)
      << pages.at(0).response.error;
  EXPECT_EQ(fake.asked, std::vector<std::string>{"http://b.test/"});
  EXPECT_EQ(db.Sql("select count(*) from render"), "0");
}

TEST_F(RenderingTest, WhereNobodyRendersItSaysSoAndPagesAreReadAsTheyAreSent) {
  const auto pages = Rendered({Page("http://a.test/")}, 0ms);
  const net::RenderedPage& page = pages.at(0);
  EXPECT_EQ(page.response.error_class, net::HttpErrorClass::kConnect);
  EXPECT_NE(page.response.error.find("role browser"), std::string::npos) << page.response.error;
  EXPECT_FALSE(asker->MayRender());
  EXPECT_EQ(asker->lack(), "there is none, and no process with the role browser is alive");
}

TEST_F(RenderingTest, WhereThoseWhoRenderHaveDiedPagesFailInsteadOfBeingReadAsSent) {
  db.Sql(
      "insert into member (id, roles, version, host, pid, heartbeat_at) values "
      "(gen_random_uuid(), '{browser}', '1', 'h', 1, now() - interval '5 minutes')");
  EXPECT_EQ(Rendered({Page("http://a.test/")}, 0ms).at(0).response.error_class,
            net::HttpErrorClass::kConnect);
  EXPECT_TRUE(asker->MayRender());
}

}  // namespace
}  // namespace vedette::test
