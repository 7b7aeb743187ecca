#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "config/net_config.h"
#include "net/http_client.h"
#include "tests/support/ids.h"
#include "tests/unit/net/client_support.h"

// Requests that wait for a connection: whose turn it is, and what the wait costs.
namespace vedette::net {
namespace {

using test::After;
using test::Client;
using test::Local;
using test::milliseconds;
using test::NetConfig;
using test::RawServer;
using test::Says;
using test::Socket;
using ::testing::HasSubstr;
using vedette::test::Id;

RawServer::Serve AnswersAfter(milliseconds wait) {
  return After([wait](Socket& socket) {
    std::this_thread::sleep_for(wait);
    socket.Send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok");
  });
}

// The last of them waits many times as long as its timeout.
TEST(HttpClientTurns, WaitingForAConnectionIsNoTimeOfTheRequest) {
  RawServer server(AnswersAfter(milliseconds(20)));
  config::NetConfig config = NetConfig();
  config.connections_per_host_max = 1;
  Client client(config);
  HttpRequest request;
  request.url = Local(server.port());
  request.timeout = milliseconds(1000);
  request.wait_max = std::chrono::minutes(2);
  std::vector<std::future<HttpResponse>> answers;
  for (int i = 0; i < 150; ++i) answers.push_back(client.Begin(request));
  for (auto& answer : answers) {
    const HttpResponse r = answer.get();
    EXPECT_EQ(r.error_class, HttpErrorClass::kNone) << r.error;
  }
}

TEST(HttpClientTurns, AWaitThatRanOutIsBusyAndTheHostIsNotAsked) {
  std::promise<void> done;
  RawServer server(After([future = done.get_future().share()](Socket&) { future.wait(); }));
  config::NetConfig config = NetConfig();
  config.connections_per_host_max = 1;
  Client client(config);
  HttpRequest request;
  request.url = Local(server.port());
  request.timeout = std::chrono::minutes(1);
  auto first = client.Begin(request);
  request.wait_max = milliseconds(100);
  const HttpResponse waited = client.Fetch(request);
  EXPECT_EQ(waited.error_class, HttpErrorClass::kBusy);
  EXPECT_THAT(waited.error, HasSubstr("was free within 100 ms"));
  EXPECT_EQ(HttpErrorClassName(waited.error_class), "busy");
  EXPECT_EQ(server.accepted(), 1);
  done.set_value();
  first.get();
}

TEST(HttpClientTurns, ARequestWithHardlyAnyTimeLeftIsNotBegun) {
  RawServer server(AnswersAfter(milliseconds(0)));
  Client client;
  HttpRequest request;
  request.url = Local(server.port());
  request.timeout = milliseconds(20);
  const HttpResponse answer = client.Fetch(request);
  EXPECT_EQ(answer.error_class, HttpErrorClass::kTimeout);
  EXPECT_THAT(answer.error, HasSubstr("was not asked: less than 50 of 20 ms were left"));
  EXPECT_EQ(server.accepted(), 0);
}

// A's slow answers end one after the other only when the test lets them; B's are fast. B needs one
// of A's to end, not A's backlog.
TEST(HttpClientTurns, G10_ASmallOrganisationDoesNotWaitBehindABigOnesBacklogAtAHost) {
  std::atomic<int> slow_done{0};
  std::atomic<bool> release_all{false};
  std::atomic<int> let_go{0};
  RawServer server([&](Socket& socket) {
    std::string head;
    try {
      head = socket.ReceiveUntil("\r\n\r\n");
    } catch (const std::runtime_error&) {
      return;
    }
    if (head.starts_with("GET /slow")) {
      for (int mine = slow_done++; mine >= let_go && !release_all;) {
        std::this_thread::sleep_for(milliseconds(1));
      }
    }
    socket.Send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok");
  });
  config::NetConfig config = NetConfig();
  config.connections_per_host_max = 8;
  Client client(config);
  HttpRequest slow;
  slow.org = Id(1);
  slow.url = Local(server.port(), "/slow");
  slow.timeout = std::chrono::minutes(1);
  slow.wait_max = std::chrono::minutes(1);
  std::vector<std::future<HttpResponse>> backlog;
  for (int i = 0; i < 200; ++i) backlog.push_back(client.Begin(slow));
  while (slow_done < 8) std::this_thread::yield();
  HttpRequest fast = slow;
  fast.org = Id(2);
  fast.url = Local(server.port(), "/fast");
  std::vector<std::future<HttpResponse>> small;
  for (int i = 0; i < 20; ++i) small.push_back(client.Begin(fast));
  client.loop().Run([] {});
  let_go = 1;  // one of A's answers comes to its end
  for (auto& answer : small) EXPECT_EQ(answer.get().body, "ok");
  EXPECT_LE(slow_done, 9) << "A got nothing but what B left";
  release_all = true;
  for (auto& answer : backlog) EXPECT_EQ(answer.get().body, "ok");
}

// Asks `count` times at once, and returns the limits that the client told of the host on the way.
std::vector<int> LimitsOf(RawServer& server, int count, int status) {
  config::NetConfig config = NetConfig();
  config.connections_max = 4096;
  config.connections_per_host_max = 4096;
  std::vector<int> limits;  // of the loop thread, until the client is gone
  {
    Client client(config, milliseconds(0), [&](const std::string& host, int limit) {
      EXPECT_EQ(host, "127.0.0.1:" + std::to_string(server.port()));
      limits.push_back(limit);
    });
    HttpRequest request;
    request.url = Local(server.port());
    request.timeout = std::chrono::minutes(1);
    std::vector<std::future<HttpResponse>> answers;
    for (int i = 0; i < count; ++i) answers.push_back(client.Begin(request));
    for (auto& answer : answers) EXPECT_EQ(answer.get().status, status);
  }
  return limits;
}

TEST(HttpClientTurns, ALimitThatFollowsGrowsWhereMoreIsWantedAndAnswered) {
  RawServer server(AnswersAfter(milliseconds(120)));
  const std::vector<int> limits = LimitsOf(server, 130, 200);
  ASSERT_GE(limits.size(), 2U);
  EXPECT_EQ(limits[0], 64);
  EXPECT_EQ(limits[1], 128);
}

TEST(HttpClientTurns, ALimitThatFollowsFallsWhereTheHostRefuses) {
  RawServer server(Says("HTTP/1.1 503 Too Much\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"));
  const std::vector<int> limits = LimitsOf(server, 64, 503);
  ASSERT_GE(limits.size(), 2U);
  EXPECT_EQ(limits[0], 64);
  EXPECT_EQ(limits[1], 32);
}

}  // namespace
}  // namespace vedette::net
