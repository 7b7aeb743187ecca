#include "net/resolver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "tests/unit/net/dns_server.h"
#include "tests/unit/net/support.h"

namespace vedette::net {
namespace {

using test::DnsServer;
using test::LoopThread;
using test::milliseconds;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

class Asker {
 public:
  explicit Asker(const std::vector<std::string>& servers,
                 milliseconds timeout = milliseconds(5000)) {
    loop_.Run([&] { resolver_ = std::make_unique<Resolver>(loop_.loop, servers, timeout); });
  }
  ~Asker() { Destroy(); }

  std::future<ResolveResult> Begin(const std::string& host) {
    auto result = std::make_shared<std::promise<ResolveResult>>();
    auto future = result->get_future();
    loop_.loop.Post([this, host, result] {
      resolver_->Resolve(host, [result](ResolveResult r) { result->set_value(std::move(r)); });
    });
    return future;
  }
  std::vector<std::string> Addresses(const std::string& host) {
    std::vector<std::string> texts;
    for (const IpAddress& ip : Begin(host).get().addresses) {
      texts.push_back(ip.ToString());
    }
    return texts;
  }
  void Destroy() {
    loop_.Run([&] { resolver_.reset(); });
  }
  LoopThread& loop() { return loop_; }
  Resolver& raw() { return *resolver_; }

 private:
  LoopThread loop_;
  std::unique_ptr<Resolver> resolver_;
};

TEST(Resolver, AnswersEveryAddressOfBothFamilies) {
  DnsServer dns;
  dns.Set("mixed.example", {"8.8.8.8", "10.0.0.1", "2001:4860::1", "::1"});
  Asker asker({dns.address()});
  EXPECT_THAT(asker.Addresses("mixed.example"),
              UnorderedElementsAre("8.8.8.8", "10.0.0.1", "2001:4860::1", "::1"));
}

TEST(Resolver, ReadsTheHostsFileFirst) {
  DnsServer dns;
  dns.Set("localhost", {"8.8.8.8"});
  Asker asker({dns.address()});
  const std::vector<std::string> addresses = asker.Addresses("localhost");
  EXPECT_THAT(addresses, Not(IsEmpty()));
  EXPECT_THAT(addresses, Not(::testing::Contains("8.8.8.8")));
  EXPECT_EQ(dns.queries(), 0);
}

TEST(Resolver, ALoopOfAliasesSaysNothingOfTheNameAndADeadEndThatItHasNoAddress) {
  DnsServer dns;
  dns.SetAliases("loop.example", {{"loop.example", "a.example"}, {"a.example", "LOOP.example"}});
  dns.SetAliases("own.example", {{"own.example", "own.example"}});
  dns.SetAliases(
      "late.example",
      {{"late.example", "b.example"}, {"b.example", "c.example"}, {"c.example", "b.example"}});
  dns.SetAliases("end.example", {{"end.example", "d.example"}});
  Asker asker({dns.address()});
  for (const std::string name : {"loop.example", "own.example", "late.example", "end.example"}) {
    const ResolveResult result = asker.Begin(name).get();
    EXPECT_THAT(result.addresses, IsEmpty()) << name;
    EXPECT_EQ(result.missing, name == "end.example") << name;
  }
}

TEST(Resolver, FailuresHaveAReason) {
  DnsServer dns;
  dns.SetMissing("missing.example");
  dns.Set("empty.example", {});
  Asker asker({dns.address()}, milliseconds(200));
  for (const std::string name :
       {"missing.example", "empty.example", "silent.example", "", "a..b", "not a name"}) {
    const ResolveResult result = asker.Begin(name).get();
    EXPECT_THAT(result.addresses, IsEmpty()) << name;
    EXPECT_NE(result.error, "") << name;
  }
}

TEST(Resolver, ManyAskersOfOneNameCostOneLookup) {
  DnsServer dns;
  dns.Set("busy.example", {"8.8.8.8"});
  Asker asker({dns.address()});
  std::vector<std::future<ResolveResult>> answers;
  for (int i = 0; i < 1000; ++i) {
    answers.push_back(asker.Begin("busy.example"));
  }
  for (auto& answer : answers) {
    EXPECT_EQ(answer.get().addresses.size(), 1u);
  }
  EXPECT_LE(dns.queries(), 20);  // A and AAAA; more only where the machine stalls past the memory
}

TEST(Resolver, FollowsANameThatMoves) {
  DnsServer dns;
  dns.Set("moving.example", {"8.8.8.8"});
  Asker asker({dns.address()});
  EXPECT_THAT(asker.Addresses("moving.example"), UnorderedElementsAre("8.8.8.8"));
  dns.Set("moving.example", {"9.9.9.9"});
  std::vector<std::string> addresses;
  do {
    addresses = asker.Addresses("moving.example");
  } while (addresses == std::vector<std::string>{"8.8.8.8"});
  EXPECT_THAT(addresses, UnorderedElementsAre("9.9.9.9"));
}

// Design 9: fifty stalled names blocked a loop for seconds with a resolver that has threads.
TEST(Resolver, StalledNamesHoldNobodyUp) {
  DnsServer dns;
  dns.Set("live.example", {"8.8.8.8"});
  Asker asker({dns.address()}, milliseconds(2000));
  std::vector<std::future<ResolveResult>> stalled;
  for (int i = 0; i < 100; ++i) {
    stalled.push_back(asker.Begin("stalled" + std::to_string(i) + ".example"));
  }
  EXPECT_THAT(asker.Addresses("live.example"), UnorderedElementsAre("8.8.8.8"));
  for (auto& answer : stalled) {
    EXPECT_NE(answer.get().error, "");
  }
}

TEST(Resolver, NeverCallsBackFromInsideResolve) {
  DnsServer dns;
  dns.Set("a.example", {"8.8.8.8"});
  Asker asker({dns.address()});
  dns.SetMissing("b.example");
  asker.Addresses("a.example");  // remembered now
  for (const std::string name : {"a.example", "localhost", "b.example"}) {
    std::promise<void> called;
    auto future = called.get_future();
    const bool inside = asker.loop().Run([&] {
      asker.raw().Resolve(name, [&](const ResolveResult&) { called.set_value(); });
      return future.wait_for(milliseconds(0)) == std::future_status::ready;
    });
    EXPECT_FALSE(inside) << name;
    future.wait();
  }
}

TEST(Resolver, DropsPendingCallbacksWhenDestroyed) {
  DnsServer dns;
  Asker asker({dns.address()});
  auto answer = asker.Begin("silent.example");
  asker.Destroy();
  EXPECT_THROW(answer.get(), std::future_error);
}

TEST(Resolver, NamesTheServerThatIsNone) {
  base::EventLoop loop;
  EXPECT_THROW(Resolver(loop, {"not-an-address"}, milliseconds(100)), std::runtime_error);
}

}  // namespace
}  // namespace vedette::net
