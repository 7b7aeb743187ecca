#include "html/robots.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "config/net_config.h"
#include "tests/support/hand_clock.h"
#include "tests/unit/net/site.h"

namespace vedette::html {
namespace {

using namespace std::chrono_literals;
using net::ServerRequest;
using net::ServerResponse;
using net::test::Gate;
using net::test::Site;
using Answer = std::optional<domain::Failure>;

const base::Uuid kOrg = base::Uuid::V4();

ServerResponse File(std::string body) {
  return {200, {{"Content-Type", "text/plain"}}, std::move(body)};
}

// A book on a loop of its own.
class RobotsBookTest : public ::testing::Test {
 protected:
  RobotsBookTest() {
    loop_.Run([this] {
      client_ = std::make_unique<net::HttpClient>(loop_.loop, net_config_);
      fetcher_ = std::make_unique<Fetcher>(loop_.loop, *client_, *pool_, policy_, memory_, budget_,
                                           net_config_.user_agent);
      book_ = std::make_unique<RobotsCache>(*fetcher_, clock_, net_config_.user_agent);
    });
  }
  void TearDown() override {
    // On the loop's thread, which may be about to give the pool a page that a test left.
    loop_.Run([this] {
      pool_.reset();
      book_.reset();
      fetcher_.reset();
      client_.reset();
    });
  }

  static FetchRequest Page(const std::string& url, const base::Uuid& org_id = base::Uuid::V4()) {
    FetchRequest page;
    page.org_id = org_id;
    page.url = url;
    page.body_bytes_max = 1 << 20;
    page.timeout = 20000ms;
    page.turn_wait_max = 20000ms;
    page.thread_wait_max = 20000ms;
    return page;
  }
  std::future<Answer> Begin(FetchRequest page) {
    auto promise = std::make_shared<std::promise<Answer>>();
    auto future = promise->get_future();
    loop_.Run([&] {
      book_->Ask(page, [promise](Answer answer) { promise->set_value(std::move(answer)); });
    });
    return future;
  }
  Answer Ask(const std::string& url) { return Begin(Page(url)).get(); }
  // "" where the page may be fetched.
  std::string Refused(const std::string& url) {
    const Answer answer = Ask(url);
    return answer ? answer->error_class : "";
  }

