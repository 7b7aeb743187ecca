// Bodies that a service takes after it has validated the header, within a budget of bytes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "base/byte_budget.h"
#include "config/server_config.h"
#include "net/http_server.h"
#include "tests/unit/net/support.h"

namespace vedette::net {
namespace {

using std::chrono::milliseconds;
using test::Await;
using test::ServerConfig;
using test::Silent;
using test::Socket;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::size_t kBodyBytesMax = 3'000'000;

// Gathers every body and answers with its length, the sum of its bytes and what it still holds.
class GatherService final : public HttpService {
 public:
  explicit GatherService(base::ByteBudget& held) : budget(held) {}

  void Handle(std::shared_ptr<Exchange> exchange) override {
    ++handled;
    if (exchange->request().path == "/refuse") {
      exchange->Send({401, {}, "no"});
      return;
    }
    exchange->held() = budget.Open(base::Uuid::V4());
    Exchange& to = *exchange;
    to.Gather(wait_max, [this, exchange](Gathered how) {
      if (how == Gathered::kBroken) ++broken;
      if (how == Gathered::kNoRoom) {
        exchange->Send({503, {}, "no room"});
        return;
      }
      used_max = std::max(used_max.load(), budget.usage().used);
      const ServerRequest& request = exchange->request();
      unsigned sum = 0;
      for (const char c : request.body) sum += static_cast<unsigned char>(c);
      const bool covered = exchange->held().bytes() >= request.body.size();
      exchange->Send({request.body_too_large ? 413 : 200,
                      {},
                      std::to_string(request.body.size()) + " sum " + std::to_string(sum) +
                          (covered || request.body.size() < 4096 ? " held." : " not held.")});
    });
  }
  std::size_t BodyBytesMax(std::string_view, std::string_view) const override {
    return kBodyBytesMax;
  }

  base::ByteBudget& budget;
  milliseconds wait_max{20000};
  std::atomic<int> handled{0};
  std::atomic<int> broken{0};
  std::atomic<std::size_t> used_max{0};
};

struct Running {
  explicit Running(std::size_t budget_bytes = 64u << 20,
                   const config::HttpServerConfig& config = ServerConfig())
      : budget(budget_bytes, 0.1), service(budget), server(config, service, Silent()) {}
  void Start() { server.Start(); }

