#include "net/http_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <condition_variable>
#include <memory>

#include "config/server_config.h"
#include "tests/unit/net/support.h"

namespace vedette::net {
namespace {

using test::FunctionService;
using test::milliseconds;
using test::ServerConfig;
using test::Silent;
using test::Socket;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Answers with what it read: "METHOD path?query body".
void Echo(const std::shared_ptr<Exchange>& exchange) {
  const ServerRequest& r = exchange->request();
  exchange->Send({r.body_too_large ? 413 : 200,
                  {{"Content-Type", "text/plain"}},
                  r.method + " " + r.path + "?" + r.query + " " + r.body});
}

// Streams `pieces` equal pieces, each when the last is on its way; `written` counts, `stopped` is
// told of a client that is gone.
class Streamer : public std::enable_shared_from_this<Streamer> {
 public:
  Streamer(std::shared_ptr<Exchange> exchange, int pieces, std::string piece)
      : exchange_(std::move(exchange)), left_(pieces), piece_(std::move(piece)) {}

  void Start() {
    exchange_->Begin(200, {{"Content-Type", "text/plain"}});
    Next(true);
  }

  std::function<void()> on_write = [] {};
  std::function<void()> on_stop = [] {};

 private:
  void Next(bool ok) {
    if (!ok) {
      on_stop();
    } else if (left_-- == 0) {
      exchange_->End();
    } else {
      on_write();
      exchange_->Write(piece_, [self = shared_from_this()](bool sent) { self->Next(sent); });
    }
  }

  const std::shared_ptr<Exchange> exchange_;
  int left_;
  const std::string piece_;
};

constexpr int kEndless = 1 << 30;

struct Running {
  explicit Running(FunctionService::Handler handler = Echo,
                   const config::HttpServerConfig& config = ServerConfig())
      : service(std::move(handler)), server(config, service, Silent()) {
    server.Start();
  }
  Socket Connect() { return Socket::Connect(server.port()); }
  // Sends, reads to the end.
  std::string Talk(std::string_view request) {
    Socket socket = Connect();
    socket.Send(request);
    return socket.ReceiveAll();
  }

