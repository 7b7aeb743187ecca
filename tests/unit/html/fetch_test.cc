#include "html/fetch.h"
#include "config/net_config.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <stdexcept>

#include "tests/unit/html/text_reading.h"
#include "tests/unit/net/site.h"

namespace vedette::html {
namespace {

using namespace std::chrono_literals;
using net::ServerRequest;
using net::ServerResponse;
using net::test::Gate;
using net::test::Site;
using std::chrono::milliseconds;

Fetched ReadText(const FetchedPage& page, ReadingTime&) {
  return std::make_shared<const TextReading>(PageForms(page).VisibleText().value_or("unreadable"));
}

std::string TextOf(const Fetched& fetched) {
  const auto* reading = std::get_if<std::shared_ptr<const Reading>>(&fetched);
  return reading == nullptr ? "" : static_cast<const TextReading&>(**reading).text;
}

std::string FailureClass(const Fetched& fetched) {
  const auto* failure = std::get_if<domain::Failure>(&fetched);
  return failure == nullptr ? "" : failure->error_class;
}

ServerResponse Html(std::string body) {
  return {200, {{"Content-Type", "text/html"}, {"ETag", "\"1\""}}, std::move(body)};
}

// A fetcher on a loop of its own. There is no monitor, no check and no probe.
class FetchTest : public ::testing::Test {
 protected:
  FetchTest() {
    loop_.Run([this] { client_ = std::make_unique<net::HttpClient>(loop_.loop, net_config_); });
    MakeFetcher({});
  }
  ~FetchTest() override {
    pool_.reset();
    DestroyFetcher();
    loop_.Run([this] { client_.reset(); });
  }

  void MakeFetcher(ReadingLimits limits) {
    loop_.Run([this, limits] {
      fetcher_ = std::make_unique<Fetcher>(loop_.loop, *client_, *pool_, policy_, memory_, budget_,
                                           net_config_.user_agent, nullptr, limits);
    });
  }
  void DestroyFetcher() {
    loop_.Run([this] { fetcher_.reset(); });
  }

  static FetchRequest Request(const std::string& url) {
    FetchRequest request;
    request.org_id = base::Uuid::V4();
    request.url = url;
    request.reading_key = "text";
    request.body_bytes_max = 1 << 20;
    request.timeout = 20000ms;
    request.turn_wait_max = 20000ms;
    request.thread_wait_max = 20000ms;
    return request;
  }

  std::future<Fetched> Begin(FetchRequest request, ReadPage read = ReadText) {
    auto promise = std::make_shared<std::promise<Fetched>>();
    auto future = promise->get_future();
    loop_.Run([&] {
      fetcher_->Fetch(std::move(request), std::move(read),
                      [promise](Fetched fetched) { promise->set_value(std::move(fetched)); });
    });
    return future;
  }
  Fetched Fetch(FetchRequest request, ReadPage read = ReadText) {
    return Begin(std::move(request), std::move(read)).get();
  }