  base::ByteBudget budget;
  GatherService service;
  HttpServer server;
};

// Takes everything, so that nobody gets a byte until it goes.
struct Full {
  explicit Full(base::ByteBudget& budget)
      : all(budget.Open(base::Uuid::V4())), privileged(budget.Open(base::Uuid::V4())) {
    EXPECT_TRUE(all.Take(budget.total(), [] {}));
    EXPECT_TRUE(privileged.Take(1, [] {}));
  }
  base::ByteBudget::Holding all;
  base::ByteBudget::Holding privileged;
};

std::string Head(std::size_t bytes, const std::string& path = "/") {
  return "POST " + path + " HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(bytes) +
         "\r\n\r\n";
}

bool AwaitWaiter(const base::ByteBudget& budget) {
  return Await([&] { return budget.usage().waiting > 0; });
}

// What an answer holds is given back once it is written, which its reader may know first.
bool AwaitEmpty(const base::ByteBudget& budget) {
  return Await([&] { return budget.usage().used == 0; });
}

TEST(HttpGather, ABodyIsWholeWhateverItsSizeAndTheConnectionLivesOn) {
  Running running;
  running.Start();
  Socket socket = Socket::Connect(running.server.port());
  for (const std::size_t size : {1, 5000, 65536, 65537, 200'000, 3'000'000}) {
    socket.Send(Head(size));
    socket.Send(std::string(size, '\1'));
    const std::string text = std::to_string(size);
    EXPECT_THAT(socket.ReceiveUntil("held."), HasSubstr(text + " sum " + text + " held."));
  }
  // Together with its header, and the next request behind it.
  socket.Send(Head(3) + "abc" + Head(0) + "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  for (const char* answer : {"3 sum 294 held.", "0 sum 0 held.", "0 sum 0 held."}) {
    EXPECT_THAT(socket.ReceiveUntil("held."), HasSubstr(answer));
  }
  EXPECT_TRUE(AwaitEmpty(running.budget));
}

TEST(HttpGather, ABodyMayBeChunkedAndDrip) {
  Running running;
  running.Start();
  Socket socket = Socket::Connect(running.server.port());
  socket.Send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
  for (int i = 0; i < 10; ++i) socket.Send("186A0\r\n" + std::string(100'000, '\1') + "\r\n");
  for (const char c : std::string("3\r\n\1\1\1\r\n0\r\nTrailer: x\r\n\r\n")) {
    socket.Send(std::string(1, c));
  }
  EXPECT_THAT(socket.ReceiveUntil("held."), HasSubstr("1000003 sum 1000003 held."));
}

TEST(HttpGather, TooLargeABodyIsToldAndReadableByAClientThatSendsEverythingFirst) {
  Running running;
  running.Start();
  Socket socket = Socket::Connect(running.server.port());
  socket.Send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
  socket.Send("3D0900\r\n" + std::string(4'000'000, 'x') + "\r\n0\r\n\r\n");
  EXPECT_THAT(socket.ReceiveAll(), StartsWith("HTTP/1.1 413"));
}

TEST(HttpGather, NonsenseAndSilenceAreRefusedAndTold) {
  auto config = ServerConfig();
  config.body_timeout_ms = milliseconds(100);
  Running running(1 << 20, config);
  running.Start();
  Socket silent = Socket::Connect(running.server.port());
  silent.Send(Head(100000) + "x");
  EXPECT_THAT(silent.ReceiveAll(), StartsWith("HTTP/1.1 408"));
  Socket nonsense = Socket::Connect(running.server.port());
  nonsense.Send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n");
  EXPECT_THAT(nonsense.ReceiveAll(), StartsWith("HTTP/1.1 400"));
  EXPECT_EQ(running.service.broken, 2);
  EXPECT_TRUE(AwaitEmpty(running.budget));
}

TEST(HttpGather, ContinueIsSaidOnlyOnceTheBodyIsAskedFor) {
  Running running;
  running.Start();
  const std::string head =
      " HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n";
  Socket refused = Socket::Connect(running.server.port());
  refused.Send("POST /refuse" + head);
  EXPECT_THAT(refused.ReceiveUntil("\r\n"), StartsWith("HTTP/1.1 401"));
  Socket taken = Socket::Connect(running.server.port());
  taken.Send("POST /" + head);
  EXPECT_THAT(taken.ReceiveUntil("\r\n\r\n"), StartsWith("HTTP/1.1 100"));
  taken.Send("abc");
  EXPECT_THAT(taken.ReceiveUntil("held."), HasSubstr("3 sum 294"));
}

TEST(HttpGather, G11_BodiesOfAllRequestsStayWithinOneBudget) {
  constexpr std::size_t kBytes = 1'000'000;
  constexpr std::size_t kBudget = 2'500'000;
  Running running(kBudget);
  running.Start();
  std::vector<Socket> sockets;
  for (int i = 0; i < 12; ++i) sockets.push_back(Socket::Connect(running.server.port()));
  for (Socket& socket : sockets) socket.Send(Head(kBytes) + std::string(kBytes / 2, 'x'));
  std::vector<std::thread> senders;
  for (Socket& socket : sockets) {
    senders.emplace_back([&socket] {
      socket.Send(std::string(kBytes / 2, 'x'));
      EXPECT_THAT(socket.ReceiveUntil("held."), HasSubstr("1000000 sum"));
    });
  }
  for (std::thread& sender : senders) sender.join();
  // One holder at a time may go over it, by its own body and the buffer that it is read into.
  EXPECT_LE(running.service.used_max, kBudget + kBytes + 65536);
  EXPECT_TRUE(AwaitEmpty(running.budget));
}

TEST(HttpGather, G11_AClientThatWaitsForRoomIsNotTimedOut) {
  auto config = ServerConfig();
  config.body_timeout_ms = milliseconds(100);
  Running running(1 << 20, config);
  auto full = std::make_optional<Full>(running.budget);
  running.Start();
  Socket socket = Socket::Connect(running.server.port());
  socket.Send(Head(10000));
  ASSERT_TRUE(AwaitWaiter(running.budget));
  pollfd answered{socket.fd(), POLLIN, 0};
  EXPECT_EQ(poll(&answered, 1, 500), 0) << "it was answered while it waited";
  socket.Send(std::string(10000, 'x'));
  full.reset();
  EXPECT_THAT(socket.ReceiveUntil("held."), HasSubstr("10000 sum"));
}

TEST(HttpGather, G11_WhoHasWaitedForRoomTooLongIsToldSo) {
  Running running(1 << 20);
  running.service.wait_max = milliseconds(50);
  const Full full(running.budget);
  running.Start();
  Socket socket = Socket::Connect(running.server.port());
  socket.Send(Head(10000));
  EXPECT_TRUE(socket.Send(std::string(10000, 'x')));
  EXPECT_THAT(socket.ReceiveAll(), StartsWith("HTTP/1.1 503"));
  EXPECT_EQ(running.budget.usage().waiting, 0U);
}

TEST(HttpGather, G11_AServerThatStopsLeavesNobodyWaitingForRoom) {
  auto config = ServerConfig();
  config.drain_timeout_ms = milliseconds(10);
  Running running(1 << 20, config);
  {
    const Full full(running.budget);
    running.Start();
    Socket socket = Socket::Connect(running.server.port());
    socket.Send(Head(10000));
    ASSERT_TRUE(AwaitWaiter(running.budget));
    running.server.Stop();
  }
  EXPECT_EQ(running.service.broken, 1);
  EXPECT_TRUE(AwaitEmpty(running.budget));
}

TEST(HttpGather, G11_ARefusedRequestsBodyIsNotWaitedFor) {
  Running running;
  running.Start();
  Socket socket = Socket::Connect(running.server.port());
  socket.Send(Head(2'000'000, "/refuse") + std::string(5000, 'x'));
  EXPECT_THAT(socket.ReceiveUntil("\r\n"), StartsWith("HTTP/1.1 401"));
  EXPECT_TRUE(socket.Send(std::string(1'995'000, 'x')));
  socket.ReceiveAll();
}

}  // namespace
}  // namespace vedette::net
