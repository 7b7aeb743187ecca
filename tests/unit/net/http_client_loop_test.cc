#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <vector>

#include "net/http_client.h"
#include "tests/unit/net/client_support.h"
#include "tests/unit/net/dead_host.h"

// Several clients share a loop, and with it the numbers of descriptors. What a tenant's host does
// to one of them must not end the process.
namespace vedette::net {
namespace {

using test::DeadHost;
using test::Local;
using test::LoopThread;
using test::milliseconds;
using test::NetConfig;
using test::RawServer;
using test::Says;

// Sends again and again until `total` answers have come.
class Repeater {
 public:
  Repeater(LoopThread& loop, const config::NetConfig& config) : loop_(loop) {
    loop_.Run([&] { client_ = std::make_unique<HttpClient>(loop_.loop, config); });
  }
  ~Repeater() {
    loop_.Run([&] { client_.reset(); });
  }

  void Begin(HttpRequest request, int at_once, int total) {
    loop_.Run([&] {
      request_ = std::move(request);
      left_ = total;
      for (int i = 0; i < at_once; ++i) Next();
    });
  }

  // How many answers had `error_class`, once all have come.
  int Count(HttpErrorClass error_class) {
    finished_.get_future().wait();
    return counts_[error_class];
  }

 private:
  void Next() {
    if (left_ == 0) {
      if (client_->in_flight() == 0) finished_.set_value();
      return;
    }
    --left_;
    client_->Send(request_, [this](const HttpResponse& answer) {
      ++counts_[answer.error_class];
      Next();
    });
  }

  LoopThread& loop_;
  std::unique_ptr<HttpClient> client_;
  HttpRequest request_;
  int left_ = 0;
  std::map<HttpErrorClass, int> counts_;
  std::promise<void> finished_;
};

TEST(HttpClientLoop, G11_HostsThatDropTheirSynDoNotEndTheProcessBesideAnotherClient) {
  DeadHost dead;
  RawServer closing(Says("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"));
  LoopThread loop;
  config::NetConfig impatient = NetConfig();
  impatient.connect_timeout_ms = milliseconds(20);
  HttpRequest request;
  request.url = Local(dead.port());
  Repeater pages(loop, impatient);
  pages.Begin(request, 4, 120);
  request.url = Local(closing.port());
  Repeater webhooks(loop, NetConfig());
  webhooks.Begin(request, 4, 1500);
  EXPECT_EQ(pages.Count(HttpErrorClass::kTimeout), 120);
  EXPECT_EQ(webhooks.Count(HttpErrorClass::kNone), 1500);
}

// The loop is held up until the deadline has passed, so that connection and deadline fall into one
// of its rounds.
TEST(HttpClientLoop, G11_ADeadlineThatMeetsABeginningConnectionDoesNotEndTheProcess) {
  DeadHost dead;
  LoopThread loop;
  std::unique_ptr<HttpClient> client;
  loop.Run([&] { client = std::make_unique<HttpClient>(loop.loop, NetConfig()); });
  for (int i = 0; i < 5; ++i) {
    std::promise<HttpResponse> answer;
    loop.Run([&] {
      HttpRequest request;
      request.url = Local(dead.port());
      request.timeout = milliseconds(100);
      client->Send(request, [&](HttpResponse r) { answer.set_value(std::move(r)); });
      std::this_thread::sleep_for(milliseconds(150));
    });
    EXPECT_EQ(answer.get_future().get().error_class, HttpErrorClass::kTimeout);
  }
  loop.Run([&] { client.reset(); });
}

}  // namespace
}  // namespace vedette::net
