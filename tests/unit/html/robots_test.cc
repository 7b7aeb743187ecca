#include "html/robots.h"

#include <gtest/gtest.h>

namespace vedette::html {
namespace {

bool Allows(std::string_view rules, std::string_view path) {
  return Robots::Parse(std::string("User-agent: *\n") + std::string(rules), "vedette").Allows(path);
}

TEST(Robots, WithoutARuleEverythingIsAllowed) {
  EXPECT_TRUE(Robots().Allows("/"));
  EXPECT_TRUE(Robots::Parse("", "vedette").Allows("/x"));
  EXPECT_TRUE(Allows("Disallow:\n", "/x"));
}

TEST(Robots, TheLongestRuleWinsAndOfEqualOnesAllow) {
  EXPECT_FALSE(Allows("Disallow: /\n", "/team"));
  EXPECT_TRUE(Allows("Disallow: /\nAllow: /team\n", "/team/ann"));
  EXPECT_TRUE(Allows("Disallow: /team\nAllow: /team\n", "/team"));
  EXPECT_FALSE(Allows("Allow: /t\nDisallow: /team\n", "/team"));
}

TEST(Robots, StarsAndTheEndAreKnown) {
  EXPECT_FALSE(Allows("Disallow: /*.php$\n", "/a/b.php"));
  EXPECT_TRUE(Allows("Disallow: /*.php$\n", "/a/b.php?x=1"));
  EXPECT_FALSE(Allows("Disallow: /*/private/*\n", "/a/private/b"));
  EXPECT_TRUE(Allows("Disallow: /x$\n", "/xy"));
}

// RFC 9309, 2.2.2.
TEST(Robots, PathsAndRulesAreComparedAsTheyMeanNotAsTheyAreSpelled) {
  for (const char* path : {"/private/a", "/pr%69vate/a", "/public/../private/a", "/./private/a",
                           "/public/%2E%2e/private/a", "/%70rivate/"}) {
    EXPECT_FALSE(Allows("Disallow: /private/\n", path)) << path;
    EXPECT_FALSE(Allows("Disallow: /%70rivat%65/\n", path)) << path;
  }
  for (const char* path : {"/caf\xC3\xA9", "/caf%C3%A9", "/caf%c3%a9"}) {
    EXPECT_FALSE(Allows("Disallow: /caf\xC3\xA9\n", path)) << path;
    EXPECT_FALSE(Allows("Disallow: /caf%c3%A9\n", path)) << path;
  }
  EXPECT_FALSE(Allows("Disallow: /a b\n", "/a%20b"));
  EXPECT_TRUE(Allows("Disallow: /a/b\n", "/a%2Fb")) << "an encoded / divides nothing";
  EXPECT_FALSE(Allows("Disallow: /a%2fb\n", "/a%2Fb"));
  EXPECT_FALSE(Allows("Disallow: /a-%2A.html\n", "/a-*.html"));
  EXPECT_TRUE(Allows("Disallow: /a-%2A.html\n", "/a-b.html"));
  EXPECT_FALSE(Allows("Disallow: /a%24b\n", "/a$b"));
  EXPECT_FALSE(Allows("Disallow: /a$b\n", "/a%24b"));
  EXPECT_FALSE(Allows("Disallow: /a?x=../b\n", "/a?x=../b")) << "a query has no segments";
  EXPECT_TRUE(Allows("Disallow: /100%\n", "/100"));
  EXPECT_FALSE(Allows("Disallow: /100%\n", "/100%"));
}

// Both come from a site: a file of 60 kB against a link of 120 kB would hold the loop for seconds.
TEST(Robots, G10_APathThatTakesTooLongToFindOutAboutIsNotAllowed) {
  const std::string rule = "Disallow: /*" + std::string(60'000, 'a') + "b\n";
  EXPECT_FALSE(Allows(rule, '/' + std::string(120'000, 'a')));
  EXPECT_TRUE(Allows(rule, "/team/ann"));
  EXPECT_FALSE(Allows(rule + "Allow: /team\n", "/team/" + std::string(120'000, 'a')));
}

TEST(Robots, OurGroupCountsElseThatOfEverybody) {
  constexpr std::string_view kText =
      "# a comment\r\nUser-agent: *\r\nDisallow: /\r\n\r\nUser-Agent: Other\nUSER-AGENT: "
      "Vedette/1.0\nDisallow: /only\n";
  EXPECT_TRUE(Robots::Parse(kText, "vedette").Allows("/x"));
  EXPECT_FALSE(Robots::Parse(kText, "vedette").Allows("/only"));
  EXPECT_FALSE(Robots::Parse(kText, "another").Allows("/x"));
}

TEST(Robots, AHostilePatternCostsLittle) {
  std::string stars = "Disallow: /";
  for (int i = 0; i < 1000; ++i) stars += "*a";
  EXPECT_TRUE(Allows(stars + "b$\n", std::string("/") + std::string(2000, 'a')));
}

}  // namespace
}  // namespace vedette::html
