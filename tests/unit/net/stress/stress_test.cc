#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <random>

#include "base/byte_budget.h"
#include "config/net_config.h"
#include "net/http_client.h"
#include "tests/unit/net/chaos_server.h"
#include "tests/unit/net/client_support.h"
#include "tests/unit/net/dead_host.h"
#include "tests/unit/net/dns_server.h"
#include "tests/unit/net/gzip.h"

// Random requests of several clients on one loop against hosts that do whatever they like. Every
// request is answered exactly once, and nothing is left behind.
//
// Bounded in ctest. A long run, for example under AddressSanitizer:
//   VEDETTE_STRESS_COUNT=100000 VEDETTE_STRESS_SECONDS=3600 VEDETTE_STRESS_SEED=7 net_stress
namespace vedette::net {
namespace {

using std::chrono::steady_clock;
using test::ChaosServer;
using test::DeadHost;
using test::DnsServer;
using test::Local;
using test::LoopThread;
using test::milliseconds;

long Setting(const char* name, long otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atol(text);
}

// In each sanitizer's build; four times as many in a nightly run.
constexpr long kCount = 10000;
constexpr long kSecondsMax = 20;
constexpr std::size_t kClients = 4;
constexpr int kAtOnce = 40;  // requests of one client
constexpr std::size_t kBodyBytesMax = 300000;

// Everything here runs on the loop, but for Run.
class Stress {
 public:
  explicit Stress(unsigned seed) : random_(seed), budget_(1 << 20, 0.1) {
    dns_.Set("live.test", {"127.0.0.1"});
    dns_.Set("second.test", {"127.0.0.2", "127.0.0.1"});  // the first refuses: one number, twice
    dns_.SetMissing("missing.test");
  }

  void Run(long count, std::chrono::seconds limit) {
    loop_.Run([&] {
      ends_ = steady_clock::now() + limit;
      to_send_ = count;
      for (std::size_t i = 0; i < kClients; ++i) NewClient(i);
      tick_ = std::make_unique<base::Timer>(loop_.loop, [this] { Tick(); });
      tick_->Start(milliseconds(1), milliseconds(5));
    });
    over_.get_future().wait();
    loop_.Run([&] {
      tick_.reset();
      for (auto& client : clients_) client.reset();
      held_.clear();
    });
    loop_.Run([] {});
  }

  long sent() const { return sent_; }
  long answered() const { return answered_; }
  long dropped() const { return dropped_; }
  std::size_t used() const { return budget_.usage().used; }
  std::size_t most_used() const { return most_used_; }
  std::size_t total() const { return budget_.total(); }
  const std::map<std::string, long>& classes() const { return classes_; }

 private:
  unsigned Random(unsigned n) { return random_() % n; }

  void NewClient(std::size_t i) {
    config::NetConfig config = test::NetConfig();
    config.dns_servers = {dns_.address()};
    config.connect_timeout_ms = milliseconds(i % 2 == 0 ? 30 : 400);
    config.connections_max = 24;
    config.connections_per_host_max = i == 3 ? 2 : 12;
    clients_[i] = std::make_unique<HttpClient>(loop_.loop, config, milliseconds(i == 2 ? 1 : 0));
  }

  // Fills the clients up; now and then cancels or replaces one, or holds the loop up so that
  // deadlines, timers and sockets meet.
  void Tick() {
    most_used_ = std::max(most_used_, budget_.usage().used);
    const bool enough = sent_ >= to_send_ || steady_clock::now() >= ends_;
    // By count and not by chance, so that a short run has them too.
    if (sent_ >= cancel_at_) {
      cancel_at_ = sent_ + 700;
      clients_[Random(kClients)]->CancelAll();
    }
    if (sent_ >= replace_at_) {
      replace_at_ = sent_ + 900;
      const std::size_t i = Random(kClients);
      dropped_ += static_cast<long>(clients_[i]->in_flight());
      NewClient(i);
    }
    std::size_t in_flight = 0;
    for (std::size_t i = 0; i < kClients; ++i) {
      while (!enough && clients_[i]->in_flight() < kAtOnce) Send(i);
      in_flight += clients_[i]->in_flight();
    }
    while (held_.size() > 3 || (!held_.empty() && Random(3) == 0)) held_.pop_front();
    if (Random(50) == 0) std::this_thread::sleep_for(milliseconds(Random(70)));
    if (enough && in_flight == 0) {
      tick_->Stop();
      over_.set_value();
    }
  }

