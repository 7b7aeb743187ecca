// Bodies that a service takes piece by piece.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <memory>
#include <mutex>

#include "config/server_config.h"
#include "net/http_server.h"
#include "tests/unit/net/support.h"

namespace vedette::net {
namespace {

using test::ServerConfig;
using test::Silent;
using test::Socket;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Reads the body to its end and answers with its length and how it ended.
class Counter : public std::enable_shared_from_this<Counter> {
 public:
  explicit Counter(std::shared_ptr<Exchange> exchange) : exchange_(std::move(exchange)) {}
  std::function<void(BodyPiece::Kind)> on_end = [](BodyPiece::Kind) {};

  void Next() {
    exchange_->Read([self = shared_from_this()](BodyPiece piece) {
      if (piece.kind == BodyPiece::Kind::kData) {
        self->bytes_ += piece.data.size();
        self->piece_max_ = std::max(self->piece_max_, piece.data.size());
        self->Next();
        return;
      }
      self->on_end(piece.kind);
      self->exchange_->Send({piece.kind == BodyPiece::Kind::kEnd ? 200 : 413,
                             {},
                             std::to_string(self->bytes_) +
                                 (self->piece_max_ > 600000 ? " in large pieces" : " in pieces")});
    });
  }

 private:
  const std::shared_ptr<Exchange> exchange_;
  std::size_t bytes_ = 0;
  std::size_t piece_max_ = 0;
};

class StreamService final : public HttpService {
 public:
  void Handle(std::shared_ptr<Exchange> exchange) override {
    if (exchange->request().path == "/refuse") {
      exchange->Send({401, {}, "no"});
      return;
    }
    const auto counter = std::make_shared<Counter>(std::move(exchange));
    counter->on_end = [this](BodyPiece::Kind kind) {
      const std::lock_guard lock(mutex_);
      ended_.push_back(kind);
      changed_.notify_all();
    };
    counter->Next();
  }
  std::size_t BodyBytesMax(std::string_view, std::string_view) const override { return 3'000'000; }

  BodyPiece::Kind WaitForEnd() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(test::kPatienceSeconds),
                      [this] { return !ended_.empty(); });
    return ended_.empty() ? BodyPiece::Kind::kData : ended_.back();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<BodyPiece::Kind> ended_;
};

struct Running {
  explicit Running(const config::HttpServerConfig& config = ServerConfig())
      : server(config, service, Silent()) {
    server.Start();
  }
  StreamService service;
  HttpServer server;
};

TEST(HttpBodyStream, ComesInPiecesAndTheConnectionLivesOn) {
  Running running;
  Socket socket = Socket::Connect(running.server.port());
  for (int i = 0; i < 2; ++i) {
    socket.Send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2000000\r\n\r\n");
    socket.Send(std::string(2'000'000, 'x'));
    EXPECT_THAT(socket.ReceiveUntil("pieces"), HasSubstr("2000000 in pieces"));
  }
  socket.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(socket.ReceiveUntil("pieces"), HasSubstr("0 in pieces"));
}

TEST(HttpBodyStream, MayBeChunked) {
  Running running;
  Socket socket = Socket::Connect(running.server.port());
  socket.Send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
  for (int i = 0; i < 10; ++i) socket.Send("186A0\r\n" + std::string(100'000, 'x') + "\r\n");
  socket.Send("0\r\n\r\n");
  EXPECT_THAT(socket.ReceiveUntil("pieces"), HasSubstr("1000000 in pieces"));
}

TEST(HttpBodyStream, OverTheLimitIsToldAndAnswered) {
  Running running;
  for (const char* framing : {"Content-Length: 3000001", "Transfer-Encoding: chunked"}) {
    Socket socket = Socket::Connect(running.server.port());
    const std::string head = std::string("POST / HTTP/1.1\r\nHost: x\r\n") + framing + "\r\n\r\n";
    socket.Send(head);
    socket.Send("2DC6C1\r\n" + std::string(3'000'001, 'x') + "\r\n0\r\n\r\n");
    const std::string answer = socket.ReceiveAll();
    if (std::string_view(framing).starts_with("Transfer")) {
      EXPECT_THAT(answer, StartsWith("HTTP/1.1 413"));
    }
  }
}

TEST(HttpBodyStream, ABrokenClientIsTold) {
  Running running;
  Socket socket = Socket::Connect(running.server.port());
  socket.Send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nxyz");
  socket.Reset();
  EXPECT_EQ(running.service.WaitForEnd(), BodyPiece::Kind::kBroken);
}

TEST(HttpBodyStream, NonsenseIsA400AndTold) {
  Running running;
  Socket socket = Socket::Connect(running.server.port());
  socket.Send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n");
  EXPECT_THAT(socket.ReceiveAll(), StartsWith("HTTP/1.1 400"));
  EXPECT_EQ(running.service.WaitForEnd(), BodyPiece::Kind::kBroken);
}

TEST(HttpBodyStream, ASlowOneIsCutWithA408AndTold) {
  auto config = ServerConfig();
  config.body_timeout_ms = std::chrono::milliseconds(100);
  Running running(config);
  Socket socket = Socket::Connect(running.server.port());
  socket.Send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nxyz");
  EXPECT_THAT(socket.ReceiveAll(), StartsWith("HTTP/1.1 408"));
  EXPECT_EQ(running.service.WaitForEnd(), BodyPiece::Kind::kBroken);
}

TEST(HttpBodyStream, ARefusalBeforeTheBodyIsReadableByAClientStillSending) {
  Running running;
  Socket socket = Socket::Connect(running.server.port());
  socket.Send("POST /refuse HTTP/1.1\r\nHost: x\r\nContent-Length: 2000000\r\n\r\n");
  EXPECT_TRUE(socket.Send(std::string(2'000'000, 'x')));
  EXPECT_THAT(socket.ReceiveAll(), StartsWith("HTTP/1.1 401"));
}

TEST(HttpBodyStream, ContinueIsSaidOnlyOnceTheBodyIsAskedFor) {
  Running running;
  const std::string head =
      " HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n";
  Socket refused = Socket::Connect(running.server.port());
  refused.Send("POST /refuse" + head);
  EXPECT_THAT(refused.ReceiveUntil("\r\n"), StartsWith("HTTP/1.1 401"));
  Socket taken = Socket::Connect(running.server.port());
  taken.Send("POST /" + head);
  EXPECT_THAT(taken.ReceiveUntil("\r\n\r\n"), StartsWith("HTTP/1.1 100"));
  taken.Send("abc");
  EXPECT_THAT(taken.ReceiveUntil("pieces"), HasSubstr("3 in pieces"));
}

}  // namespace
}  // namespace vedette::net
