#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/net_config.h"
#include "net/http_client.h"
#include "tests/unit/net/client_support.h"
#include "tests/unit/net/dns_server.h"

// G9: no request made for a tenant reaches a non-public address, by literal, name or rebinding.
namespace vedette::net {
namespace {

using test::Client;
using test::DnsServer;
using test::Local;
using test::milliseconds;
using test::Mirror;
using test::NetConfig;
using test::RawServer;
using test::Socket;
using test::WithoutAllow;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// A server that must never see a connection.
struct Forbidden {
  RawServer server{[](Socket& socket) { socket.Send("HTTP/1.1 200 OK\r\n\r\nsecret"); }};
  int port() const { return server.port(); }
  ~Forbidden() { EXPECT_EQ(server.accepted(), 0); }
};

TEST(HttpClientG9, NoSpellingOfALiteralConnects) {
  Forbidden inside;
  Client client(WithoutAllow());
  for (const std::string host : {"127.0.0.1",
                                 "127.1",
                                 "0x7f.1",
                                 "2130706433",
                                 "0177.0.0.1",
                                 "127.0.0.1.",
                                 "0",
                                 "0.0.0.0",
                                 "localhost",
                                 "LOCALHOST.",
                                 "x.localhost",
                                 "[::1]",
                                 "[::]",
                                 "[::ffff:127.0.0.1]",
                                 "[::ffff:7f00:1]",
                                 "[64:ff9b::7f00:1]",
                                 "[2002:7f00:1::]",
                                 "%31%32%37.0.0.1",
                                 "\xef\xbc\x91\xef\xbc\x92\xef\xbc\x97.0.0.1",
                                 "[fe80::1%25lo]"}) {
    const HttpResponse answer =
        client.Get("http://" + host + ":" + std::to_string(inside.port()) + "/");
    EXPECT_EQ(answer.error_class, HttpErrorClass::kRefusedAddress) << host << answer.error;
    EXPECT_EQ(answer.body, "");
    EXPECT_NE(answer.error, "");
  }
}

TEST(HttpClientG9, UrlTricksDoNotConnect) {
  Forbidden inside;
  Client client(WithoutAllow());
  const std::string at = "127.0.0.1:" + std::to_string(inside.port());
  const std::vector<std::string> urls = {"http://example.com@" + at + "/",
                                         "http://" + at + "\\@example.com/",
                                         "http://" + at + "#@example.com/",
                                         "http://user:p@" + at + "/",
                                         "file:///etc/passwd",
                                         "gopher://" + at + "/",
                                         "ftp://" + at + "/",
                                         at,
                                         "//" + at + "/",
                                         "http:///" + at,
                                         "http:/" + at,
                                         "http://exa mple@" + at,
                                         "http://\t" + at,
                                         "http://" + at + "\r\n/"};
  for (const std::string& url : urls) {
    const HttpResponse answer = client.Get(url);
    EXPECT_EQ(answer.error_class, HttpErrorClass::kRefusedAddress) << url << answer.error;
  }
}

TEST(HttpClientG9, ANameThatResolvesInsideDoesNotConnect) {
  Forbidden inside;
  DnsServer dns;
  dns.Set("inside.example", {"127.0.0.1"});
  dns.Set("inside6.example", {"::1"});
  dns.Set("mapped.example", {"::ffff:127.0.0.1"});
  dns.Set("metadata.example", {"169.254.169.254"});
  config::NetConfig config = WithoutAllow();
  config.dns_servers = {dns.address()};
  Client client(config);
  for (const std::string name : {"inside", "inside6", "mapped", "metadata"}) {
    const HttpResponse answer =
        client.Get("http://" + name + ".example:" + std::to_string(inside.port()) + "/");
    EXPECT_EQ(answer.error_class, HttpErrorClass::kRefusedAddress) << name << answer.error;
    EXPECT_THAT(answer.error, AllOf(HasSubstr(name + ".example resolves to "),
                                    HasSubstr("which is not a public address")));
  }
}

TEST(HttpClientG9, OfAMixedAnswerOnlyTheAllowedAddressesAreUsed) {
  Mirror mirror;
  DnsServer dns;
  dns.Set("mixed.example", {"10.0.0.1", "127.0.0.1", "192.168.0.1", "::1"});
  config::NetConfig config = NetConfig();
  config.dns_servers = {dns.address()};
  Client client(config);
  const HttpResponse answer =
      client.Get("http://mixed.example:" + std::to_string(mirror.port()) + "/");
  EXPECT_EQ(answer.status, 200) << answer.error;
  EXPECT_EQ(answer.remote_address, "127.0.0.1");
}

// Rebinding: the first answer is allowed, the next is not. Neither a kept connection nor a
// remembered address may carry the second request in, nor may the second answer be connected to.
TEST(HttpClientG9, RebindingDoesNotReachTheForbiddenAddress) {
  Mirror allowed;  // on 127.0.0.1
  DnsServer dns;
  dns.Set("rebind.example", {"127.0.0.1"});
  config::NetConfig config = NetConfig();
  config.allow = {"127.0.0.1/32"};
  config.dns_servers = {dns.address()};
  Client client(config);
  const std::string url = "http://rebind.example:" + std::to_string(allowed.port()) + "/";
  EXPECT_EQ(client.Get(url).status, 200);
  dns.Set("rebind.example", {"127.0.0.2"});
  HttpResponse answer;
  do {  // the first answer may be remembered for a moment
    answer = client.Get(url);
    ASSERT_THAT(answer.remote_address, AnyOf("127.0.0.1", ""));
  } while (answer.error_class == HttpErrorClass::kNone);
  EXPECT_EQ(answer.error_class, HttpErrorClass::kRefusedAddress);
  EXPECT_THAT(answer.error, HasSubstr("127.0.0.2"));
}

TEST(HttpClientG9, ATenantDoesNotRideOnTheOperatorsConnection) {
  Mirror inside;
  DnsServer dns;
  dns.Set("probe.example", {"127.0.0.1"});
  config::NetConfig config = WithoutAllow();
  config.dns_servers = {dns.address()};
  Client client(config);
  HttpRequest request;
  request.url = "http://probe.example:" + std::to_string(inside.port()) + "/";
  request.trust = Trust::kOperator;
  EXPECT_EQ(client.Fetch(request).status, 200);
  request.trust = Trust::kTenant;
  EXPECT_EQ(client.Fetch(request).error_class, HttpErrorClass::kRefusedAddress);
  EXPECT_EQ(inside.service.handled(), 1);
}

TEST(HttpClientG9, AnUnknownNameIsADnsFailure) {
  DnsServer dns;
  config::NetConfig config = NetConfig();
  config.dns_servers = {dns.address()};
  config.connect_timeout_ms = milliseconds(200);
  dns.SetMissing("missing.example");
  Client client(config);
  HttpResponse answer = client.Get("http://missing.example/");
  EXPECT_EQ(answer.error_class, HttpErrorClass::kDns);
  EXPECT_THAT(answer.error, StartsWith("the name missing.example cannot be resolved: "));
  answer = client.Get("http://silent.example/");  // no answer at all
  EXPECT_EQ(answer.error_class, HttpErrorClass::kDns);
}

TEST(HttpClientG9, AFragmentIsNotSent) {
  Mirror mirror;
  Client client;
  EXPECT_THAT(client.Get(Local(mirror.port(), "/a#b")).body, StartsWith("GET /a\n"));
}

}  // namespace
}  // namespace vedette::net