  std::string Url() {
    static const std::array<const char*, 9> kPaths{"/ok/5",   "/kept-then-gone", "/close/100000",
                                                   "/packed", "/reset",          "/half",
                                                   "/hang",   "/garbage",        "/ok/400000"};
    switch (Random(16)) {
      case 0:
        return Local(dead_.port());
      case 1:
        return "http://silent.test/";
      case 2:
        return "http://missing.test/";
      case 3:
      case 4:
        return "http://second.test:" + std::to_string(live_.port()) + "/ok/1000";
      case 5:
      case 6:
        return Local(live_.port(), "/late/" + std::to_string(Random(120)));
      case 7:
        return "http://127.0.0.1:1/";
      case 8:
      case 9:
      case 10:
        return Local(live_.port(), "/ok/20000");
      default: {
        const std::string host = Random(2) == 0 ? "live.test" : "127.0.0.1";
        return "http://" + host + ":" + std::to_string((Random(2) == 0 ? live_ : other_).port()) +
               kPaths[Random(kPaths.size())];
      }
    }
  }

  void Send(std::size_t i) {
    HttpRequest request;
    request.url = Url();
    request.org.bytes[0] = static_cast<std::uint8_t>(Random(4));
    request.trust = Random(4) == 0 ? Trust::kOperator : Trust::kTenant;
    request.timeout = milliseconds(Random(3) == 0 ? Random(80) : 50 + Random(250));
    request.wait_max = milliseconds(Random(2) == 0 ? 0 : Random(200));
    request.body_bytes_max = kBodyBytesMax;
    request.truncate_body = Random(3) == 0;
    if (Random(2) == 0) request.budget = &budget_;
    Go(i, std::move(request), steady_clock::now());
  }

  void Go(std::size_t i, HttpRequest request, steady_clock::time_point began) {
    ++sent_;
    const auto answered = std::make_shared<bool>(false);
    HttpRequest again = request;
    clients_[i]->Send(std::move(request), [this, i, began, answered, again](HttpResponse r) {
      EXPECT_FALSE(std::exchange(*answered, true)) << "answered twice";
      ++answered_;
      ++classes_[std::string(HttpErrorClassName(r.error_class))];
      if (r.held != nullptr && Random(2) == 0) held_.push_back(r.held);
      if (r.status != 302) return;
      // The caller follows, with what is left of its time, to another host.
      HttpRequest next = again;
      next.url = Local(Random(4) == 0 ? dead_.port() : other_.port(), "/ok/10");
      next.timeout -= std::chrono::duration_cast<milliseconds>(steady_clock::now() - began);
      if (next.timeout > milliseconds(0)) Go(i, std::move(next), began);
    });
  }

  std::mt19937 random_;
  base::ByteBudget budget_;
  DeadHost dead_;
  DnsServer dns_;
  ChaosServer live_{test::Gzip(std::string(2000000, 'x'))};
  ChaosServer other_{test::Gzip(std::string(1000, 'x'))};
  LoopThread loop_;
  std::array<std::unique_ptr<HttpClient>, kClients> clients_;
  std::unique_ptr<base::Timer> tick_;
  std::deque<std::shared_ptr<base::ByteBudget::Holding>> held_;
  steady_clock::time_point ends_;
  long to_send_ = 0;
  long cancel_at_ = 200;
  long replace_at_ = 300;
  long sent_ = 0;
  long answered_ = 0;
  long dropped_ = 0;  // with a client that was destroyed
  std::size_t most_used_ = 0;
  std::map<std::string, long> classes_;
  std::promise<void> over_;
};

TEST(HttpClientStress, G11_NoHostEndsTheProcessOrLeavesAnythingBehind) {
  const auto seed = static_cast<unsigned>(Setting("VEDETTE_STRESS_SEED", 1));
  Stress stress(seed);
  stress.Run(Setting("VEDETTE_STRESS_COUNT", kCount),
             std::chrono::seconds(Setting("VEDETTE_STRESS_SECONDS", kSecondsMax)));
  std::string classes;
  for (const auto& [name, n] : stress.classes()) classes += name + " " + std::to_string(n) + ", ";
  SCOPED_TRACE("seed " + std::to_string(seed) + ": " + classes);
  RecordProperty("classes", classes);
  std::printf("seed %u: %ld requests, %ld dropped with their client; %s%zu bytes at most\n", seed,
              stress.sent(), stress.dropped(), classes.c_str(), stress.most_used());
  EXPECT_EQ(stress.answered() + stress.dropped(), stress.sent());
  EXPECT_GT(stress.dropped(), 0);
  EXPECT_EQ(stress.used(), 0u);
  EXPECT_LE(stress.most_used(), stress.total() + kBodyBytesMax);
  for (const char* name : {"none", "timeout", "protocol", "connect", "dns", "busy", "shutdown"}) {
    EXPECT_GT(stress.classes().count(name), 0u) << name << " did not occur";
  }
}

}  // namespace
}  // namespace vedette::net
