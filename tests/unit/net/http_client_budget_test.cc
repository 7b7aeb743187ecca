#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "base/byte_budget.h"
#include "net/http_client.h"
#include "tests/support/ids.h"
#include "tests/unit/net/client_support.h"
#include "tests/unit/net/gzip.h"

// G11: the bodies of all answers together stay within the budget that their requests name.
namespace vedette::net {
namespace {

using base::ByteBudget;
using test::After;
using test::Client;
using test::Gzip;
using test::Local;
using test::milliseconds;
using test::NetConfig;
using test::RawServer;
using test::Says;
using test::Socket;
using ::testing::HasSubstr;
using vedette::test::Id;

constexpr std::size_t kMiB = 1 << 20;

// Not all the same, so that a piece that is lost, doubled or out of order shows.
std::string Text(std::size_t bytes) {
  std::string text;
  for (int i = 0; text.size() < bytes; ++i) text += std::to_string(i) + ' ';
  text.resize(bytes);
  return text;
}

// The most that was used at any time a thread looked.
class Watch {
 public:
  explicit Watch(const ByteBudget& budget)
      : thread_([this, &budget] {
          while (!stop_) {
            most_ = std::max(most_, budget.usage().used);
            std::this_thread::yield();
          }
        }) {}
  std::size_t Most() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
    return most_;
  }
  ~Watch() { Most(); }