  FunctionService service;
  HttpServer server;
};

constexpr std::string_view kClose = "Host: a\r\nConnection: close\r\n\r\n";

TEST(HttpServer, AnswersARequestWithItsPathQueryAndBody) {
  Running s;
  const std::string answer = s.Talk(
      "POST /a/b?c=d HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer, HasSubstr("\r\nContent-Length: 19\r\n"));
  EXPECT_THAT(answer, HasSubstr("\r\nDate: "));
  EXPECT_THAT(answer, HasSubstr("\r\nConnection: close\r\n"));
  EXPECT_THAT(answer, EndsWith("\r\n\r\nPOST /a/b?c=d hello"));
}

TEST(HttpServer, LowersHeaderNamesAndKnowsThePeer) {
  Running s([](auto exchange) {
    const ServerRequest& r = exchange->request();
    exchange->Send({200,
                    {},
                    std::string(r.Header("x-key")) + "|" + r.remote_address + "|" +
                        std::string(r.Header("missing"))});
  });
  EXPECT_THAT(s.Talk("GET / HTTP/1.1\r\nX-KEY:  Va lue \r\n" + std::string(kClose)),
              EndsWith("\r\n\r\nVa lue|127.0.0.1|"));
}

TEST(HttpServer, BehindATrustedProxyWhoAsksIsWhomTheProxyNames) {
  config::HttpServerConfig config = ServerConfig();
  config.trusted_proxies = {"127.0.0.0/8"};
  Running s(
      [](auto exchange) {
        exchange->Send({200, {}, exchange->request().remote_address});
      },
      config);
  const std::string request =
      "GET / HTTP/1.1\r\nX-Forwarded-For: 198.51.100.1\r\n"
      "X-Forwarded-For: 203.0.113.7, 127.0.0.2\r\n" +
      std::string(kClose);
  EXPECT_THAT(s.Talk(request), EndsWith("\r\n\r\n203.0.113.7"));
  Running untrusting([](auto exchange) {
    exchange->Send({200, {}, exchange->request().remote_address});
  });
  EXPECT_THAT(untrusting.Talk(request), EndsWith("\r\n\r\n127.0.0.1"));
}

TEST(HttpServer, ReadsAChunkedBodyWhateverItsPieces) {
  Running s;
  const std::string request =
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
      "5;ext=1\r\nhello\r\n6\r\n world\r\n0\r\nTrailer: x\r\n\r\n";
  EXPECT_THAT(s.Talk(request), EndsWith("POST /? hello world"));
  Socket drip = s.Connect();
  for (const char c : request) {
    ASSERT_TRUE(drip.Send({&c, 1}));
  }
  EXPECT_THAT(drip.ReceiveAll(), EndsWith("POST /? hello world"));
}

TEST(HttpServer, AnswersPipelinedRequestsInOrderWithHandlersOnOtherThreads) {
  std::vector<std::thread> threads;
  std::string answer;
  {
    Running s([&](auto exchange) { threads.emplace_back([exchange] { Echo(exchange); }); });
    std::string requests;
    for (int i = 0; i < 20; ++i) {
      requests += "GET /" + std::to_string(i) + " HTTP/1.1\r\nHost: a\r\n\r\n";
    }
    answer = s.Talk(requests + "GET /last HTTP/1.1\r\n" + std::string(kClose));
    s.server.Stop();
  }
  for (std::thread& t : threads) {
    t.join();
  }
  std::size_t at = 0;
  for (int i = 0; i < 20; ++i) {
    at = answer.find("GET /" + std::to_string(i) + "? ", at);
    ASSERT_NE(at, std::string::npos) << i << "\n" << answer;
  }
  EXPECT_THAT(answer, EndsWith("GET /last? "));
}

TEST(HttpServer, AHeadAnswerHasTheLengthButNoBody) {
  Running s;
  const std::string answer = s.Talk("HEAD /x HTTP/1.1\r\n" + std::string(kClose));
  EXPECT_THAT(answer, HasSubstr("\r\nContent-Length: 9\r\n"));
  EXPECT_THAT(answer, EndsWith("\r\n\r\n"));
}

TEST(HttpServer, A204HasNeitherBodyNorLength) {
  Running s([](auto exchange) { exchange->Send({204, {}, "ignored"}); });
  const std::string answer = s.Talk("GET / HTTP/1.1\r\n" + std::string(kClose));
  EXPECT_THAT(answer, AllOf(StartsWith("HTTP/1.1 204 "), Not(HasSubstr("Content-Length")),
                            EndsWith("\r\n\r\n")));
}

TEST(HttpServer, KeepsAnHttp10ConnectionOnlyWhenAsked) {
  Running s;
  EXPECT_THAT(s.Talk("GET / HTTP/1.0\r\n\r\n"), HasSubstr("\r\nConnection: close\r\n"));
  const std::string two =
      s.Talk("GET /1 HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET /2 HTTP/1.0\r\n\r\n");
  EXPECT_THAT(two, AllOf(HasSubstr("\r\nConnection: keep-alive\r\n"), HasSubstr("GET /1? "),
                         EndsWith("GET /2? ")));
}

TEST(HttpServer, AHandlersHeaderCannotSplitTheAnswer) {
  Running s([](auto exchange) {
    exchange->Send(
        {200, {{"X-Request-Id", "a\r\nSet-Cookie: b"}, {"Content-Length", "999"}}, "ok"});
  });
  const std::string answer = s.Talk("GET / HTTP/1.1\r\n" + std::string(kClose));
  EXPECT_THAT(answer, HasSubstr("X-Request-Id: a  Set-Cookie: b\r\n"));
  EXPECT_THAT(answer, Not(HasSubstr("999")));
}

TEST(HttpServer, ARequestDroppedWithoutAnAnswerGetsA500) {
  Running s([](auto exchange) { exchange.reset(); });
  const std::string answer = s.Talk("GET / HTTP/1.1\r\n" + std::string(kClose));
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 500 "));
  EXPECT_THAT(answer, HasSubstr("\"error\":\"internal_error\""));
}

TEST(HttpServer, AHandlerThatThrowsGetsA500AndTheServerGoesOn) {
  Running s([](auto exchange) {
    if (exchange->request().path == "/bad") throw std::runtime_error("boom");
    Echo(exchange);
  });
  EXPECT_THAT(s.Talk("GET /bad HTTP/1.1\r\n" + std::string(kClose)), StartsWith("HTTP/1.1 500 "));
  EXPECT_THAT(s.Talk("GET /good HTTP/1.1\r\n" + std::string(kClose)), StartsWith("HTTP/1.1 200 "));
}

TEST(HttpServer, OnlyTheFirstAnswerCounts) {
  Running s([](auto exchange) {
    exchange->Send({200, {}, "first"});
    exchange->Send({200, {}, "second"});
    exchange->Begin(200, {});
  });
  EXPECT_THAT(s.Talk("GET / HTTP/1.1\r\n" + std::string(kClose)),
              AllOf(EndsWith("first"), Not(HasSubstr("second"))));
}

// ---------------------------------------------------------------- what two readers could read two
// ways

struct Ambiguous {
  const char* name;
  std::string request;
};

class AmbiguousRequest : public ::testing::TestWithParam<Ambiguous> {};

TEST_P(AmbiguousRequest, IsRefusedAndNeitherItNorWhatFollowsIsHandled) {
  Running s;
  const std::string smuggled = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n";
  const std::string answer = s.Talk(GetParam().request + smuggled);
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 400 ")) << answer;
  EXPECT_THAT(answer, HasSubstr("{\"error\":\"bad_request\",\"message\":\""));
  EXPECT_THAT(answer, HasSubstr("Content-Type: application/json"));
  EXPECT_THAT(answer, HasSubstr("Connection: close"));
  EXPECT_EQ(s.service.handled(), 0);
}

const std::string kPost = "POST / HTTP/1.1\r\nHost: a\r\n";
using namespace std::string_literals;
INSTANTIATE_TEST_SUITE_P(
    HttpServer, AmbiguousRequest,
    ::testing::Values(
        Ambiguous{"LengthThenChunked",
                  kPost + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
        Ambiguous{"ChunkedThenLength",
                  kPost + "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n"},
        Ambiguous{"TwoLengths", kPost + "Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcd"},
        Ambiguous{"TwoEqualLengths", kPost + "Content-Length: 4\r\nContent-Length: 4\r\n\r\nabcd"},
        Ambiguous{"LengthList", kPost + "Content-Length: 4, 4\r\n\r\nabcd"},
        Ambiguous{"LengthPlus", kPost + "Content-Length: +4\r\n\r\nabcd"},
        Ambiguous{"LengthHex", kPost + "Content-Length: 0x4\r\n\r\nabcd"},
        Ambiguous{"LengthNegative", kPost + "Content-Length: -4\r\n\r\nabcd"},
        Ambiguous{"LengthEmpty", kPost + "Content-Length:\r\n\r\nabcd"},
        Ambiguous{"LengthHuge", kPost + "Content-Length: 18446744073709551620\r\n\r\nabcd"},
        Ambiguous{"ChunkedTwice", kPost + "Transfer-Encoding: chunked\r\nTransfer-Encoding: "
                                          "chunked\r\n\r\n0\r\n\r\n"},
        Ambiguous{"ChunkedChunked", kPost + "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n"},
        Ambiguous{"GzipChunked", kPost + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"},
        Ambiguous{"EncodingUnknown", kPost + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"},
        Ambiguous{"EncodingIdentity",
                  kPost + "Transfer-Encoding: identity\r\nContent-Length: 0\r\n\r\n"},
        Ambiguous{"EncodingTab", kPost + "Transfer-Encoding:\tchunked\tx\r\n\r\n0\r\n\r\n"},
        Ambiguous{"EncodingVerticalTab", kPost + "Transfer-Encoding: \vchunked\r\n\r\n0\r\n\r\n"},
        Ambiguous{"SpaceBeforeColon", kPost + "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n"},
        Ambiguous{"Folded", kPost + "X: a\r\n b\r\n\r\n"},
        Ambiguous{"FoldedLength", kPost + "X: a\r\n Content-Length: 9\r\n\r\n"},
        Ambiguous{"FoldedFirst", "GET / HTTP/1.1\r\n X: a\r\nHost: a\r\n\r\n"},
        Ambiguous{"BareLf", "GET / HTTP/1.1\nHost: a\n\n"},
        Ambiguous{"BareLfOnce", kPost + "X: a\nContent-Length: 9\r\n\r\n"},
        Ambiguous{"BareCr", kPost + "X: a\rContent-Length: 9\r\n\r\n"},
        Ambiguous{"NulInValue", kPost + "X: a\0b\r\n\r\n"s},
        Ambiguous{"NulInName", kPost + "X\0: b\r\n\r\n"s},
        Ambiguous{"NulInTarget", "GET /a\0b HTTP/1.1\r\nHost: a\r\n\r\n"s},
        Ambiguous{"ControlInTarget", "GET /a\x01 HTTP/1.1\r\nHost: a\r\n\r\n"},
        Ambiguous{"NoHost", "GET / HTTP/1.1\r\n\r\n"},
        Ambiguous{"TwoHosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"},
        Ambiguous{"HostWithPath", "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n"},
        Ambiguous{"HostWithUser", "GET / HTTP/1.1\r\nHost: a@b\r\n\r\n"},
        Ambiguous{"HostList", "GET / HTTP/1.1\r\nHost: a b\r\n\r\n"},
        Ambiguous{"Http09", "GET /\r\nHost: a\r\n\r\n"},
        Ambiguous{"Http2Preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"},
        Ambiguous{"ChunkedInHttp10",
                  "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
        Ambiguous{"TwoSpaces", "GET  / HTTP/1.1\r\nHost: a\r\n\r\n"},
        Ambiguous{"TargetWithoutSlash", "GET a HTTP/1.1\r\nHost: a\r\n\r\n"},
        Ambiguous{"EmptyName", kPost + ": x\r\n\r\n"},
        Ambiguous{"NoColon", kPost + "Content-Length\r\n\r\n"},
        Ambiguous{"ChunkSizeBad", kPost + "Transfer-Encoding: chunked\r\n\r\nzz\r\n\r\n"},
        Ambiguous{
            "ChunkSizeHuge",
            kPost + "Transfer-Encoding: chunked\r\n\r\n10000000000000005\r\nhello\r\n0\r\n\r\n"},
        Ambiguous{"ChunkBareLf", kPost + "Transfer-Encoding: chunked\r\n\r\n5\nhello\r\n0\r\n\r\n"},
        Ambiguous{"ChunkExtensionLf", kPost + "Transfer-Encoding: chunked\r\n\r\n"
                                              "2;a=\"\nxx\"\r\nhe\r\n0\r\n\r\n"},
        Ambiguous{"LastChunkExtensionCr", kPost + "Transfer-Encoding: chunked\r\n\r\n"
                                                  "2\r\nhe\r\n0;a=\"\rx\"\r\n\r\n"},
        Ambiguous{"ChunkExtensionNul", kPost + "Transfer-Encoding: chunked\r\n\r\n"
                                               "2;a=\"\0\"\r\nhe\r\n0\r\n\r\n"s},
        Ambiguous{"ChunkWithoutEnd",
                  kPost + "Transfer-Encoding: chunked\r\n\r\n5\r\nhelloX\r\n0\r\n\r\n"},
        Ambiguous{"ChunkNegative", kPost + "Transfer-Encoding: chunked\r\n\r\n-5\r\nhello\r\n"},
        Ambiguous{"TrailerLength", kPost + "Transfer-Encoding: chunked\r\n\r\n0\r\n"
                                           "Content-Length: 9\r\n\r\n"}),
    [](const auto& suite) { return std::string(suite.param.name); });

TEST(HttpServer, ItsSocketsAreClosedInOtherPrograms) {
  Running s;
  Socket client = s.Connect();
  client.Send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  client.ReceiveUntil("\r\n\r\n");
  int sockets = 0;
  for (int fd = 3; fd < 1024; ++fd) {
    sockaddr_in own{};
    socklen_t length = sizeof own;
    if (getsockname(fd, reinterpret_cast<sockaddr*>(&own), &length) != 0) continue;
    if (own.sin_family != AF_INET || ntohs(own.sin_port) != s.server.port()) continue;
    ++sockets;
    EXPECT_EQ(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  }
  EXPECT_EQ(sockets, 2);
}

TEST(HttpServer, PassesOverAnEmptyLineBeforeARequest) {
  Running s;
  EXPECT_THAT(s.Talk("\r\nGET / HTTP/1.1\r\n" + std::string(kClose)), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(s.Talk("\r\n\r\nGET / HTTP/1.1\r\n" + std::string(kClose)),
              StartsWith("HTTP/1.1 400 "));
}

TEST(HttpServer, RefusesAnExpectationItDoesNotKnow) {
  Running s;
  EXPECT_THAT(s.Talk("GET / HTTP/1.1\r\nExpect: tea\r\n" + std::string(kClose)),
              StartsWith("HTTP/1.1 417 "));
}

// ---------------------------------------------------------------- limits (G11)

TEST(HttpServer, WhatItAnswersItselfCarriesARequestIdToo) {
  Running s([](auto exchange) {
    if (exchange->request().path == "/dropped") return;
    exchange->Gather({}, [exchange](Gathered) {});
  });
  const std::string own = "X-Request-Id: mine\r\n";
  const std::string its = "\r\nX-Request-Id: mine\r\n";
  EXPECT_THAT(s.Talk("GET / HTTP/1.1\r\n" + own + "\r\n"),
              AllOf(StartsWith("HTTP/1.1 400 "), HasSubstr(its)));
  EXPECT_THAT(s.Talk("GET / HTTP/1.1\r\n" + own + "Expect: tea\r\n" + std::string(kClose)),
              AllOf(StartsWith("HTTP/1.1 417 "), HasSubstr(its)));
  EXPECT_THAT(s.Talk("POST / HTTP/1.1\r\nHost: a\r\n" + own +
                     "Transfer-Encoding: chunked\r\n\r\nno number\r\n"),
              AllOf(StartsWith("HTTP/1.1 400 "), HasSubstr(its)));
  EXPECT_THAT(s.Talk("GET /dropped HTTP/1.1\r\n" + own + std::string(kClose)),
              AllOf(StartsWith("HTTP/1.1 500 "), HasSubstr(its)));
  EXPECT_THAT(
      s.Talk("GET / HTTP/1.1\r\nX-Request-Id: not/sane\r\n\r\n"),
      AllOf(StartsWith("HTTP/1.1 400 "), HasSubstr("X-Request-Id: "), Not(HasSubstr("sane"))));
  EXPECT_THAT(s.Talk("GET /\1 HTTP/1.1\r\n" + own + std::string(kClose)),
              AllOf(StartsWith("HTTP/1.1 400 "), HasSubstr("X-Request-Id: ")));
  EXPECT_THAT(s.Talk("GET /" + std::string(20000, 'x')),
              AllOf(StartsWith("HTTP/1.1 431 "), HasSubstr("X-Request-Id: ")));
}

TEST(HttpServerLimits, AHeaderOverTheLimitIsA431) {
  Running s;
  const std::string long_value(10000, 'x');
  EXPECT_THAT(s.Talk("GET / HTTP/1.1\r\nX: " + long_value + "\r\n" + std::string(kClose)),
              AllOf(StartsWith("HTTP/1.1 431 "), HasSubstr("header_too_large")));
  EXPECT_THAT(s.Talk("GET /" + long_value + long_value), StartsWith("HTTP/1.1 431 "));
  std::string fields = "GET / HTTP/1.1\r\n";
  for (int i = 0; i < 200; ++i) {
    fields += "X: y\r\n";
  }
  EXPECT_THAT(s.Talk(fields + std::string(kClose)), StartsWith("HTTP/1.1 431 "));
  EXPECT_EQ(s.service.handled(), 0);
}

TEST(HttpServerLimits, ABodyOverTheLimitReachesTheHandlerAsSuch) {
  Running s;
  EXPECT_THAT(
      s.Talk("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1001\r\n\r\n"),
      AllOf(StartsWith("HTTP/1.1 413 "), HasSubstr("Connection: close"), EndsWith("POST /? ")));
  EXPECT_THAT(s.Talk("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n" +
                     std::string(1001, 'x') + "\r\n0\r\n\r\n"),
              AllOf(StartsWith("HTTP/1.1 413 "), EndsWith("POST /? ")));
  EXPECT_THAT(s.Talk("POST / HTTP/1.1\r\nContent-Length: 1000\r\n" + std::string(kClose) +
                     std::string(1000, 'x')),
              StartsWith("HTTP/1.1 200 "));
}

TEST(HttpServerLimits, A413IsReadableByAClientThatSendsEverythingFirst) {
  Running s;
  Socket socket = s.Connect();
  const std::size_t total = 32u << 20;
  ASSERT_TRUE(socket.Send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(total) +
                          "\r\n\r\n"));
  const std::string piece(1 << 20, 'x');
  for (std::size_t sent = 0; sent < total; sent += piece.size()) {
    ASSERT_TRUE(socket.Send(piece)) << "the connection was closed after " << sent << " bytes";
  }
  EXPECT_THAT(socket.ReceiveAll(), StartsWith("HTTP/1.1 413 "));
}

TEST(HttpServerLimits, ContinueIsSaidOnlyWhereTheBodyWillBeRead) {
  Running s;
  Socket small = s.Connect();
  small.Send("POST / HTTP/1.1\r\nContent-Length: 5\r\nExpect: 100-continue\r\n" +
             std::string(kClose));
  EXPECT_EQ(small.ReceiveUntil("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  small.Send("hello");
  EXPECT_THAT(small.ReceiveAll(), AllOf(StartsWith("HTTP/1.1 200 "), EndsWith("hello")));

  EXPECT_THAT(s.Talk("POST / HTTP/1.1\r\nContent-Length: 5000\r\nExpect: 100-continue\r\n" +
                     std::string(kClose)),
              StartsWith("HTTP/1.1 413 "));
}

TEST(HttpServerLimits, ASlowHeaderIsCutWithA408) {
  auto config = ServerConfig();
  config.header_timeout_ms = milliseconds(50);
  Running s(Echo, config);
  Socket socket = s.Connect();
  socket.Send("GET / HTTP/1.1\r\nHost: a\r\n");
  EXPECT_THAT(socket.ReceiveAll(), StartsWith("HTTP/1.1 408 "));
}

// Each byte is progress, yet the deadline stands: that is what a slow loris lives on.
TEST(HttpServerLimits, DrippingBytesDoesNotMoveTheDeadlineOfHeaderOrBody) {
  auto config = ServerConfig();
  config.header_timeout_ms = milliseconds(100);
  config.body_timeout_ms = milliseconds(100);
  Running s(Echo, config);
  for (const std::string start : {"GET / HTTP/1.1\r\nHost: a\r\nX: ",
                                  "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 999\r\n\r\n"}) {
    Socket socket = s.Connect();
    socket.Send(start);
    std::string answer;
    for (int i = 0; i < 500 && answer.empty(); ++i) {
      socket.Send("x");
      pollfd readable{socket.fd(), POLLIN, 0};
      if (poll(&readable, 1, 10) > 0) {
        answer = socket.Receive();
      }
    }
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 408 "));
  }
  EXPECT_EQ(s.service.handled(), 0);
}

TEST(HttpServerLimits, SilentAndIdleConnectionsAreClosed) {
  auto config = ServerConfig();
  config.header_timeout_ms = milliseconds(50);
  config.idle_timeout_ms = milliseconds(50);
  Running s(Echo, config);
  Socket silent = s.Connect();
  EXPECT_EQ(silent.ReceiveAll(), "");
  Socket idle = s.Connect();
  idle.Send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_THAT(idle.ReceiveAll(), StartsWith("HTTP/1.1 200 "));
}

TEST(HttpServerLimits, AReaderThatStopsIsCutAndTheHandlerLearnsIt) {
  auto config = ServerConfig();
  config.write_timeout_ms = milliseconds(100);
  std::promise<void> refused;
  Running s(
      [&](auto exchange) {
        const auto streamer =
            std::make_shared<Streamer>(exchange, kEndless, std::string(1 << 20, 'x'));
        streamer->on_stop = [&] { refused.set_value(); };
        streamer->Start();
      },
      config);
  Socket socket = s.Connect();
  socket.Send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(refused.get_future().wait_for(std::chrono::seconds(test::kPatienceSeconds)),
            std::future_status::ready);
}

TEST(HttpServerLimits, AFullServerClosesItsOldestIdleConnection) {
  auto config = ServerConfig();
  config.connections_max = 2;
  Running s(Echo, config);
  const std::string get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
  Socket first = s.Connect();
  first.Send(get);
  first.ReceiveUntil("GET /? ");
  Socket second = s.Connect();
  second.Send(get);
  second.ReceiveUntil("GET /? ");
  first.Send(get);  // the second is the oldest idle one now
  first.ReceiveUntil("GET /? ");
  Socket third = s.Connect();
  third.Send(get);
  third.ReceiveUntil("GET /? ");
  EXPECT_EQ(second.ReceiveAll(), "");
  first.Send(get);
  EXPECT_THAT(first.ReceiveUntil("GET /? "), StartsWith("HTTP/1.1 200 "));
}

TEST(HttpServerLimits, AFullServerWithoutIdleConnectionsAnswers503) {
  auto config = ServerConfig();
  config.connections_max = 1;
  std::promise<std::shared_ptr<Exchange>> held;
  Running s([&](auto exchange) { held.set_value(exchange); }, config);
  Socket busy = s.Connect();
  busy.Send("GET / HTTP/1.1\r\n" + std::string(kClose));
  auto exchange = held.get_future().get();
  Socket refused = s.Connect();
  refused.Send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_THAT(refused.ReceiveAll(), AllOf(StartsWith("HTTP/1.1 503 "), HasSubstr("Retry-After: 5"),
                                          HasSubstr("\"error\":\"unavailable\"")));
  Echo(exchange);
  EXPECT_THAT(busy.ReceiveAll(), StartsWith("HTTP/1.1 200 "));
}

// ---------------------------------------------------------------- answers in pieces

TEST(HttpServerStream, IsChunkedAndTheConnectionLivesOn) {
  Running s([](auto exchange) {
    if (exchange->request().path == "/s") {
      exchange->Begin(200, {});
      exchange->Write("hello", [exchange](bool) {
        exchange->Write("", [exchange](bool) {  // an empty piece does not end the answer
          exchange->Write("0123456789abcdefg", [](bool) {});
          exchange->End();
        });
      });
    } else {
      Echo(exchange);
    }
  });
  const std::string answer =
      s.Talk("GET /s HTTP/1.1\r\nHost: a\r\n\r\nGET /next HTTP/1.1\r\n" + std::string(kClose));
  EXPECT_THAT(answer, HasSubstr("Transfer-Encoding: chunked\r\n\r\n"
                                "5\r\nhello\r\n11\r\n0123456789abcdefg\r\n0\r\n\r\nHTTP/1.1 200"));
  EXPECT_THAT(answer, EndsWith("GET /next? "));
}

TEST(HttpServerStream, IsEndedByCloseForHttp10AndEmptyForHead) {
  Running s([](auto exchange) { std::make_shared<Streamer>(exchange, 3, "abc")->Start(); });
  const std::string old = s.Talk("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_THAT(old, AllOf(Not(HasSubstr("chunked")), HasSubstr("Connection: close"),
                         EndsWith("\r\n\r\nabcabcabc")));
  const std::string head = s.Talk("HEAD / HTTP/1.1\r\n" + std::string(kClose));
  EXPECT_THAT(head, AllOf(HasSubstr("Transfer-Encoding: chunked"), EndsWith("\r\n\r\n"),
                          Not(HasSubstr("abc"))));
}

TEST(HttpServerStream, WaitsForASlowReader) {
  std::atomic<int> written{0};
  const std::string piece(256 * 1024, 'x');
  constexpr int kPieces = 100;
  Running s([&](auto exchange) {
    const auto streamer = std::make_shared<Streamer>(exchange, kPieces, piece);
    streamer->on_write = [&] { ++written; };
    streamer->Start();
  });
  Socket socket = s.Connect();
  socket.Send("GET / HTTP/1.1\r\n" + std::string(kClose));
  const std::string begin = socket.ReceiveUntil("\r\n\r\n");
  // 25 MiB do not fit the socket's buffers, so the writer has been held up.
  EXPECT_LT(written, kPieces);
  const std::string rest = socket.ReceiveAll();
  EXPECT_GT(rest.size(), piece.size() * kPieces);
  EXPECT_THAT(rest, EndsWith("\r\n0\r\n\r\n"));
}

TEST(HttpServerStream, AbandonedInTheMiddleDoesNotLookWhole) {
  Running s([](std::shared_ptr<Exchange> exchange) {
    exchange->Begin(200, {});
    exchange->Write("half", [exchange](bool) {});
  });
  const std::string answer = s.Talk("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_THAT(answer, AllOf(HasSubstr("4\r\nhalf\r\n"), Not(HasSubstr("0\r\n\r\n"))));
}

TEST(HttpServerStream, TellsTheWriterThatTheClientIsGone) {
  std::promise<void> gone;
  Running s([&](auto exchange) {
    const auto streamer = std::make_shared<Streamer>(exchange, kEndless, std::string(65536, 'x'));
    streamer->on_stop = [&] { gone.set_value(); };
    streamer->Start();
  });
  Socket socket = s.Connect();
  socket.Send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  socket.ReceiveUntil("\r\n\r\n");
  socket.Reset();
  EXPECT_EQ(gone.get_future().wait_for(std::chrono::seconds(test::kPatienceSeconds)),
            std::future_status::ready);
}

// ---------------------------------------------------------------- starting and stopping

TEST(HttpServerStop, LetsARequestInFlightFinishAndClosesIdleConnections) {
  std::promise<std::shared_ptr<Exchange>> held;
  Running s([&](auto exchange) { held.set_value(exchange); });
  Socket idle = s.Connect();
  Socket busy = s.Connect();
  busy.Send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  auto exchange = held.get_future().get();
  std::thread stopping([&] { s.server.Stop(); });
  EXPECT_EQ(idle.ReceiveAll(), "");  // draining has begun
  EXPECT_THROW(s.Connect().ReceiveUntil("x"), std::runtime_error);
  Echo(exchange);
  EXPECT_THAT(busy.ReceiveAll(), AllOf(StartsWith("HTTP/1.1 200 "), HasSubstr("Connection: close"),
                                       EndsWith("GET /? ")));
  busy.Close();
  stopping.join();
}

TEST(HttpServerStop, ClientsGoElsewhereWhileItStillTakesRequests) {
  Running s([](auto exchange) { Echo(exchange); });
  Socket kept = s.Connect();
  const std::string request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
  kept.Send(request);
  EXPECT_THAT(kept.ReceiveUntil("GET /? "), Not(HasSubstr("Connection: close")));
  s.server.Leave();
  Socket made = s.Connect();
  for (Socket* socket : {&kept, &made}) {
    socket->Send(request);
    EXPECT_THAT(socket->ReceiveAll(),
                AllOf(StartsWith("HTTP/1.1 200 "), HasSubstr("Connection: close")));
  }
}

TEST(HttpServerStop, CutsWhatDoesNotFinishInTime) {
  auto config = ServerConfig();
  config.drain_timeout_ms = milliseconds(50);
  std::promise<std::shared_ptr<Exchange>> held;
  Running s([&](auto exchange) { held.set_value(exchange); }, config);
  Socket busy = s.Connect();
  busy.Send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  auto exchange = held.get_future().get();
  s.server.Stop();
  EXPECT_EQ(busy.ReceiveAll(), "");
  exchange->Send({200, {}, "too late"});  // does nothing
}

TEST(HttpServerStop, AWriterLearnsItAndAnExchangeMayOutliveTheServer) {
  std::promise<std::shared_ptr<Exchange>> held;
  auto config = ServerConfig();
  config.drain_timeout_ms = milliseconds(1);
  auto s = std::make_unique<Running>(
      [&](auto exchange) {
        exchange->Begin(200, {});
        held.set_value(exchange);
      },
      config);
  Socket socket = s->Connect();
  socket.Send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  auto exchange = held.get_future().get();
  s.reset();
  bool ok = true;
  exchange->Write("piece", [&](bool sent) { ok = sent; });
  EXPECT_FALSE(ok);
  exchange.reset();
}

}  // namespace
}  // namespace vedette::net
