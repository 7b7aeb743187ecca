#include "domain/email/address.h"

#include <gtest/gtest.h>

#include <random>

namespace vedette::domain {
namespace {

TEST(Address, AnAddressHasALocalPartAndADomain) {
  const auto address = ParseAddress("Ann.Example+x@Mail.Example.COM");
  ASSERT_TRUE(address);
  EXPECT_EQ(address->local, "Ann.Example+x");
  EXPECT_EQ(address->domain, "mail.example.com");
  EXPECT_EQ(address->Text(), "Ann.Example+x@mail.example.com");
  EXPECT_EQ(address->Key(), "ann.example+x@mail.example.com");
  EXPECT_TRUE(ParseAddress("jos\xC3\xA9@m\xC3\xBCller.example"));
  EXPECT_TRUE(ParseAddress("o'neil@x.org"));
}

TEST(Address, SpellingsOutsideAsciiHaveOneKey) {
  for (const char* text : {"zoé@müller.example", "ZOÉ@MÜLLER.example",
                           "zoe\u0301@mu\u0308ller.example", "Zoé@xn--mller-kva.example"}) {
    EXPECT_EQ(ParseAddress(text)->Key(), "zoé@xn--mller-kva.example") << text;
  }
  EXPECT_EQ(ParseAddress("Ann@a\u2200b.example")->Key(), "ann@a\u2200b.example")
      << "a domain that IDNA does not allow is as it is";
}

TEST(Address, AQuotedLocalPartIsReadAndWrittenQuoted) {
  const auto address = ParseAddress(R"("a b"@x.org)");
  ASSERT_TRUE(address);
  EXPECT_EQ(address->local, "a b");
  EXPECT_EQ(address->Text(), R"("a b"@x.org)");
  EXPECT_EQ(ParseAddress(R"("a\"b"@x.org)")->Text(), R"("a\"b"@x.org)");
  EXPECT_EQ(ParseAddress(R"("ab"@x.org)")->Text(), "ab@x.org");
}

TEST(Address, WhatNoServerIsAskedAboutIsNone) {
  const std::string local(65, 'a');
  const std::string label(64, 'b');
  for (const std::string& text : std::vector<std::string>{"",
                                                          "a",
                                                          "@x.org",
                                                          "a@",
                                                          "a@x",
                                                          "a@[127.0.0.1]",
                                                          "a@1.2.3.4",
                                                          "a b@x.org",
                                                          "a@x.org\r\nRCPT TO:<b@y.org>",
                                                          "<a@x.org>",
                                                          "a@x.org>",
                                                          "Ann <a@x.org>",
                                                          "a(comment)@x.org",
                                                          "a@x..org",
                                                          ".a@x.org",
                                                          "a.@x.org",
                                                          "a..b@x.org",
                                                          "a@-x.org",
                                                          "a@x-.org",
                                                          "a@x.org.",
                                                          "a@x_y.org",
                                                          "\"a\"b\"@x.org",
                                                          "\"a\n\"@x.org",
                                                          "\"\"@x.org",
                                                          "a\x7F@x.org",
                                                          std::string("a\0b@x.org", 9),
                                                          local + "@x.org",
                                                          "a@" + label + ".org"}) {
    EXPECT_FALSE(ParseAddress(text)) << text;
  }
  std::string longest = "a@";
  for (int i = 0; i < 5; ++i) longest += std::string(50, 'c') + ".";
  EXPECT_FALSE(ParseAddress(longest + "example"));
}

TEST(Address, WhatIsReadIsWrittenAsTheSameAddress) {
  std::mt19937 random(7);
  constexpr std::string_view kCharacters = "ab.@\"\\ -<>()[]:1\r\n\xC3\xA9";
  for (int i = 0; i < 200'000; ++i) {
    std::string text;
    for (auto n = random() % 14; n > 0; --n) text += kCharacters[random() % kCharacters.size()];
    if (random() % 2 == 0) text += "@a.b";
    const auto address = ParseAddress(text);
    if (!address) continue;
    EXPECT_EQ(address->Text().find_first_of("\r\n"), std::string::npos) << text;
    const auto again = ParseAddress(address->Text());
    ASSERT_TRUE(again) << text;
    EXPECT_EQ(again->Text(), address->Text());
  }
}

TEST(Address, ADomainIsFoundInWhatPeopleWrite) {
  for (const char* text :
       {"acme.com", "ACME.com", "www.acme.com", "https://www.acme.com/about?x#y", "acme.com.",
        "http://acme.com:8080", "https://ann@acme.com/", "ann@acme.com", "acme.com/team"}) {
    EXPECT_EQ(FindDomain(text), "acme.com") << text;
  }
  EXPECT_EQ(FindDomain("www.com"), "www.com");
  for (const char* text :
       {"", "Acme", "Acme Inc.", "10.0.0.1", "http://", "a@", "https://[::1]/"}) {
    EXPECT_FALSE(FindDomain(text)) << text;
  }
}

TEST(Address, FreeMailboxesAreKnown) {
  for (const char* domain : {"gmail.com", "126.com", "zohomail.com", "hotmail.co.uk", "web.de"}) {
    EXPECT_TRUE(IsFreeMailboxDomain(domain)) << domain;
  }
  EXPECT_FALSE(IsFreeMailboxDomain("acme.com"));
  EXPECT_FALSE(IsFreeMailboxDomain(""));
}

}  // namespace
}  // namespace vedette::domain