 private:
  std::atomic<bool> stop_{false};
  std::size_t most_ = 0;
  std::thread thread_;
};

HttpRequest Page(int port, ByteBudget& budget) {
  HttpRequest request;
  request.url = Local(port);
  request.body_bytes_max = kMiB;
  request.timeout = std::chrono::seconds(20);
  request.wait_max = std::chrono::minutes(1);
  request.budget = &budget;
  return request;
}

// Sends `count` requests at once. `check` sees each answer, which is dropped after that.
void SendTogether(Client& client, int count, const std::function<HttpRequest(int)>& request,
                  const std::function<void(const HttpResponse&)>& check) {
  std::promise<void> all;
  int left = count;
  client.loop().Run([&] {
    for (int i = 0; i < count; ++i) {
      client.raw().Send(request(i), [&](const HttpResponse& r) {
        check(r);
        if (--left == 0) all.set_value();
      });
    }
  });
  all.get_future().wait();
  client.loop().Run([] {});
}

class Together : public ::testing::TestWithParam<std::string> {};

TEST_P(Together, G11_BodiesOfManyAnswersStayWithinTheBudgetAndAllAreRead) {
  const std::string text = Text(kMiB);
  std::string answer;
  if (GetParam() == "declared") {
    answer = "Content-Length: " + std::to_string(kMiB) + "\r\n\r\n" + text;
  } else if (GetParam() == "undeclared") {
    answer = "\r\n" + text;
  } else {
    const std::string packed = Gzip(text);
    answer = "Content-Encoding: gzip\r\nContent-Length: " + std::to_string(packed.size()) +
             "\r\n\r\n" + packed;
  }
  RawServer server(Says("HTTP/1.1 200 OK\r\nConnection: close\r\n" + answer));
  ByteBudget budget(2 * kMiB, 0.1);
  Watch watch(budget);
  Client client;
  const auto request = [&](int i) {
    HttpRequest page = Page(server.port(), budget);
    page.org = Id(i % 5);
    return page;
  };
  SendTogether(client, 64, request, [&](const HttpResponse& r) {
    EXPECT_EQ(r.error_class, HttpErrorClass::kNone) << r.error;
    EXPECT_TRUE(r.body == text);
    ASSERT_NE(r.held, nullptr);
    EXPECT_EQ(r.held->bytes(), kMiB) << "counted until the caller drops it";
  });
  EXPECT_LE(watch.Most(), budget.total() + kMiB);
  EXPECT_EQ(budget.usage().used, 0u);
}

INSTANTIATE_TEST_SUITE_P(HttpClientBudget, Together,
                         ::testing::Values("declared", "undeclared", "gzip"),
                         [](const auto& one) { return one.param; });

// 64 KiB of gzip that are 64 MiB: what is read of it is never more than the limit.
TEST(HttpClientBudget, G11_ABombTakesNoMoreThanTheLimitAndGivesItBack) {
  const std::string bomb = Gzip(std::string(64 * kMiB, '\0'));
  RawServer server(
      Says("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Encoding: gzip\r\nContent-Length: " +
           std::to_string(bomb.size()) + "\r\n\r\n" + bomb));
  ByteBudget budget(2 * kMiB, 0.1);
  Watch watch(budget);
  Client client;
  SendTogether(
      client, 32, [&](int) { return Page(server.port(), budget); },
      [](const HttpResponse& r) { EXPECT_EQ(r.error_class, HttpErrorClass::kBodyTooLarge); });
  EXPECT_LE(watch.Most(), budget.total() + kMiB);
  EXPECT_EQ(budget.usage().used, 0u);
}

TEST(HttpClientBudget, ABodyTakesWhatItHasNotWhatItAnnounces) {
  std::promise<void> done;
  RawServer server(After([future = done.get_future().share()](Socket& socket) {
    socket.Send("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nonly this");
    future.wait();
  }));
  RawServer small(Says("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfour"));
  ByteBudget budget(2 * kMiB, 0.1);
  Client client;
  EXPECT_EQ(client.Fetch(Page(small.port(), budget)).held->bytes(), 4u);
  auto stuck = client.Begin(Page(server.port(), budget));
  while (budget.usage().used == 0) std::this_thread::yield();
  EXPECT_LE(budget.usage().used, 16u * 1024);
  client.loop().Run([&] { client.raw().CancelAll(); });
  EXPECT_EQ(stuck.get().error_class, HttpErrorClass::kShutdown);
  EXPECT_EQ(budget.usage().used, 0u);
  done.set_value();
}

// All bytes are held by others, one of whom is the privileged holder: an answer has to wait.
struct Full {
  Full() : budget(kMiB, 0.1), all(budget.Open(Id(1))), privileged(budget.Open(Id(2))) {
    EXPECT_TRUE(all->Take(kMiB, [] {}));
    EXPECT_TRUE(privileged->Take(1, [] {}));
  }
  void WaitForOneThatWaits() const {
    while (budget.usage().waiting == 0) std::this_thread::yield();
  }
  ByteBudget budget;
  std::optional<ByteBudget::Holding> all;
  std::optional<ByteBudget::Holding> privileged;
};

TEST(HttpClientBudget, TimeStandsStillWhileAnAnswerWaitsForMemory) {
  Full full;
  const std::string text = Text(300000);
  RawServer server(Says("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + text));
  Client client;
  HttpRequest request = Page(server.port(), full.budget);
  request.timeout = milliseconds(2000);
  auto answer = client.Begin(std::move(request));
  full.WaitForOneThatWaits();
  EXPECT_EQ(answer.wait_for(milliseconds(2500)), std::future_status::timeout);
  full.all.reset();
  const HttpResponse r = answer.get();
  EXPECT_EQ(r.error_class, HttpErrorClass::kNone) << r.error;
  EXPECT_TRUE(r.body == text);
}

TEST(HttpClientBudget, OneThatIsCancelledOrDroppedWhileItWaitsGivesItsPlaceBack) {
  Full full;
  RawServer server(Says("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + Text(300000)));
  {
    Client client;
    auto answer = client.Begin(Page(server.port(), full.budget));
    full.WaitForOneThatWaits();
    client.loop().Run([&] { client.raw().CancelAll(); });
    EXPECT_EQ(answer.get().error_class, HttpErrorClass::kShutdown);
    EXPECT_EQ(full.budget.usage().waiting, 0u);
    auto dropped = client.Begin(Page(server.port(), full.budget));
    full.WaitForOneThatWaits();
  }
  full.all.reset();
  full.privileged.reset();
  EXPECT_EQ(full.budget.usage().waiting, 0u);
  EXPECT_EQ(full.budget.usage().used, 0u);
}

TEST(HttpClientBudget, WhatIsNotGzipOrDeflateIsAnErrorOfTheAnswer) {
  for (const std::string coding : {"br", "gzip", "deflate"}) {
    RawServer server(Says("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Encoding: " + coding +
                          "\r\n\r\nneither of them"));
    Client client;
    const HttpResponse r = client.Get(Local(server.port()));
    EXPECT_EQ(r.error_class, HttpErrorClass::kProtocol);
    EXPECT_THAT(r.error, HasSubstr("is not what its content-encoding says"));
  }
}

}  // namespace
}  // namespace vedette::net