  const config::NetConfig net_config_ = net::test::SiteNetConfig();
  const net::AddressPolicy policy_{{"127.0.0.0/8"}};
  PageMemory memory_{1 << 20};
  base::ByteBudget budget_{4 << 20, 0.1};
  vedette::test::HandClock clock_;
  net::test::LoopThread loop_;
  std::unique_ptr<base::ThreadPool> pool_ =
      std::make_unique<base::ThreadPool>("pages", base::ThreadPool::Limits{1, 1, 16});
  std::unique_ptr<net::HttpClient> client_;
  std::unique_ptr<Fetcher> fetcher_;
  std::unique_ptr<RobotsCache> book_;
};

TEST_F(RobotsBookTest, ASitesFileIsReadOnceAndTellsOfItsPages) {
  Site site([](const ServerRequest&) {
    return File(
        "User-agent: vedette-test\nDisallow: /private\nDisallow: /*?secret\n"
        "Allow: /private/ours\n\nUser-agent: *\nDisallow: /\n");
  });
  const Answer refused = Ask(site.Url("/private/a"));
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->error_class, "robots");
  EXPECT_FALSE(refused->retryable) << "asking again changes nothing";
  EXPECT_EQ(Refused(site.Url("/private/ours")), "");
  EXPECT_EQ(Refused(site.Url("/public")), "");
  EXPECT_EQ(Refused(site.Url("/public?secret=1")), "robots") << "the query counts";
  EXPECT_EQ(Refused(site.Url("")), "") << "an address without a path is that of /";
  EXPECT_EQ(Refused(site.Url("?secret=1")), "robots");
  ASSERT_EQ(site.requests().size(), 1U);
  EXPECT_EQ(site.requests()[0].target, "/robots.txt");
}

TEST_F(RobotsBookTest, WhatIsKnownIsAnsweredInsideTheQuestion) {
  Site site([](const ServerRequest&) { return File(""); });
  Ask(site.Url());
  bool answered = false;
  loop_.Run([&] {
    book_->Ask(Page(site.Url("/b")), [&](const Answer& answer) { answered = !answer; });
    EXPECT_TRUE(answered);
  });
}

TEST_F(RobotsBookTest, EverySiteHasAFileOfItsOwn) {
  Site closed([](const ServerRequest&) { return File("User-agent: *\nDisallow: /\n"); });
  Site open([](const ServerRequest&) { return File(""); });
  EXPECT_EQ(Refused(closed.Url()), "robots");
  EXPECT_EQ(Refused(open.Url()), "") << "another port is another site";
  std::string shouted = closed.Url("/a");
  shouted.replace(0, 4, "HTTP");
  EXPECT_EQ(Refused(shouted), "robots");
  EXPECT_EQ(closed.requests().size(), 1U) << "the case of an address makes no other site";
}

TEST_F(RobotsBookTest, AFileIsBelievedForAnHour) {
  std::atomic<bool> open = true;
  Site site([&](const ServerRequest&) { return File(open ? "" : "User-agent: *\nDisallow: /\n"); });
  EXPECT_EQ(Refused(site.Url()), "");
  open = false;
  clock_.Pass(kRobotsKnownMax - 1ns);
  EXPECT_EQ(Refused(site.Url()), "");
  EXPECT_EQ(site.requests().size(), 1U);
  clock_.Pass(1ns);
  EXPECT_EQ(Refused(site.Url()), "robots");
  EXPECT_EQ(site.requests().size(), 2U);
}

TEST_F(RobotsBookTest, ThoseWhoAskMeanwhileWaitForTheSameAnswer) {
  Gate gate;
  Site site([&](const ServerRequest&) {
    gate.Wait();
    return File("User-agent: *\nDisallow: /private\n");
  });
  auto first = Begin(Page(site.Url("/private"), kOrg));
  auto second = Begin(Page(site.Url("/public"), kOrg));
  auto third = Begin(Page(site.Url("/private/a"), kOrg));
  EXPECT_EQ(second.wait_for(0s), std::future_status::timeout);
  gate.Open();
  EXPECT_TRUE(first.get());
  EXPECT_FALSE(second.get());
  EXPECT_TRUE(third.get());
  EXPECT_EQ(site.requests().size(), 1U);
}

TEST_F(RobotsBookTest, G10EachOrganisationAsksInItsOwnTurnsAndTheFirstAnswerIsThatOfAll) {
  std::shared_ptr<net::Exchange> held;
  std::promise<void> asked;
  net::test::FunctionService service(
      [&](std::shared_ptr<net::Exchange> exchange) {
        if (held) return exchange->Send(File("User-agent: *\nDisallow: /private\n"));
        held = std::move(exchange);
        asked.set_value();
      },
      1 << 20);
  net::HttpServer server(net::test::ServerConfig(), service, net::test::Silent());
  server.Start();
  const std::string site = "http://" + server.address();
  auto slow = Begin(Page(site + "/private"));
  asked.get_future().wait();
  EXPECT_FALSE(Begin(Page(site + "/public")).get());
  const Answer refused = slow.get();
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->error_class, "robots");
  held->Send(File(""));
  held.reset();
  server.Stop();
}

TEST_F(RobotsBookTest, WhoMustNotGoOnCostsTheOthersWhoWaitNothing) {
  Site site([](const ServerRequest&) { return File(""); });
  FetchRequest paused = Page(site.Url("/a"), kOrg);
  paused.on_turn = [](std::chrono::milliseconds) { return false; };
  std::promise<Answer> of_paused;
  std::promise<Answer> of_other;
  loop_.Run([&] {
    book_->Ask(paused, [&](Answer answer) { of_paused.set_value(std::move(answer)); });
    book_->Ask(Page(site.Url("/b"), kOrg),
               [&](Answer answer) { of_other.set_value(std::move(answer)); });
  });
  EXPECT_EQ(of_paused.get_future().get()->error_class, "overloaded");
  EXPECT_FALSE(of_other.get_future().get());
  EXPECT_EQ(site.requests().size(), 1U);
}

