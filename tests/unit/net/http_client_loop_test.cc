#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <vector>

#include "config/net_config.h"
#include "net/http_client.h"
#include "net/poller.h"
#include "tests/unit/net/client_support.h"
#include "tests/unit/net/dead_host.h"
#include "tests/unit/net/dns_server.h"

// Several clients share a loop, and with it the numbers of descriptors. What a tenant's host does
// to one of them must not end the process.
namespace vedette::net {
namespace {

using test::Client;
using test::DeadHost;
using test::DnsServer;
using test::Local;
using test::LoopThread;
using test::milliseconds;
using test::NetConfig;
using test::RawServer;
using test::Says;
using test::SaysOkEachTime;

// Sends again and again, each request in turn, until `total` answers have come.
class Repeater {
 public:
  Repeater(LoopThread& loop, const config::NetConfig& config) : loop_(loop) {
    loop_.Run([&] { client_ = std::make_unique<HttpClient>(loop_.loop, config); });
  }
  ~Repeater() {
    loop_.Run([&] { client_.reset(); });
  }

  void Begin(std::vector<HttpRequest> requests, int at_once, int total) {
    loop_.Run([&] {
      requests_ = std::move(requests);
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
    const std::size_t turn = static_cast<std::size_t>(left_) % requests_.size();
    client_->Send(requests_[turn], [this](const HttpResponse& answer) {
      ++counts_[answer.error_class];
      Next();
    });
  }

  LoopThread& loop_;
  std::unique_ptr<HttpClient> client_;
  std::vector<HttpRequest> requests_;
  int left_ = 0;
  std::map<HttpErrorClass, int> counts_;
  std::promise<void> finished_;
};

// curl looks through a handle's connections to a host one by one, so the requests to one host are
// spread over handles; each finds the connections that it kept.
TEST(HttpClientLoop, ManyRequestsToOneHostUseTheirConnectionsAgain) {
  RawServer server(SaysOkEachTime);
  constexpr int kAtOnce = 2 * CurlLoop::kTransfersPerHandle + 10;
  config::NetConfig config = NetConfig();
  config.connections_max = kAtOnce;
  config.connections_per_host_max = kAtOnce;
  LoopThread loop;
  Repeater repeater(loop, config);
  HttpRequest request;
  request.url = "http://127.0.0.1:" + std::to_string(server.port()) + "/";
  request.timeout = std::chrono::seconds(test::kPatienceSeconds);
  repeater.Begin({request}, kAtOnce, 10 * kAtOnce);
  EXPECT_EQ(repeater.Count(HttpErrorClass::kNone), 10 * kAtOnce);
  EXPECT_LE(server.accepted(), 3 * CurlLoop::kTransfersPerHandle) << "one for each place";
}

// A host has its handle by its name, so that the next request finds the connection of the last.
TEST(HttpClientLoop, EachOfManyHostsKeepsItsConnection) {
  std::vector<std::unique_ptr<RawServer>> servers;
  std::vector<HttpRequest> requests;
  for (int i = 0; i < 12; ++i) {
    servers.push_back(std::make_unique<RawServer>(SaysOkEachTime));
    HttpRequest& request = requests.emplace_back();
    request.url = "http://127.0.0.1:" + std::to_string(servers.back()->port()) + "/";
    request.timeout = std::chrono::seconds(test::kPatienceSeconds);
  }
  config::NetConfig config = NetConfig();
  config.connections_max = 8 * CurlLoop::kTransfersPerHandle;
  LoopThread loop;
  Repeater repeater(loop, config);
  repeater.Begin(requests, 1, 60);
  EXPECT_EQ(repeater.Count(HttpErrorClass::kNone), 60);
  for (const auto& server : servers) EXPECT_EQ(server->accepted(), 1);
}

TEST(HttpClientLoop, G11_HostsThatDropTheirSynDoNotEndTheProcessBesideAnotherClient) {
  DeadHost dead;
  RawServer closing(Says("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"));
  LoopThread loop;
  config::NetConfig impatient = NetConfig();
  impatient.connect_timeout_ms = milliseconds(20);
  HttpRequest request;
  request.url = Local(dead.port());
  Repeater pages(loop, impatient);
  pages.Begin({request}, 4, 120);
  request.url = Local(closing.port());
  Repeater webhooks(loop, NetConfig());
  webhooks.Begin({request}, 4, 1500);
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

// A receiver's own DNS answers late: the connection begins, and a neighbour's callback of the same
// round takes until the deadline has passed.
TEST(HttpClientLoop, G11_ALateAnswerOfDnsJustBeforeTheDeadlineDoesNotEndTheProcess) {
  DeadHost dead;
  DnsServer dns;
  dns.Set("late.test", {"127.0.0.1"});
  dns.SetMissing("neighbour.test");
  config::NetConfig config = NetConfig();
  config.dns_servers = {dns.address()};
  LoopThread loop;
  std::unique_ptr<HttpClient> client;
  loop.Run([&] { client = std::make_unique<HttpClient>(loop.loop, config); });
  for (int i = 0; i < 3; ++i) {
    dns.Hold();
    std::promise<HttpErrorClass> late;
    std::promise<HttpErrorClass> neighbour;
    loop.Run([&] {
      HttpRequest request;
      request.timeout = milliseconds(600);
      request.url = "http://late.test:" + std::to_string(dead.port()) + "/";
      client->Send(request, [&](const HttpResponse& r) { late.set_value(r.error_class); });
      request.timeout = milliseconds(20000);
      request.url = "http://neighbour.test/";
      client->Send(request, [&](const HttpResponse& r) {
        std::this_thread::sleep_for(milliseconds(700));
        neighbour.set_value(r.error_class);
      });
    });
    while (dns.held() < 4) std::this_thread::yield();  // two names, IPv4 and IPv6
    loop.Run([&] {
      dns.Release();
      std::this_thread::sleep_for(milliseconds(20));
    });
    EXPECT_EQ(late.get_future().get(), HttpErrorClass::kTimeout);
    EXPECT_EQ(neighbour.get_future().get(), HttpErrorClass::kDns);
    std::this_thread::sleep_for(milliseconds(1100));  // what was learnt is forgotten
  }
  loop.Run([&] { client.reset(); });
}

// The first address refuses, and the second one's socket gets the same number within one call.
TEST(HttpClientLoop, TheNextAddressIsTriedThoughItsSocketHasTheSameNumber) {
  RawServer server(Says("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"));
  DnsServer dns;
  dns.Set("two.test", {"127.0.0.2", "127.0.0.1"});
  config::NetConfig config = NetConfig();
  config.dns_servers = {dns.address()};
  Client client(config);
  for (int i = 0; i < 20; ++i) {
    const auto answer = client.Get("http://two.test:" + std::to_string(server.port()) + "/");
    EXPECT_EQ(answer.body, "ok") << answer.error;
  }
}

}  // namespace
}  // namespace vedette::net