  const config::NetConfig net_config_ = net::test::SiteNetConfig();
  const net::AddressPolicy policy_{{"127.0.0.0/8"}};
  PageMemory memory_{1 << 20};
  base::ByteBudget budget_{1 << 20, 0.1};
  net::test::LoopThread loop_;
  std::unique_ptr<base::ThreadPool> pool_ =
      std::make_unique<base::ThreadPool>("pages", base::ThreadPool::Limits{1, 1, 1});
  std::unique_ptr<net::HttpClient> client_;
  std::unique_ptr<Fetcher> fetcher_;
};

TEST_F(FetchTest, APageIsReadOnThePoolFromItsLastAddress) {
  Site site([](const ServerRequest& request) {
    if (request.path == "/") return ServerResponse{302, {{"Location", "/next"}}, ""};
    return Html("<p>hello</p>");
  });
  const auto loop_thread = std::this_thread::get_id();
  std::string url;
  const Fetched fetched = Fetch(Request(site.Url()), [&](const FetchedPage& page, ReadingTime& t) {
    EXPECT_NE(std::this_thread::get_id(), loop_thread);
    EXPECT_TRUE(t.begun());
    url = page.url;
    return ReadText(page, t);
  });
  EXPECT_EQ(TextOf(fetched), "hello");
  EXPECT_EQ(url, site.Url("/next"));
}

TEST_F(FetchTest, UnderTheSameKeyAnUnchangedPageIsNeitherSentNorReadAgain) {
  Site site([](const ServerRequest& request) {
    if (request.Header("if-none-match") == "\"1\"") return ServerResponse{304, {}, ""};
    return Html("<p>hello</p>");
  });
  int reads = 0;
  const auto read = [&](const FetchedPage& page, ReadingTime& time) {
    ++reads;
    return ReadText(page, time);
  };
  for (int i = 0; i < 2; ++i) EXPECT_EQ(TextOf(Fetch(Request(site.Url()), read)), "hello");
  EXPECT_EQ(reads, 1);
  FetchRequest other = Request(site.Url());
  other.reading_key = "another's";
  EXPECT_EQ(TextOf(Fetch(std::move(other), read)), "hello");
  EXPECT_EQ(reads, 2);
}

TEST_F(FetchTest, WithoutAKeyNothingIsRemembered) {
  Site site([](const ServerRequest&) { return Html("<p>hello</p>"); });
  for (int i = 0; i < 2; ++i) {
    FetchRequest request = Request(site.Url());
    request.reading_key.clear();
    EXPECT_EQ(TextOf(Fetch(std::move(request))), "hello");
  }
  EXPECT_EQ(site.requests()[1].Header("if-none-match"), "");
  EXPECT_EQ(memory_.bytes(), 0U);
}

TEST_F(FetchTest, AFailureOfTheReaderIsNotRemembered) {
  Site site([](const ServerRequest&) { return Html("<p>hello</p>"); });
  const auto fail = [](const FetchedPage&, ReadingTime&) -> Fetched {
    return domain::Failure{"nothing_here", "There is nothing here.", false, {}};
  };
  EXPECT_EQ(FailureClass(Fetch(Request(site.Url()), fail)), "nothing_here");
  EXPECT_EQ(memory_.bytes(), 0U);
}

TEST_F(FetchTest, WhatAReaderThrowsIsBadContent) {
  Site site([](const ServerRequest&) { return Html("<p>hello</p>"); });
  const Fetched fetched = Fetch(
      Request(site.Url()),
      [](const FetchedPage&, ReadingTime&) -> Fetched { throw std::runtime_error("too odd"); });
  EXPECT_EQ(FailureClass(fetched), "bad_content");
  EXPECT_EQ(std::get<domain::Failure>(fetched).message, "The page cannot be read: too odd.");
}

TEST_F(FetchTest, G9TheFirstAddressAndEachRedirectAreChecked) {
  Site site([](const ServerRequest&) {
    return ServerResponse{302, {{"Location", "http://10.0.0.1/"}}, ""};
  });
  EXPECT_EQ(FailureClass(Fetch(Request("http://10.0.0.1/"))), "refused_address");
  EXPECT_EQ(FailureClass(Fetch(Request(site.Url()))), "refused_address");
  EXPECT_TRUE(fetcher_->CheckUrl("http://10.0.0.1/"));
  EXPECT_FALSE(fetcher_->CheckUrl(site.Url()));
}

TEST_F(FetchTest, OwnHeadersAreSentToThePagesOwnSiteAlone) {
  Site other([](const ServerRequest&) { return Html("<p>hello</p>"); });
  Site site([&](const ServerRequest& request) {
    const std::string to = request.path == "/" ? "/next" : other.Url();
    return ServerResponse{302, {{"Location", to}}, ""};
  });
  FetchRequest request = Request(site.Url());
  request.own_headers = std::make_shared<const domain::RequestHeaders>(
      domain::RequestHeaders{{"Cookie", "secret=1"}, {"accept", "text/plain"}});
  EXPECT_EQ(TextOf(Fetch(std::move(request))), "hello");
  ASSERT_EQ(site.requests().size(), 2U);
  for (const ServerRequest& own : site.requests()) {
    EXPECT_EQ(own.Header("cookie"), "secret=1") << own.path;
    EXPECT_EQ(own.Header("accept"), "text/plain") << "it replaces ours";
  }
  ASSERT_EQ(other.requests().size(), 1U);
  EXPECT_EQ(other.requests()[0].Header("cookie"), "");
  EXPECT_NE(other.requests()[0].Header("accept"), "text/plain");
}

TEST_F(FetchTest, G11AWaitForAThreadEndsAndStopsNothingElse) {
  Site site([](const ServerRequest&) { return Html("<p>hello</p>"); });
  Gate gate;
  std::promise<void> reading;
  auto first = Begin(Request(site.Url()), [&](const FetchedPage& page, ReadingTime& time) {
    reading.set_value();
    gate.Wait();
    return ReadText(page, time);
  });
  reading.get_future().wait();
  FetchRequest second = Request(site.Url());
  second.thread_wait_max = 1ms;
  EXPECT_EQ(FailureClass(Fetch(std::move(second))), "overloaded");
  gate.Open();
  EXPECT_EQ(TextOf(first.get()), "hello");
}

TEST_F(FetchTest, G11APageThatTakesTooMuchOfTheProcessorIsStoppedAndNotTriedAgain) {
  Site site([](const ServerRequest&) { return Html("<p>hello</p>"); });
  MakeFetcher({.processor = 20ms, .wall = 20000ms});
  const Fetched fetched = Fetch(Request(site.Url()), [](const FetchedPage& page, ReadingTime& t) {
    while (!t.stop().stopped()) continue;
    return ReadText(page, t);
  });
  EXPECT_EQ(FailureClass(fetched), "bad_content");
  EXPECT_FALSE(std::get<domain::Failure>(fetched).retryable);
}

// Others take the processor of such a machine.
TEST_F(FetchTest, APageWhoseThreadGetsNoTimeIsNotToBlame) {
  Site site([](const ServerRequest&) { return Html("<p>hello</p>"); });
  MakeFetcher({.processor = 20ms, .wall = 100ms});
  Gate gate;
  auto fetched = Begin(Request(site.Url()), [&](const FetchedPage& page, ReadingTime& time) {
    gate.Wait();
    return ReadText(page, time);
  });
  EXPECT_EQ(FailureClass(fetched.get()), "overloaded");
  gate.Open();
}

TEST_F(FetchTest, DestroyingTheFetcherStopsItsReadersAndCallsNobody) {
  Site site([](const ServerRequest&) { return Html("<p>hello</p>"); });
  std::promise<void> reading;
  std::promise<void> stopped;
  std::atomic<bool> called = false;
  loop_.Run([&] {
    fetcher_->Fetch(
        Request(site.Url()),
        [&](const FetchedPage& page, ReadingTime& time) {
          reading.set_value();
          while (!time.stop().stopped()) std::this_thread::yield();
          stopped.set_value();
          return ReadText(page, time);
        },
        [&](Fetched) { called = true; });
  });
  reading.get_future().wait();
  DestroyFetcher();
  stopped.get_future().wait();
  pool_.reset();
  loop_.Run([] {});
  EXPECT_FALSE(called);
}

TEST_F(FetchTest, APageThatIsRefusedItsTurnSendsNothing) {
  Site site([](const ServerRequest&) { return Html("<p>hello</p>"); });
  FetchRequest request = Request(site.Url());
  request.on_turn = [](milliseconds) { return false; };
  EXPECT_EQ(FailureClass(Fetch(std::move(request))), "overloaded");
  EXPECT_TRUE(site.requests().empty());
}

}  // namespace
}  // namespace vedette::html
