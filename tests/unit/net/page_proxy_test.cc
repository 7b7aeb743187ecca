#include "net/browser/page_proxy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/unit/net/client_support.h"
#include "tests/unit/net/dns_server.h"

// G9 for what a browser's page loads: its only way out checks every host, name and address.
namespace vedette::net {
namespace {

using test::DnsServer;
using test::LoopThread;
using test::milliseconds;
using test::Mirror;
using test::RawServer;
using test::Says;
using test::Socket;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class PageProxyTest : public ::testing::Test {
 protected:
  void Start(const std::vector<std::string>& allow, PageBounds bounds = {}) {
    policy_ = std::make_unique<AddressPolicy>(allow);
    port_ = loop_.Run([&] {
      resolver_ = std::make_unique<Resolver>(loop_.loop, std::vector<std::string>{dns_.address()},
                                             milliseconds(2000));
      proxy_ = std::make_unique<PageProxy>(loop_.loop, *resolver_, *policy_, bounds);
      return proxy_->port();
    });
  }
  ~PageProxyTest() override {
    loop_.Run([&] {
      proxy_.reset();
      resolver_.reset();
    });
  }

  std::string Ask(const std::string& request) {
    Socket socket = Socket::Connect(port_);
    socket.Send(request);
    return socket.ReceiveAll();
  }
  std::string Connect(const std::string& target) {
    return Ask("CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n\r\n");
  }
  PageProxy::Fault FaultOf(const std::string& host) {
    return loop_.Run([&] { return proxy_->FaultOf(host); });
  }

  DnsServer dns_;
  LoopThread loop_;
  std::unique_ptr<AddressPolicy> policy_;
  std::unique_ptr<Resolver> resolver_;
  std::unique_ptr<PageProxy> proxy_;
  int port_ = 0;
};

TEST_F(PageProxyTest, APlainRequestReachesAnAllowedServerAndNothingOfTheHopDoes) {
  Mirror site;
  Start({"127.0.0.1/32"});
  const std::string at = "127.0.0.1:" + std::to_string(site.port());
  const std::string answer = Ask("GET http://" + at +
                                 "/a?b HTTP/1.1\r\nHost: x\r\nProxy-Connection: keep-alive\r\n"
                                 "Connection: keep-alive\r\nX-Y: z\r\n\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(answer, HasSubstr("GET /a?b\n"));
  EXPECT_THAT(answer, HasSubstr("x-y: z\n"));
  EXPECT_THAT(answer, HasSubstr("Connection: close\r\n"));
  EXPECT_EQ(answer.find("keep-alive"), std::string::npos);
}

TEST_F(PageProxyTest, ATunnelCarriesBytesBothWays) {
  RawServer echo([](Socket& socket) { socket.Send("<" + socket.ReceiveUntil("!") + ">"); });
  Start({"127.0.0.1/32"});
  Socket socket = Socket::Connect(port_);
  socket.Send("CONNECT 127.0.0.1:" + std::to_string(echo.port()) + " HTTP/1.1\r\n\r\n");
  EXPECT_EQ(socket.ReceiveUntil("\r\n\r\n"), "HTTP/1.1 200 Connection established\r\n\r\n");
  socket.Send("hello!");
  EXPECT_EQ(socket.ReceiveAll(), "<hello!>");
}

TEST_F(PageProxyTest, NoSpellingOfAnAddressInsideIsConnectedTo) {
  RawServer inside(Says("HTTP/1.1 200 OK\r\n\r\nsecret"));
  Start({});
  for (const std::string host :
       {"127.0.0.1", "127.1", "0x7f.1", "2130706433", "0177.0.0.1", "127.0.0.1.", "0", "localhost",
        "LOCALHOST.", "x.localhost", "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]",
        "[64:ff9b::7f00:1]", "%31%32%37.0.0.1", "u:p@127.0.0.1", "169.254.169.254"}) {
    const std::string at = host + ":" + std::to_string(inside.port());
    EXPECT_THAT(Connect(at), StartsWith("HTTP/1.1 403")) << at;
    const std::string plain = Ask("GET http://" + at + "/ HTTP/1.1\r\n\r\n");
    EXPECT_EQ(plain.find("secret"), std::string::npos) << at;
  }
  EXPECT_EQ(inside.accepted(), 0);
  EXPECT_EQ(FaultOf("127.0.0.1").error_class, HttpErrorClass::kRefusedAddress);
}

TEST_F(PageProxyTest, ANameIsCheckedByTheAddressThatIsConnectedTo) {
  RawServer inside(Says("HTTP/1.1 200 OK\r\n\r\nsecret"));
  dns_.Set("inside.example", {"127.0.0.1", "10.0.0.1", "::1"});
  dns_.SetMissing("missing.example");
  Start({"127.0.0.9/32"});
  EXPECT_THAT(Connect("inside.example:" + std::to_string(inside.port())),
              StartsWith("HTTP/1.1 403"));
  EXPECT_EQ(FaultOf("inside.example").error_class, HttpErrorClass::kRefusedAddress);
  EXPECT_THAT(Connect("missing.example:443"), StartsWith("HTTP/1.1 502"));
  EXPECT_EQ(FaultOf("missing.example").error_class, HttpErrorClass::kDns);
  EXPECT_EQ(inside.accepted(), 0);
}

TEST_F(PageProxyTest, WhatIsNoRequestIsHungUpOn) {
  Start({});
  EXPECT_EQ(Ask("nonsense\r\n\r\n"), "");
  EXPECT_EQ(Ask("GET /relative HTTP/1.1\r\n\r\n"), "");
  EXPECT_EQ(Ask("GET ftp://a.example/ HTTP/1.1\r\n\r\n"), "");
}

TEST_F(PageProxyTest, APageOverItsBytesIsCutAndNothingMoreIsCarriedForIt) {
  RawServer site(Says("HTTP/1.1 200 OK\r\n\r\n" + std::string(100'000, 'x')));
  PageBounds bounds;
  bounds.bytes_max = 50'000;
  Start({"127.0.0.1/32"}, bounds);
  const std::string request =
      "GET http://127.0.0.1:" + std::to_string(site.port()) + "/ HTTP/1.1\r\n\r\n";
  EXPECT_LT(Ask(request).size(), 100'000U);
  EXPECT_STREQ(loop_.Run([&] { return proxy_->exceeded(); }), "bytes");
  EXPECT_EQ(Ask(request), "");
  EXPECT_EQ(site.accepted(), 1);
}

TEST_F(PageProxyTest, APageOverItsConnectionsIsCut) {
  RawServer site(Says("HTTP/1.1 200 OK\r\n\r\nok"));
  PageBounds bounds;
  bounds.connections_max = 2;
  Start({"127.0.0.1/32"}, bounds);
  const std::string request =
      "GET http://127.0.0.1:" + std::to_string(site.port()) + "/ HTTP/1.1\r\n\r\n";
  EXPECT_THAT(Ask(request), HasSubstr("ok"));
  EXPECT_THAT(Ask(request), HasSubstr("ok"));
  EXPECT_EQ(Ask(request), "");
  EXPECT_STREQ(loop_.Run([&] { return proxy_->exceeded(); }), "connections");
}

TEST(ProxyHead, AnAnswerClosesWhateverItsServerSays) {
  EXPECT_EQ(ClosingAnswer("HTTP/1.1 200 OK\r\nKeep-Alive: 5\r\nA: b\r\nconnection: x\r\n\r\n"),
            "HTTP/1.1 200 OK\r\nA: b\r\nConnection: close\r\n\r\n");
}

}  // namespace
}  // namespace vedette::net
