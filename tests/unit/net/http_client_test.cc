#include "net/http_client.h"
#include "config/net_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <future>
#include <memory>
#include <vector>

#include "tests/unit/net/client_support.h"
#include "tests/unit/net/dns_server.h"
#include "tests/unit/net/gzip.h"

namespace vedette::net {
namespace {

using test::After;
using test::Await;
using test::Client;
using test::Deflated;
using test::DnsServer;
using test::Gzip;
using test::Local;
using test::milliseconds;
using test::Mirror;
using test::NetConfig;
using test::RawServer;
using test::Says;
using test::SaysOkEachTime;
using test::Socket;
using test::WithoutAllow;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// ---------------------------------------------------------------- what is sent and read

TEST(HttpClient, SendsARequestAsItIsAndReadsTheAnswer) {
  Mirror mirror;
  Client client;
  HttpRequest request;
  request.method = "POST";
  request.url = Local(mirror.port(), "/a?b=c");
  request.headers = {{"Content-Type", "application/json"}, {"X-Empty", ""}, {"Host", "other"}};
  request.body = std::string("{\"a\":\0}", 7);
  const HttpResponse answer = client.Fetch(std::move(request));
  EXPECT_EQ(answer.error, "");
  EXPECT_EQ(answer.error_class, HttpErrorClass::kNone);
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.Header("x-one"), "1");
  EXPECT_EQ(answer.Header("x-two"), std::nullopt);
  EXPECT_EQ(answer.remote_address, "127.0.0.1");
  EXPECT_GT(answer.duration.count(), 0);
  EXPECT_FALSE(answer.body_truncated);
  EXPECT_THAT(answer.body,
              AllOf(StartsWith("POST /a?b=c\n"), HasSubstr("content-type: application/json\n"),
                    HasSubstr("x-empty: \n"), HasSubstr("host: other\n"),
                    HasSubstr("content-length: 7\n"), HasSubstr(std::string("\n\n{\"a\":\0}", 9))));
  EXPECT_THAT(answer.body, ::testing::Not(HasSubstr("expect:")));
}

TEST(HttpClient, AHandleUsedAgainForgetsTheRequestBefore) {
  Mirror mirror;
  Client client;
  for (const std::string method :
       {"POST", "GET", "PUT", "HEAD", "DELETE", "GET", "PATCH", "POST"}) {
    HttpRequest request;
    request.method = method;
    request.url = Local(mirror.port());
    if (method == "PUT") {
      request.body = "body";
      request.headers = {{"X-Put", "1"}};
    }
    const HttpResponse answer = client.Fetch(std::move(request));
    EXPECT_EQ(answer.status, 200) << method << answer.error;
    if (method == "HEAD") {
      EXPECT_EQ(answer.body, "");
    } else {
      EXPECT_THAT(answer.body, StartsWith(method + " /\n"));
      EXPECT_EQ(answer.body.find("x-put") != std::string::npos, method == "PUT") << answer.body;
      EXPECT_EQ(answer.body.ends_with("\n\nbody"), method == "PUT") << answer.body;
      EXPECT_THAT(answer.body, ::testing::Not(HasSubstr("content-type")));
    }
  }
}

TEST(HttpClient, ReusesAConnection) {
  RawServer server(SaysOkEachTime);
  Client client;
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(client.Get(Local(server.port())).body, "ok");
  }
  EXPECT_EQ(server.accepted(), 1);
}

TEST(HttpClient, SendsAgainWhereAKeptConnectionHasDied) {
  RawServer server(Says("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"));  // then closes
  Client client;
  for (int i = 0; i < 5; ++i) {
    const HttpResponse answer = client.Get(Local(server.port()));
    EXPECT_EQ(answer.body, "ok") << answer.error;
  }
}