TEST_F(RobotsBookTest, WithoutTheFileEverythingIsAllowedAndThatIsRemembered) {
  for (const int status : {404, 403, 410}) {
    Site site([status](const ServerRequest&) { return ServerResponse{status, {}, "no"}; });
    EXPECT_EQ(Refused(site.Url("/a")), "") << status;
    EXPECT_EQ(Refused(site.Url("/b")), "") << status;
    EXPECT_EQ(site.requests().size(), 1U) << status;
  }
}

TEST_F(RobotsBookTest, AFileThatCannotBeHadForbidsForNow) {
  std::atomic<int> status = 503;
  Site site([&](const ServerRequest&) { return ServerResponse{status, {}, ""}; });
  const Answer failed = Ask(site.Url("/a"));
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->error_class, "http_status");
  EXPECT_TRUE(failed->retryable);
  EXPECT_TRUE(failed->message.starts_with("The site's robots.txt cannot be read: "))
      << failed->message;
  status = 404;
  EXPECT_EQ(Refused(site.Url("/a")), "") << "the failure is not remembered";
  EXPECT_EQ(site.requests().size(), 2U);
}

TEST_F(RobotsBookTest, AFailureIsThatOfAllWhoWaitAndTheNextWhoAsksIsAskedFor) {
  Gate gate;
  std::atomic<int> asked = 0;
  Site site([&](const ServerRequest&) {
    gate.Wait();
    return ++asked == 1 ? ServerResponse{503, {}, ""} : File("User-agent: *\nDisallow: /no\n");
  });
  auto first = Begin(Page(site.Url("/a"), kOrg));
  auto second = Begin(Page(site.Url("/a"), kOrg));
  std::promise<Answer> asked_again;
  loop_.Run([&] {
    book_->Ask(Page(site.Url("/a"), kOrg), [&](const Answer&) {
      book_->Ask(Page(site.Url("/no")),
                 [&](Answer answer) { asked_again.set_value(std::move(answer)); });
    });
  });
  gate.Open();
  EXPECT_EQ(first.get()->error_class, "http_status");
  EXPECT_EQ(second.get()->error_class, "http_status") << "who waits longer is past its own time";
  EXPECT_EQ(asked_again.get_future().get()->error_class, "robots");
  EXPECT_EQ(asked, 2);
}

TEST_F(RobotsBookTest, AFileThatIsTooLongSaysNothing) {
  Site site([](const ServerRequest&) {
    return File("User-agent: *\nDisallow: /\n" + std::string(kRobotsBytesMax, '#'));
  });
  EXPECT_EQ(Refused(site.Url("/a")), "");
  EXPECT_EQ(Refused(site.Url("/b")), "");
  EXPECT_EQ(site.requests().size(), 1U);
}

TEST_F(RobotsBookTest, TheFileTakesTheTurnOfWhoAsks) {
  Site site([](const ServerRequest&) { return File(""); });
  FetchRequest page = Page(site.Url("/a"));
  page.on_turn = [](std::chrono::milliseconds) { return false; };
  EXPECT_EQ(Begin(page).get()->error_class, "overloaded");
  EXPECT_TRUE(site.requests().empty()) << "without a turn nothing is sent";
}

TEST_F(RobotsBookTest, G9AFileIsFetchedFromAllowedAddressesAlone) {
  EXPECT_EQ(Refused("http://10.0.0.1/a"), "refused_address");
}

TEST_F(RobotsBookTest, WhenTheBookEndsThoseWhoWaitGetNoAnswer) {
  Gate gate;
  Site site([&](const ServerRequest&) {
    gate.Wait();
    return File("");
  });
  const auto waits = std::make_shared<int>(0);
  loop_.Run([&] {
    for (int i = 0; i < 2; ++i) {
      book_->Ask(Page(site.Url()), [waits](const Answer&) { ++*waits; });
    }
    EXPECT_EQ(waits.use_count(), 3);
    book_.reset();
  });
  EXPECT_EQ(waits.use_count(), 1) << "nobody is left who could answer";
  EXPECT_EQ(*waits, 0);
  // The file that was on its way finds nobody.
  gate.Open();
  std::promise<void> read;
  loop_.Run([&] {
    fetcher_->Fetch(Page(site.Url("/robots.txt")), ReadRobotsFor("any"),
                    [&read](const Fetched&) { read.set_value(); });
  });
  read.get_future().wait();
}

}  // namespace
}  // namespace vedette::html
