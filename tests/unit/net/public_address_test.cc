#include "net/public_address.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace vedette::net {
namespace {

IpAddress Ip(const std::string& text) {
  const auto ip = IpAddress::Parse(text);
  if (!ip) {
    ADD_FAILURE() << text;
    return {};
  }
  return *ip;
}

const AddressPolicy kPublicOnly{{}};

// Why the URL is refused; empty when it is accepted.
std::string Refusal(const std::string& url, const AddressPolicy& policy = kPublicOnly) {
  const TenantUrlResult result = ParseTenantUrl(url, policy);
  EXPECT_NE(result.url.has_value(), result.error.has_value()) << url;
  return result.error ? result.error->message : "";
}

std::string HostOf(const std::string& url, const AddressPolicy& policy = kPublicOnly) {
  const TenantUrlResult result = ParseTenantUrl(url, policy);
  return result.url ? result.url->host : "refused: " + result.error->message;
}

// ---------------------------------------------------------------- addresses

TEST(IpAddress, ReadsAndWritesCanonicalForms) {
  for (const char* text : {"1.2.3.4", "0.0.0.0", "255.255.255.255", "::", "::1", "2001:db8::1",
                           "::ffff:1.2.3.4", "fe80::1"}) {
    EXPECT_EQ(Ip(text).ToString(), text);
  }
  EXPECT_EQ(Ip("2001:DB8:0:0::1").ToString(), "2001:db8::1");
}

TEST(IpAddress, RefusesEverythingElse) {
  for (const std::string& text :
       {std::string(""), std::string("1.2.3"), std::string("1.2.3.4.5"), std::string("1.2.3.256"),
        std::string("01.2.3.4"), std::string("0x1.2.3.4"), std::string("1.2.3.4 "),
        std::string(" 1.2.3.4"), std::string("[::1]"), std::string("fe80::1%eth0"),
        std::string("::1/128"), std::string("1::2::3"), std::string("localhost"),
        std::string("1.2.3.4\0", 8), std::string("::1\0x", 5)}) {
    EXPECT_FALSE(IpAddress::Parse(text)) << text;
  }
}

struct Range {
  const char* name;
  std::vector<std::string> inside;   // first, last, in between
  std::vector<std::string> outside;  // the neighbours, unless they are in another range
};

const Range kNeverPublic[] = {
    {"0/8", {"0.0.0.0", "0.0.0.1", "0.255.255.255"}, {"1.0.0.0"}},
    {"10/8", {"10.0.0.0", "10.1.2.3", "10.255.255.255"}, {"9.255.255.255", "11.0.0.0"}},
    {"100.64/10", {"100.64.0.0", "100.127.255.255"}, {"100.63.255.255", "100.128.0.0"}},
    {"127/8", {"127.0.0.0", "127.0.0.1", "127.255.255.255"}, {"126.255.255.255", "128.0.0.0"}},
    {"169.254/16",
     {"169.254.0.0", "169.254.169.254", "169.254.255.255"},
     {"169.253.255.255", "169.255.0.0"}},
    {"172.16/12", {"172.16.0.0", "172.31.255.255"}, {"172.15.255.255", "172.32.0.0"}},
    {"192.0.0/24", {"192.0.0.0", "192.0.0.255"}, {"191.255.255.255", "192.0.1.0"}},
    {"192.0.2/24", {"192.0.2.0", "192.0.2.255"}, {"192.0.1.255", "192.0.3.0"}},
    {"192.88.99/24", {"192.88.99.0", "192.88.99.255"}, {"192.88.98.255", "192.88.100.0"}},
    {"192.168/16", {"192.168.0.0", "192.168.255.255"}, {"192.167.255.255", "192.169.0.0"}},
    {"198.18/15", {"198.18.0.0", "198.19.255.255"}, {"198.17.255.255", "198.20.0.0"}},
    {"198.51.100/24", {"198.51.100.0", "198.51.100.255"}, {"198.51.99.255", "198.51.101.0"}},
    {"203.0.113/24", {"203.0.113.0", "203.0.113.255"}, {"203.0.112.255", "203.0.114.0"}},
    {"224/4", {"224.0.0.0", "239.255.255.255"}, {"223.255.255.255"}},
    {"240/4", {"240.0.0.0", "255.255.255.254", "255.255.255.255"}, {}},
    {"168.63.129.16", {"168.63.129.16"}, {"168.63.129.15", "168.63.129.17"}},
    {"below 2000::/3",
     {"::", "::1", "::127.0.0.1", "::8.8.8.8", "64:ff9b::", "64:ff9b::8.8.8.8", "64:ff9b:1::1",
      "100::1", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
     {"2000::", "2000::1"}},
    {"above 2000::/3",
     {"4000::", "5f00::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fec0::1", "ff02::1",
      "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
     {"3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff"}},
    {"2001::/23",
     {"2001::", "2001::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:20::1", "2001:1ff::1",
      "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff"},
     {"2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:200::", "2001:4860:4860::8888"}},
    {"2001:db8::/32",
     {"2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"},
     {"2001:db7:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db9::"}},
    {"2002::/16",
     {"2002::", "2002:7f00:1::", "2002:0808:0808::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
     {"2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2003::"}},
    {"3fff::/20",
     {"3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff"},
     {"3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "3fff:1000::"}},
    {"mapped",
     {"::ffff:0.0.0.0", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254",
      "::ffff:7f00:1", "::ffff:192.168.1.1", "::ffff:168.63.129.16"},
     {"::ffff:8.8.8.8", "::ffff:1.0.0.0"}},
};

TEST(IsPublicAddress, EveryRangeOfTheListAndItsNeighbours) {
  for (const Range& range : kNeverPublic) {
    for (const std::string& ip : range.inside) {
      EXPECT_FALSE(IsPublicAddress(Ip(ip))) << range.name << " " << ip;
    }
    for (const std::string& ip : range.outside) {
      EXPECT_TRUE(IsPublicAddress(Ip(ip))) << range.name << " " << ip;
    }
  }
}

// The same list, computed another way: every /16 of IPv4 and every /16 of IPv6 by its first
// address.
TEST(IsPublicAddress, AgreesWithTheListInArithmetic) {
  for (unsigned high = 0; high < 65536; ++high) {
    IpAddress v4;
    v4.bytes[0] = static_cast<std::uint8_t>(high >> 8);
    v4.bytes[1] = static_cast<std::uint8_t>(high);
    v4.bytes[2] = 7;
    const unsigned a = high >> 8;
    const unsigned b = high & 255;
    const bool is_private = a == 0 || a == 10 || a == 127 || a >= 224 ||
                            (a == 100 && b >= 64 && b < 128) || (a == 169 && b == 254) ||
                            (a == 172 && b >= 16 && b < 32) || (a == 192 && b == 168) ||
                            (a == 198 && (b == 18 || b == 19));
    EXPECT_EQ(IsPublicAddress(v4), !is_private) << v4.ToString();
    IpAddress v6;
    v6.v6 = true;
    v6.bytes[0] = v4.bytes[0];
    v6.bytes[1] = v4.bytes[1];
    v6.bytes[2] = 0x20;
    const bool is_public = high >= 0x2000 && high < 0x4000 && high != 0x2002;
    EXPECT_EQ(IsPublicAddress(v6), is_public) << v6.ToString();
  }
}

// ---------------------------------------------------------------- the allow list

TEST(Cidr, ReadsAddressesAndBlocks) {
  EXPECT_TRUE(Cidr::Parse("10.0.0.0/8")->Contains(Ip("10.9.8.7")));
  EXPECT_FALSE(Cidr::Parse("10.0.0.0/8")->Contains(Ip("11.0.0.0")));
  EXPECT_TRUE(Cidr::Parse("10.1.2.3/8")->Contains(Ip("10.9.8.7")));  // bits behind the prefix
  EXPECT_TRUE(Cidr::Parse("127.0.0.1")->Contains(Ip("127.0.0.1")));
  EXPECT_FALSE(Cidr::Parse("127.0.0.1")->Contains(Ip("127.0.0.2")));
  EXPECT_TRUE(Cidr::Parse("::1/128")->Contains(Ip("::1")));
  EXPECT_TRUE(Cidr::Parse("fd00::/9")->Contains(Ip("fd7f::1")));
  EXPECT_FALSE(Cidr::Parse("fd00::/9")->Contains(Ip("fd80::1")));
  EXPECT_TRUE(Cidr::Parse("0.0.0.0/0")->Contains(Ip("127.0.0.1")));
  EXPECT_FALSE(Cidr::Parse("0.0.0.0/0")->Contains(Ip("::1")));
  EXPECT_FALSE(Cidr::Parse("::/0")->Contains(Ip("127.0.0.1")));
}

TEST(Cidr, RefusesWhatIsNone) {
  for (const char* text :
       {"", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/8x", "10.0.0.0/ 8", "10/8",
        "::/129", "[::1]", "example.com", "10.0.0.0/8/8", "10.0.0.0/+8"}) {
    EXPECT_FALSE(Cidr::Parse(text)) << text;
  }
}

TEST(ClientAddress, IsTheLastThatIsNoTrustedProxy) {
  const std::vector<Cidr> proxies{*Cidr::Parse("10.0.0.0/8"), *Cidr::Parse("fd00::/8")};
  const auto of = [&](const std::string& peer, const std::vector<std::string_view>& forwarded) {
    return ClientAddress(peer, forwarded, proxies);
  };
  EXPECT_EQ(of("10.0.0.1", {"203.0.113.7"}), "203.0.113.7");
  EXPECT_EQ(of("10.0.0.1", {"203.0.113.7, 10.0.0.2"}), "203.0.113.7");
  EXPECT_EQ(of("fd00::1", {"2001:db8::7", "10.0.0.2"}), "2001:db8::7");
  EXPECT_EQ(of("10.0.0.1", {"::ffff:203.0.113.7"}), "203.0.113.7");
  EXPECT_EQ(of("10.0.0.1", {"203.0.113.7:5678, 10.0.0.2:443"}), "203.0.113.7");
  EXPECT_EQ(of("10.0.0.1", {"[2001:db8::7]:5678, [fd00::2]"}), "2001:db8::7");
  EXPECT_EQ(of("10.0.0.1", {"203.0.113.7, [2001:db8::7"}), "10.0.0.1");
  EXPECT_EQ(of("10.0.0.1", {"198.51.100.1, 203.0.113.7"}), "203.0.113.7")
      << "what stands before it, the client itself has written";
  EXPECT_EQ(of("203.0.113.9", {"198.51.100.1"}), "203.0.113.9") << "no proxy of ours";
  EXPECT_EQ(of("10.0.0.1", {}), "10.0.0.1");
  EXPECT_EQ(of("10.0.0.1", {"10.0.0.3"}), "10.0.0.3");
  EXPECT_EQ(of("10.0.0.1", {"203.0.113.7, unknown"}), "10.0.0.1");
  EXPECT_EQ(ClientAddress("10.0.0.1", {"203.0.113.7"}, {}), "10.0.0.1");
}

TEST(AddressPolicy, AllowsThePublicAndTheList) {
  const AddressPolicy policy({"10.0.0.0/8", "::1/128", "::ffff:172.16.0.0/108"});
  EXPECT_TRUE(policy.Allows(Ip("8.8.8.8")));
  EXPECT_TRUE(policy.Allows(Ip("10.0.0.1")));
  EXPECT_TRUE(policy.Allows(Ip("::ffff:10.0.0.1")));
  EXPECT_TRUE(policy.Allows(Ip("::1")));
  EXPECT_TRUE(policy.Allows(Ip("172.16.3.4")));
  EXPECT_FALSE(policy.Allows(Ip("127.0.0.1")));
  EXPECT_FALSE(policy.Allows(Ip("::2")));
  EXPECT_FALSE(policy.Allows(Ip("2002:0a00:0001::")));  // 10.0.0.1 through 6to4
  EXPECT_FALSE(policy.Allows(Ip("64:ff9b::10.0.0.1")));
}

TEST(AddressPolicy, NamesTheEntryThatIsNoCidr) {
  try {
    AddressPolicy({"10.0.0.0/8", "lan"});
    FAIL();
  } catch (const std::invalid_argument& e) {
    EXPECT_NE(std::string(e.what()).find("\"lan\""), std::string::npos) << e.what();
  }
}

// ---------------------------------------------------------------- URLs

TEST(TenantUrl, AcceptsPublicNamesAndLiterals) {
  const struct {
    const char* url;
    const char* host;
    int port;
  } cases[] = {
      {"http://example.com", "example.com", 80},
      {"https://example.com", "example.com", 443},
      {"HTTPS://example.com/", "example.com", 443},
      {"https://Example.COM:8443/Hook?x=%20", "example.com", 8443},
      {"https://example.com.", "example.com", 443},
      {"https://example.com:/", "example.com", 443},
      {"https://example.com?x", "example.com", 443},
      {"http://a-b_c.example:1/", "a-b_c.example", 1},
      {"http://xn--mnchen-3ya.de/", "xn--mnchen-3ya.de", 80},
      {"http://localhost.example.com/", "localhost.example.com", 80},
      {"http://notlocalhost/", "notlocalhost", 80},
      {"http://mylocal/", "mylocal", 80},
      {"http://local.example/", "local.example", 80},
      {"http://8.8.8.8/", "8.8.8.8", 80},
      {"http://8.8.8.8.:81/", "8.8.8.8", 81},
      {"http://134744072/", "8.8.8.8", 80},
      {"http://0x08080808/", "8.8.8.8", 80},
      {"http://010.8.8.8/", "8.8.8.8", 80},
      {"http://8.8.2056/", "8.8.8.8", 80},
      {"http://[2001:4860:4860::8888]:99/", "2001:4860:4860::8888", 99},
      {"http://[2001:4860:4860:0:0:0:0:8888]/", "2001:4860:4860::8888", 80},
      {"http://[::ffff:8.8.8.8]/", "::ffff:8.8.8.8", 80},
      {"http://1.2.3.example/", "1.2.3.example", 80},
      {"http://0x.example/", "0x.example", 80},
      {"http://example.com/\xc3\xbc?q=\xc3\xbc", "example.com", 80},
      {"http://example.com/a@b:c", "example.com", 80},
  };
  for (const auto& c : cases) {
    const TenantUrlResult result = ParseTenantUrl(c.url, kPublicOnly);
    ASSERT_TRUE(result.url) << c.url << " " << result.error->message;
    EXPECT_EQ(result.url->host, c.host) << c.url;
    EXPECT_EQ(result.url->port, c.port) << c.url;
    EXPECT_EQ(result.url->text, c.url);
    EXPECT_EQ(result.url->literal.has_value(), IpAddress::Parse(result.url->host).has_value())
        << c.url;
  }
}

// Every spelling that some resolver, browser or library reads as 127.0.0.1.
std::vector<std::string> LoopbackSpellings() {
  std::vector<std::string> first = {"127",  "0x7f",  "0X7F",         "0x7F",
                                    "0177", "00177", "000000000177", "0x0000000007f"};
  std::vector<std::string> zero = {"0", "00", "0x0", "0x", "000"};
  std::vector<std::string> one = {"1", "01", "0x1", "0x01", "001"};
  std::vector<std::string> all;
  for (const auto& a : first) {
    for (const auto& d : one) {
      all.push_back(a + "." + d);
      for (const auto& b : zero) {
        all.push_back(a + "." + b + "." + d);
        for (const auto& c : zero) {
          all.push_back(a + "." + b + "." + c + "." + d);
        }
      }
    }
  }
  for (const char* whole : {"2130706433", "0x7f000001", "0X7F000001", "017700000001",
                            "0000017700000001", "0x00000000007f000001"}) {
    all.emplace_back(whole);
  }
  return all;
}

TEST(TenantUrl, RefusesLoopbackInHundredsOfSpellings) {
  const std::vector<std::string> spellings = LoopbackSpellings();
  ASSERT_GT(spellings.size(), 1000u);
  const AddressPolicy loopback({"127.0.0.0/8"});
  for (const std::string& host : spellings) {
    for (const std::string& form :
         {"http://" + host + "/", "https://" + host + ".:8080/x", "http://" + host + "?y"}) {
      EXPECT_NE(Refusal(form), "") << form;
      EXPECT_EQ(HostOf(form, loopback), "127.0.0.1") << form;
    }
  }
}

TEST(TenantUrl, RefusesEveryNonPublicLiteral) {
  for (const Range& range : kNeverPublic) {
    for (const std::string& ip : range.inside) {
      const bool v6 = ip.find(':') != std::string::npos;
      EXPECT_NE(Refusal("http://" + (v6 ? "[" + ip + "]" : ip) + "/"), "") << ip;
    }
  }
}

TEST(TenantUrl, SaysWhichAddressIsNotPublic) {
  EXPECT_EQ(Refusal("http://0x7f.1/"), "the URL's host 127.0.0.1 is not a public address");
  EXPECT_EQ(Refusal("http://[::ffff:10.0.0.1]/"),
            "the URL's host ::ffff:10.0.0.1 is not a public address");
}

TEST(TenantUrl, RefusesHostsThatAreNeitherNameNorAddress) {
  for (const std::string host :
       {"1.2.3.4.5",    "256.1.1.1",     "1.256.1.1",     "1.1.65536",
        "1.16777216",   "4294967296",    "0x100000000",   "99999999999999999999999",
        "08.8.8.8",     "8.8.8.09",      "0x7g.1",        "a.b.1",
        "example.0x7f", "example.127",   "1..1",          ".1",
        "example..com", ".example.com",  "example.com..", ".",
        "..",           "-1.-1.-1.1",    "exa*mple.com",  "exa!mple.com",
        "exam,ple.com", "(example).com", "example.com;x", "ex\"ample.com",
        "ex'ample.com", "ex<ample.com",  "ex{ample.com",  "ex^ample.com",
        "ex|ample.com", "ex`ample.com",  "ex~ample.com",  "ex$ample.com",
        "ex+ample.com", "ex=ample.com",  "ex&ample.com"}) {
    EXPECT_NE(Refusal("http://" + host + "/"), "") << host;
  }
  EXPECT_NE(Refusal("http://" + std::string(64, 'a') + ".com/"), "");
  std::string long_name = "a";
  while (long_name.size() < 254) {
    long_name += ".a";
  }
  EXPECT_NE(Refusal("http://" + long_name + "/"), "");
}

TEST(TenantUrl, RefusesBracketsThatHoldNoIpv6Address) {
  for (const std::string host :
       {"[]", "[1.2.3.4]", "[8.8.8.8]", "[example.com]", "[::1", "::1", "[::g]", "[::1%25lo]",
        "[fe80::1%eth0]", "[fe80::1%251]", "[2001:4860:4860::8888%2]", "[v1.x]", "[[::1]]",
        "[::1]x", "[::1]]", "2001:4860:4860::8888", "[2001:4860:4860::8888", "[::8.8.8.8.8]"}) {
    EXPECT_NE(Refusal("http://" + host + "/"), "") << host;
  }
}

TEST(TenantUrl, RefusesEncodedAndInternationalHosts) {
  for (const std::string host :
       {"%31%32%37.0.0.1", "127.0.0.1%00.example.com", "example.com%2f@127.0.0.1", "%6c%6f%63",
        "127%2e0%2e0%2e1", "m\xc3\xbcnchen.de",
        "\xef\xbc\x91\xef\xbc\x92\xef\xbc\x97.0.0.1",  // full-width digits
        "\xe2\x91\xa0\xe2\x91\xa1\xe2\x91\xa6.0.0.1",  // circled digits
        "127\xe3\x80\x82"
        "0\xe3\x80\x82"
        "0\xe3\x80\x82"
        "1",  // ideographic full stops
        "127\xef\xbc\x8e"
        "0.0.1",
        "\xd9\xa1\xd9\xa2\xd9\xa7.0.0.1",
        "loc\xc2\xad"
        "alhost",
        "\xf0\x9d\x9f\x8f\xf0\x9d\x9f\x90\xf0\x9d\x9f\x95.0.0.1"}) {
    EXPECT_NE(Refusal("http://" + host + "/"), "") << host;
  }
  EXPECT_NE(Refusal("http://m\xc3\xbcnchen.de/").find("xn--"), std::string::npos);
}

TEST(TenantUrl, RefusesNamesThatStayInside) {
  for (const std::string host :
       {"localhost", "LOCALHOST", "localhost.", "a.localhost", "a.b.localhost.", "printer.local",
        "local", "PRINTER.LOCAL.", "metadata.google.internal", "internal", "x.internal."}) {
    EXPECT_NE(Refusal("http://" + host + "/"), "") << host;
    EXPECT_NE(Refusal("https://" + host + ":8443/x"), "") << host;
  }
}

TEST(TenantUrl, TheAllowListOpensThemToChecksByAddress) {
  const AddressPolicy loopback({"127.0.0.0/8"});
  EXPECT_EQ(Refusal("http://localhost:9000/", loopback), "");
  EXPECT_EQ(Refusal("http://a.localhost/", loopback), "");
  EXPECT_EQ(Refusal("http://127.0.0.1:9000/", loopback), "");
  EXPECT_EQ(Refusal("http://[::ffff:127.0.0.1]/", loopback), "");
  EXPECT_NE(Refusal("http://[::1]/", loopback), "");
  EXPECT_NE(Refusal("http://10.0.0.1/", loopback), "");
  const AddressPolicy lan({"10.0.0.0/8"});
  EXPECT_EQ(Refusal("http://hooks.internal/", lan), "");
  EXPECT_EQ(Refusal("http://printer.local/", lan), "");
  EXPECT_NE(Refusal("http://localhost/", lan), "");
  EXPECT_EQ(Refusal("http://localhost/", AddressPolicy({"::1/128"})), "");
}

TEST(TenantUrl, RefusesWhatIsNoPlainHttpUrl) {
  for (const std::string& url : {std::string(""),
                                 std::string("example.com"),
                                 std::string("//example.com/"),
                                 std::string("http:example.com"),
                                 std::string("http:/example.com"),
                                 std::string("http://"),
                                 std::string("http:///"),
                                 std::string("http:///example.com"),
                                 std::string("http://?x"),
                                 std::string("http://:80/"),
                                 std::string("https://#x"),
                                 std::string("ftp://example.com/"),
                                 std::string("file:///etc/passwd"),
                                 std::string("gopher://example.com/"),
                                 std::string("javascript://example.com/%0aalert(1)"),
                                 std::string("dict://example.com:11211/"),
                                 std::string("httpx://example.com/"),
                                 std::string("ht tp://example.com/"),
                                 std::string(" http://example.com/"),
                                 std::string("http://example.com/ "),
                                 std::string("http://example.com/a b"),
                                 std::string("http://exa mple.com/"),
                                 std::string("http://example.com/\t"),
                                 std::string("http://example.com/\r\nX: y"),
                                 std::string("http://example.com/\x7f"),
                                 std::string("http://example.com/\0", 20),
                                 std::string("http://exam\0ple.com/", 20),
                                 std::string("http://user@example.com/"),
                                 std::string("http://user:password@example.com/"),
                                 std::string("http://:@example.com/"),
                                 std::string("http://@example.com/"),
                                 std::string("http://a@b@example.com/"),
                                 std::string("http://example.com@127.0.0.1/"),
                                 std::string("http://127.0.0.1@example.com/"),
                                 std::string("http://example.com\\@127.0.0.1/"),
                                 std::string("http:\\\\example.com/"),
                                 std::string("http://example.com/\\x"),
                                 std::string("http://example.com#x"),
                                 std::string("http://example.com/#"),
                                 std::string("http://example.com/?a#b"),
                                 std::string("http://127.0.0.1#.example.com/"),
                                 std::string("http://example.com:0/"),
                                 std::string("http://example.com:65536/"),
                                 std::string("http://example.com:99999999999999/"),
                                 std::string("http://example.com:-1/"),
                                 std::string("http://example.com:+80/"),
                                 std::string("http://example.com:80x/"),
                                 std::string("http://example.com:0x50/"),
                                 std::string("http://example.com:80:80/"),
                                 std::string("http://[2001:4860:4860::8888]80/")}) {
    EXPECT_NE(Refusal(url), "") << url;
  }
}

TEST(TenantUrl, HasAtMost2083Characters) {
  const std::string start = "https://example.com/";
  EXPECT_EQ(Refusal(start + std::string(2083 - start.size(), 'x')), "");
  EXPECT_NE(Refusal(start + std::string(2084 - start.size(), 'x')), "");
  const auto with_umlauts = [&](std::size_t n) {
    std::string text = start;
    for (std::size_t i = 0; i < n; ++i) text += "\u00f6";
    return text;
  };
  EXPECT_EQ(Refusal(with_umlauts(2083 - start.size())), "") << "characters, not bytes";
  EXPECT_NE(Refusal(with_umlauts(2084 - start.size())), "");
}

TEST(TenantUrl, NeverCrashesOnMutilatedUrls) {
  const std::string whole = "https://User:Pw@[::ffff:127.0.0.1]:8443/p%20q?x=y#z";
  for (std::size_t i = 0; i <= whole.size(); ++i) {
    for (std::size_t j = i; j <= whole.size(); ++j) {
      ParseTenantUrl(whole.substr(0, i) + whole.substr(j), kPublicOnly);
    }
  }
}

}  // namespace
}  // namespace vedette::net