TEST(HttpClient, AServerThatHangsUpOnItsKeptConnectionsIsSentARequestTwiceAtMost) {
  constexpr int kKept = 8;
  std::atomic<int> open{0};
  std::atomic<int> left_unanswered{0};
  RawServer server([&](Socket& socket) {
    try {
      socket.ReceiveUntil("\r\n\r\n");
      if (++open <=
          kKept) {  // each has a connection of its own, for none is answered before all are there
        Await([&] { return open >= kKept; });
        socket.Send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        socket.ReceiveUntil("\r\n\r\n");
      }
      ++left_unanswered;
    } catch (const std::runtime_error&) {  // the client has left
    }
  });
  Client client;
  std::vector<std::future<HttpResponse>> first;
  for (int i = 0; i < kKept; ++i) {
    HttpRequest request;
    request.url = Local(server.port());
    first.push_back(client.Begin(std::move(request)));
  }
  for (auto& answer : first) ASSERT_EQ(answer.get().body, "ok");

  HttpRequest request;
  request.method = "POST";
  request.url = Local(server.port(), "/paid");
  const HttpResponse answer = client.Fetch(std::move(request));
  EXPECT_EQ(answer.error_class, HttpErrorClass::kProtocol);
  EXPECT_THAT(answer.error, HasSubstr("hung up twice without an answer"));
  EXPECT_EQ(left_unanswered, 2);
}

