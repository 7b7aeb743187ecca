// Clients that leave while an answer is awaited.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

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

constexpr const char* kRequest = "GET /wait HTTP/1.1\r\nHost: x\r\n\r\n";

// Keeps every exchange unanswered and watches its client, but for those of /now.
class ParkingService final : public HttpService {
 public:
  void Handle(std::shared_ptr<Exchange> exchange) override {
    if (exchange->request().path == "/now") {
      exchange->Send({200, {}, "now."});
      return;
    }
    if (exchange->request().path == "/unread") {
      Park(std::move(exchange));
      return;
    }
    Exchange& from = *exchange;
    from.Gather({}, [this, exchange](Gathered) { Park(exchange); });
  }
  std::size_t BodyBytesMax(std::string_view, std::string_view) const override { return 1 << 20; }

  void AnswerAll(const std::string& body) {
    const std::lock_guard lock(mutex_);
    for (const auto& exchange : parked_) exchange->Send({200, {}, body});
    parked_.clear();
  }
  std::size_t parked() const {
    const std::lock_guard lock(mutex_);
    return parked_.size();
  }

  std::atomic<int> gone{0};

 private:
  void Park(std::shared_ptr<Exchange> exchange) {
    exchange->WhenGone([this] { ++gone; });
    const std::lock_guard lock(mutex_);
    parked_.push_back(std::move(exchange));
  }

  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<Exchange>> parked_;
};

class HttpGone : public testing::Test {
 protected:
  HttpGone() { server.Start(); }

  Socket Parked(const std::string& request = kRequest) {
    const std::size_t before = service.parked();
    Socket socket = Socket::Connect(server.port());
    socket.Send(request);
    EXPECT_TRUE(Await([&] { return service.parked() > before; }));
    return socket;
  }

  // What was posted to the server's thread before has run once this returns.
  void Settle() {
    Socket other = Socket::Connect(server.port());
    other.Send("GET /now HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_THAT(other.ReceiveUntil("now."), HasSubstr("200"));
  }

  ParkingService service;
  HttpServer server{ServerConfig(), service, Silent()};
};

TEST_F(HttpGone, AClientThatClosesItsConnectionIsToldOnce) {
  Socket socket = Parked();
  EXPECT_EQ(service.gone, 0);
  socket.Close();
  EXPECT_TRUE(Await([&] { return service.gone == 1; }));
  service.AnswerAll("too late");
  Settle();
  EXPECT_EQ(service.gone, 1);
}

TEST_F(HttpGone, AClientThatResetsItsConnectionIsTold) {
  Parked().Reset();
  EXPECT_TRUE(Await([&] { return service.gone == 1; }));
}

TEST_F(HttpGone, AClientThatStopsSendingCountsAsGoneAndItsConnectionIsClosed) {
  Socket socket = Parked();
  socket.ShutdownSend();
  EXPECT_EQ(socket.ReceiveAll(), "");
  EXPECT_TRUE(Await([&] { return service.gone == 1; }));
}

TEST_F(HttpGone, AClientIsWatchedAfterItsBodyWasGathered) {
  const std::string body(200'000, 'x');
  Socket socket = Parked("POST /wait HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n\r\n" + body);
  socket.Close();
  EXPECT_TRUE(Await([&] { return service.gone == 1; }));
}

TEST_F(HttpGone, AnAnswerEndsTheWatchAndTheConnectionServesTheNextRequest) {
  Socket socket = Parked();
  for (int i = 0; i < 3; ++i) {
    service.AnswerAll("done.");
    EXPECT_THAT(socket.ReceiveUntil("done."), StartsWith("HTTP/1.1 200"));
    socket.Send(kRequest);
    EXPECT_TRUE(Await([&] { return service.parked() == 1; }));
  }
  service.AnswerAll("done.");
  socket.ReceiveUntil("done.");
  socket.Close();
  Settle();
  EXPECT_EQ(service.gone, 0);
}

TEST_F(HttpGone, AClientThatPipelinesIsWatchedNoMoreAndGetsItsAnswersInOrder) {
  Socket socket = Parked();
  socket.Send("GET /now HTTP/1.1\r\nHost: x\r\n\r\n");
  Settle();
  service.AnswerAll("done.");
  EXPECT_THAT(socket.ReceiveUntil("done."), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(socket.ReceiveUntil("now."), HasSubstr("HTTP/1.1 200"));
  // The request after it came together with its own: it is not watched either.
  socket.Send(std::string(kRequest) + "GET /now HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_TRUE(Await([&] { return service.parked() == 1; }));
  service.AnswerAll("done.");
  socket.ReceiveUntil("done.");
  socket.ReceiveUntil("now.");
  EXPECT_EQ(service.gone, 0);
}

TEST_F(HttpGone, AClientWhoseBodyIsStillToBeTakenIsNotWatched) {
  Socket socket = Parked("POST /unread HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc");
  socket.Send("defghi");
  Settle();
  service.AnswerAll("done.");
  EXPECT_THAT(socket.ReceiveUntil("done."), StartsWith("HTTP/1.1 200"));
  EXPECT_EQ(service.gone, 0);
}

TEST_F(HttpGone, AServerThatStopsSaysNothing) {
  auto config = ServerConfig();
  config.drain_timeout_ms = milliseconds(50);
  ParkingService stopped;
  {
    HttpServer other(config, stopped, Silent());
    other.Start();
    Socket socket = Socket::Connect(other.port());
    socket.Send(kRequest);
    ASSERT_TRUE(Await([&] { return stopped.parked() == 1; }));
    other.Stop();
  }
  stopped.AnswerAll("too late");
  EXPECT_EQ(stopped.gone, 0);
}

TEST_F(HttpGone, AServerThatDrainsLetsParkedAnswersGoOut) {
  Socket socket = Parked();
  std::thread stopping([this] { server.Stop(); });
  service.AnswerAll("done.");
  EXPECT_THAT(socket.ReceiveAll(), HasSubstr("done."));
  stopping.join();
  EXPECT_EQ(service.gone, 0);
}

}  // namespace
}  // namespace vedette::net