TEST(HttpClient, DecodesGzipAndDeflate) {
  const std::string text(5000, 'a');
  for (const bool gzip : {true, false}) {
    const std::string body = gzip ? Gzip(text) : Deflated(text, 15);
    RawServer server(
        Says("HTTP/1.1 200 OK\r\nContent-Encoding: " + std::string(gzip ? "gzip" : "deflate") +
             "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body));
    Client client;
    HttpRequest request;
    request.url = Local(server.port());
    request.body_bytes_max = 5000;
    EXPECT_EQ(client.Fetch(std::move(request)).body, text);
  }
}

TEST(HttpClient, DoesNotFollowARedirect) {
  RawServer target(Says("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
  RawServer server(Says("HTTP/1.1 302 Found\r\nLocation: " + Local(target.port()) +
                        "\r\nContent-Length: 0\r\n\r\n"));
  Client client;
  const HttpResponse answer = client.Get(Local(server.port()));
  EXPECT_EQ(answer.status, 302);
  EXPECT_EQ(answer.Header("location"), Local(target.port()));
  EXPECT_EQ(target.accepted(), 0);
}

TEST(HttpClient, IgnoresTheEnvironmentsProxy) {
  RawServer proxy(Says("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nproxy"));
  Mirror mirror;
  const std::string url = Local(proxy.port());
  for (const char* name : {"http_proxy", "all_proxy", "ALL_PROXY"}) {
    setenv(name, url.c_str(), 1);
  }
  Client client;
  EXPECT_THAT(client.Get(Local(mirror.port())).body, StartsWith("GET /\n"));
  for (const char* name : {"http_proxy", "all_proxy", "ALL_PROXY"}) {
    unsetenv(name);
  }
  EXPECT_EQ(proxy.accepted(), 0);
}

TEST(HttpClient, UsesTheConfiguredProxyAndStillChecksLiterals) {
  RawServer proxy(After([](Socket& socket) {
    socket.Send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nproxy");
  }));
  config::NetConfig config = WithoutAllow();
  config.proxy = Local(proxy.port(), "");
  Client client(config);
  EXPECT_EQ(client.Get("http://name.example/").body, "proxy");
  EXPECT_EQ(client.Get("http://10.0.0.1/").error_class, HttpErrorClass::kRefusedAddress);
  EXPECT_EQ(proxy.accepted(), 1);
}

TEST(HttpClient, RefusesAHeaderThatWouldSplitTheRequest) {
  Mirror mirror;
  Client client;
  HttpRequest request;
  request.url = Local(mirror.port());
  request.headers = {{"X", "a\r\nY: b"}};
  EXPECT_EQ(client.Fetch(request).error_class, HttpErrorClass::kProtocol);
  request.headers = {{"X: a\r\nY", "b"}};
  EXPECT_EQ(client.Fetch(request).error_class, HttpErrorClass::kProtocol);
  request.headers.clear();
  request.method = "GET / HTTP/1.1\r\nX: y\r\n\r\nGET";
  EXPECT_EQ(client.Fetch(request).error_class, HttpErrorClass::kProtocol);
  EXPECT_EQ(mirror.service.handled(), 0);
}

// ---------------------------------------------------------------- bounds (G11)

HttpRequest Small(int port, bool truncate) {
  HttpRequest request;
  request.url = Local(port);
  request.body_bytes_max = 1000;
  request.truncate_body = truncate;
  request.timeout = milliseconds(20000);
  return request;
}

RawServer::Serve Endless(const std::string& header) {
  return After([header](Socket& socket) {
    bool open = socket.Send(header);
    const std::string piece = "1000\r\n" + std::string(4096, 'x') + "\r\n";
    while (open) {
      open = socket.Send(piece);
    }
  });
}

TEST(HttpClientBounds, AnEndlessBodyIsCutOrFailsAtTheLimit) {
  for (const std::string header :
       {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 999999999\r\n\r\n"}) {
    RawServer server(Endless(header));
    Client client;
    const HttpResponse cut = client.Fetch(Small(server.port(), true));
    EXPECT_EQ(cut.error_class, HttpErrorClass::kNone) << cut.error;
    EXPECT_EQ(cut.status, 200);
    EXPECT_EQ(cut.body.size(), 1000u);
    EXPECT_TRUE(cut.body_truncated);
    const HttpResponse failed = client.Fetch(Small(server.port(), false));
    EXPECT_EQ(failed.error_class, HttpErrorClass::kBodyTooLarge);
    EXPECT_EQ(failed.error, "the answer's body is longer than 1000 bytes");
  }
}

TEST(HttpClientBounds, ABodyOfExactlyTheLimitIsWhole) {
  RawServer server(
      Says("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + std::string(1000, 'x')));
  Client client;
  for (const bool truncate : {true, false}) {
    const HttpResponse answer = client.Fetch(Small(server.port(), truncate));
    EXPECT_EQ(answer.error_class, HttpErrorClass::kNone) << answer.error;
    EXPECT_EQ(answer.body.size(), 1000u);
    EXPECT_FALSE(answer.body_truncated);
  }
}

// Design 7: once the limit is read the status decides, though the body never ends.
TEST(HttpClientBounds, ABodyThatStallsAtTheLimitIsCutThere) {
  std::promise<void> done;
  RawServer server(After([future = done.get_future().share()](Socket& socket) {
    socket.Send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3e8\r\n" +
                std::string(1000, 'x') + "\r\n");
    future.wait();
  }));
  Client client;
  const HttpResponse answer = client.Fetch(Small(server.port(), true));
  done.set_value();
  EXPECT_EQ(answer.error_class, HttpErrorClass::kNone) << answer.error;
  EXPECT_EQ(answer.body.size(), 1000u);
  EXPECT_TRUE(answer.body_truncated);
}

TEST(HttpClientBounds, TheLimitCountsDecodedBytes) {
  const std::string bomb = Gzip(std::string(10 << 20, '\0'));
  RawServer server(Says("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: " +
                        std::to_string(bomb.size()) + "\r\n\r\n" + bomb));
  Client client;
  EXPECT_EQ(client.Fetch(Small(server.port(), false)).error_class, HttpErrorClass::kBodyTooLarge);
  const HttpResponse cut = client.Fetch(Small(server.port(), true));
  EXPECT_EQ(cut.error_class, HttpErrorClass::kNone) << cut.error;
  EXPECT_EQ(cut.body.size(), 1000u);
}

TEST(HttpClientBounds, LayersOfCompressionAreRefused) {
  const std::string body = Gzip(Gzip("x"));
  for (const std::string header :
       {"Content-Encoding: gzip, gzip\r\n", "Content-Encoding: gzip\r\nContent-Encoding: gzip\r\n",
        "Transfer-Encoding: gzip, chunked\r\n"}) {
    RawServer server(Says("HTTP/1.1 200 OK\r\n" + header + "\r\n" + body));
    Client client;
    EXPECT_EQ(client.Fetch(Small(server.port(), false)).error_class, HttpErrorClass::kProtocol);
  }
}

// The status counts where a body is cut anyway.
TEST(HttpClientBounds, ABodyThatCannotBeReadIsCut) {
  const std::string whole = Gzip("x");
  const std::vector<std::pair<std::string, std::string>> answers{
      {"Content-Encoding: utf-8\r\n", "x"},
      {"Content-Encoding: gzip, gzip\r\n", Gzip(whole)},
      {"Content-Encoding: gzip\r\n", "no gzip"},
      {"Content-Encoding: gzip\r\n", whole.substr(0, 10)}};
  for (const auto& [header, body] : answers) {
    RawServer server(Says("HTTP/1.1 202 Accepted\r\n" + header + "Content-Length: " +
                          std::to_string(body.size()) + "\r\nX: y\r\n\r\n" + body));
    Client client;
    const HttpResponse answer = client.Fetch(Small(server.port(), true));
    EXPECT_EQ(answer.error_class, HttpErrorClass::kNone) << header << answer.error;
    EXPECT_EQ(answer.status, 202);
    EXPECT_EQ(answer.Header("x"), "y");
    EXPECT_EQ(answer.body, "");
    EXPECT_TRUE(answer.body_truncated);
  }
  RawServer plain(Says("HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\nbody"));
  Client client;
  EXPECT_EQ(client.Fetch(Small(plain.port(), false)).body, "body");
}

TEST(HttpClientBounds, CompressionThatIsCutOffIsNoWholeBody) {
  const std::string text(500, 'a');
  for (const bool declared : {true, false}) {
    for (const bool gzip : {true, false}) {
      const std::string whole = gzip ? Gzip(text) : Deflated(text, -15);
      const std::string body = whole.substr(0, whole.size() - 1);
      const std::string length =
          declared ? "Content-Length: " + std::to_string(body.size()) + "\r\n" : "";
      RawServer server(
          Says("HTTP/1.1 200 OK\r\nContent-Encoding: " + std::string(gzip ? "gzip" : "deflate") +
               "\r\n" + length + "\r\n" + body));
      Client client;
      const HttpResponse answer = client.Fetch(Small(server.port(), false));
      EXPECT_EQ(answer.error_class, HttpErrorClass::kProtocol) << declared << gzip;
      EXPECT_EQ(answer.body, "");
    }
  }
}

TEST(HttpClientBounds, EveryMemberOfGzipIsRead) {
  const std::string two = Gzip("one ") + Gzip("two");
  for (const std::string& more : {std::string(), std::string("\0\0", 2)}) {
    RawServer server(After([&](Socket& socket) {
      socket.Send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: " +
                  std::to_string(two.size() + more.size()) + "\r\n\r\n");
      for (const char c : two + more) {
        socket.Send(std::string(1, c));
        std::this_thread::sleep_for(milliseconds(1));
      }
    }));
    Client client;
    const HttpResponse answer = client.Fetch(Small(server.port(), false));
    EXPECT_EQ(answer.body, more.empty() ? "one two" : "");
    EXPECT_EQ(answer.error_class, more.empty() ? HttpErrorClass::kNone : HttpErrorClass::kProtocol);
  }
}

TEST(HttpClientBounds, AnEndlessHeaderFails) {
  for (const std::string piece : {"X: y\r\n", "HTTP/1.1 100 Continue\r\n\r\n"}) {
    RawServer server(After([piece](Socket& socket) {
      bool open = socket.Send("HTTP/1.1 200 OK\r\n");
      while (open) {
        open = socket.Send(piece);
      }
    }));
    Client client;
    EXPECT_EQ(client.Fetch(Small(server.port(), true)).error_class, HttpErrorClass::kProtocol);
  }
}

TEST(HttpClientBounds, SilenceAndDrippingEndAtTheDeadline) {
  std::promise<void> done;
  const auto future = done.get_future().share();
  RawServer silent(After([future](Socket&) { future.wait(); }));
  RawServer dripping(After([future](Socket& socket) {
    socket.Send("HTTP/1.1 200 OK\r\n\r\n");
    while (future.wait_for(milliseconds(5)) != std::future_status::ready && socket.Send("x")) {
    }
  }));
  Client client;
  HttpRequest request = Small(silent.port(), true);
  request.timeout = milliseconds(100);
  HttpResponse answer = client.Fetch(request);
  EXPECT_EQ(answer.error_class, HttpErrorClass::kTimeout);
  EXPECT_EQ(answer.error,
            "127.0.0.1:" + std::to_string(silent.port()) + " did not answer within 100 ms");
  request = Small(dripping.port(), true);
  request.timeout = milliseconds(100);
  answer = client.Fetch(request);
  EXPECT_EQ(answer.error_class, HttpErrorClass::kTimeout);
  done.set_value();
}

TEST(HttpClientBounds, ARequestThatWaitsTooLongForAConnectionIsBusy) {
  std::promise<void> done;
  const auto future = done.get_future().share();
  RawServer server(After([future](Socket& socket) {
    future.wait();
    socket.Send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  }));
  config::NetConfig config = NetConfig();
  config.connections_per_host_max = 1;
  Client client(config);
  auto first = client.Begin(Small(server.port(), true));
  HttpRequest second = Small(server.port(), true);
  second.timeout = milliseconds(50);
  const HttpResponse waited = client.Fetch(second);
  EXPECT_EQ(waited.error_class, HttpErrorClass::kBusy);
  EXPECT_THAT(waited.error, StartsWith("no connection to 127.0.0.1:"));
  auto third = client.Begin(Small(server.port(), true));
  done.set_value();
  EXPECT_EQ(first.get().status, 200);
  EXPECT_EQ(third.get().status, 200);
}

// Opens hold until `expected` are open at once, so that more than the limit would show.
TEST(HttpClientBounds, NeverMoreConnectionsThanTheLimits) {
  std::mutex mutex;
  int open = 0;
  int most = 0;
  const auto serve = After([&](Socket& socket) {
    {
      const std::lock_guard lock(mutex);
      most = std::max(most, ++open);
    }
    std::this_thread::sleep_for(milliseconds(2));
    {
      const std::lock_guard lock(mutex);
      --open;
    }
    socket.Send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok");
  });
  RawServer a(serve);
  RawServer b(serve);
  config::NetConfig config = NetConfig();
  config.connections_max = 6;
  config.connections_per_host_max = 4;
  Client client(config);
  std::vector<std::future<HttpResponse>> answers;
  for (int i = 0; i < 60; ++i) {
    answers.push_back(client.Begin(Small(i % 2 == 0 ? a.port() : b.port(), true)));
  }
  for (auto& answer : answers) {
    EXPECT_EQ(answer.get().body, "ok");
  }
  EXPECT_LE(most, 6);
  EXPECT_GE(most, 2);
}

// Between the starts of two requests to a host lies the gap, so that of requests begun together the
// second does not start while the first is answered at once; another host is not held up.
TEST(HttpClientBounds, AHostIsLeftAloneForTheGap) {
  RawServer polite(Says("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"));
  RawServer other(Says("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"));
  Client client(NetConfig(), std::chrono::minutes(10));
  EXPECT_EQ(client.Get(Local(polite.port())).body, "ok");
  HttpRequest early = Small(polite.port(), true);
  early.timeout = milliseconds(200);
  EXPECT_EQ(client.Fetch(early).error_class, HttpErrorClass::kBusy);
  EXPECT_EQ(client.Get(Local(other.port())).body, "ok");
  EXPECT_EQ(polite.accepted(), 1);

  Client quick(NetConfig(), milliseconds(20));
  std::vector<std::future<HttpResponse>> answers;
  for (int i = 0; i < 10; ++i) answers.push_back(quick.Begin(Small(polite.port(), true)));
  for (auto& answer : answers) EXPECT_EQ(answer.get().body, "ok") << "each has its turn";
  EXPECT_EQ(polite.accepted(), 11);
}

// G10: the dead host's backlog does not stand before the live one's request.
TEST(HttpClientBounds, ABusyHostDoesNotHoldUpAnother) {
  std::promise<void> done;
  const auto future = done.get_future().share();
  RawServer dead(After([future](Socket&) { future.wait(); }));
  Mirror live;
  config::NetConfig config = NetConfig();
  config.connections_max = 4;
  config.connections_per_host_max = 2;
  Client client(config);
  std::vector<std::future<HttpResponse>> stuck;
  for (int i = 0; i < 50; ++i) {
    stuck.push_back(client.Begin(Small(dead.port(), true)));
  }
  EXPECT_EQ(client.Get(Local(live.port())).status, 200);
  client.loop().Run([&] { client.raw().CancelAll(); });
  for (auto& answer : stuck) {
    EXPECT_EQ(answer.get().error_class, HttpErrorClass::kShutdown);
  }
  done.set_value();
}

// ---------------------------------------------------------------- failures

TEST(HttpClientFailure, EachHasItsClassAndASentence) {
  Client client;
  int closed_port = 0;
  {
    RawServer gone([](Socket&) {});
    closed_port = gone.port();
  }
  HttpResponse answer = client.Get(Local(closed_port));
  EXPECT_EQ(answer.error_class, HttpErrorClass::kConnect);
  EXPECT_THAT(answer.error, HasSubstr("127.0.0.1:" + std::to_string(closed_port)));

  RawServer reset(After([](Socket& socket) { socket.Reset(); }));
  EXPECT_EQ(client.Get(Local(reset.port())).error_class, HttpErrorClass::kProtocol);

  RawServer empty(Says(""));
  EXPECT_EQ(client.Get(Local(empty.port())).error_class, HttpErrorClass::kProtocol);

  RawServer garbage(Says("SSH-2.0-OpenSSH\r\n\r\n"));
  EXPECT_EQ(client.Get(Local(garbage.port())).error_class, HttpErrorClass::kProtocol);

  RawServer cut(Says("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort"));
  EXPECT_EQ(client.Get(Local(cut.port())).error_class, HttpErrorClass::kProtocol);

  RawServer plain([](Socket& socket) { socket.Send("HTTP/1.1 200 OK\r\n\r\n"); });
  answer = client.Get("https://127.0.0.1:" + std::to_string(plain.port()) + "/");
  EXPECT_EQ(answer.error_class, HttpErrorClass::kTls) << answer.error;
}

TEST(HttpClientFailure, ClassesHaveNames) {
  EXPECT_EQ(HttpErrorClassName(HttpErrorClass::kRefusedAddress), "refused_address");
  EXPECT_EQ(HttpErrorClassName(HttpErrorClass::kBodyTooLarge), "body_too_large");
  EXPECT_EQ(HttpErrorClassName(HttpErrorClass::kShutdown), "shutdown");
}

TEST(HttpClientFailure, CancelAllAnswersEverythingBeforeItReturns) {
  std::promise<void> done;
  const auto future = done.get_future().share();
  RawServer silent(After([future](Socket&) { future.wait(); }));
  DnsServer dns;  // answers nothing
  config::NetConfig config = NetConfig();
  config.dns_servers = {dns.address()};
  config.connections_per_host_max = 1;
  Client client(config);
  int cancelled = 0;
  const int answered = client.loop().Run([&] {
    const auto count = [&](const HttpResponse& r) {
      cancelled += r.error_class == HttpErrorClass::kShutdown ? 1 : 0;
    };
    for (int i = 0; i < 3; ++i) {  // one active, two waiting
      client.raw().Send(Small(silent.port(), true), count);
    }
    HttpRequest named;
    named.url = "http://silent.example/";
    client.raw().Send(named, count);
    HttpRequest refused;
    refused.url = "http://10.0.0.1/";
    client.raw().Send(refused, count);
    EXPECT_EQ(client.raw().in_flight(), 5u);
    EXPECT_EQ(cancelled, 0);
    client.raw().CancelAll();
    EXPECT_EQ(client.raw().in_flight(), 0u);
    return cancelled;
  });
  EXPECT_EQ(answered, 5);
  done.set_value();
}

TEST(HttpClientFailure, DestroyingTheClientDropsCallbacks) {
  std::promise<void> done;
  const auto future = done.get_future().share();
  RawServer silent(After([future](Socket&) { future.wait(); }));
  std::atomic<int> called{0};
  {
    Client client;
    client.loop().Run([&] {
      client.raw().Send(Small(silent.port(), true), [&](const HttpResponse&) { ++called; });
    });
    while (silent.accepted() == 0) {
      std::this_thread::yield();
    }
  }
  EXPECT_EQ(called, 0);
  done.set_value();
}

}  // namespace
}  // namespace vedette::net
