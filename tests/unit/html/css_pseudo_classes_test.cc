// What the conditions match is in css_to_xpath_test.cc and css_differential_test.py; here is what
// they are, and what is refused.
#include "html/css_syntax.h"

#include <gtest/gtest.h>

#include "html/html_document.h"

namespace vedette::html {
namespace {

using Kind = CssToken::Kind;

// The condition, or "error: " and the message.
std::string Condition(const PseudoClass& pseudo) {
  const auto condition = PseudoClassCondition(pseudo);
  if (const auto* error = std::get_if<PseudoClassError>(&condition)) {
    return "error: " + error->message;
  }
  return std::get<std::string>(condition);
}

std::string Simple(const std::string& name, const std::string& element = "*") {
  return Condition({name, {}, false, element});
}

// The argument of a function of one token; a text of digits and letters is what it would be cut
// into.
std::string Functional(const std::string& name, const std::string& argument,
                       const std::string& element = "*") {
  return Condition({name, {{Kind::kIdent, argument, 1}}, true, element});
}

TEST(XPathLiterals, HoldEveryQuotationMark) {
  EXPECT_EQ(XPathLiteral(""), "''");
  EXPECT_EQ(XPathLiteral("a\"b"), "'a\"b'");
  EXPECT_EQ(XPathLiteral("it's"), "\"it's\"");
  EXPECT_EQ(XPathLiteral("'\""), R"(concat("'",'"'))");
  EXPECT_EQ(XPathLiteral("a'b\"c"), R"(concat('a',"'",'b"c'))");
  EXPECT_EQ(XPathLiteral("\"''"), R"(concat('"',"''"))");
}

TEST(XPathLiterals, AreReadBackByXPath) {
  const auto document = HtmlDocument::Parse("<p>x</p>");
  for (const std::string text : {"plain", "it's", "say \"no\"", "it's \"so\"", "''\"\"''", "\"'"}) {
    ExtractionStop stop;
    const auto found = std::get<HtmlDocument>(document).First(
        {"string(" + XPathLiteral(text) + ")"}, false, "", stop);
    EXPECT_EQ(found.value, text);
  }
}

TEST(PseudoClasses, OfPositionAskForASibling) {
  EXPECT_EQ(Simple("first-child"), "not(preceding-sibling::*[1])");
  EXPECT_EQ(Simple("last-child"), "not(following-sibling::*[1])");
  EXPECT_EQ(Simple("only-child"),
            "parent::* and not(preceding-sibling::*[1]) and not(following-sibling::*[1])");
  EXPECT_EQ(Simple("first-of-type", "p"), "not(preceding-sibling::p[1])");
  EXPECT_EQ(Simple("last-of-type", "p"), "not(following-sibling::p[1])");
  EXPECT_EQ(Simple("root"), "not(parent::*)");
  EXPECT_EQ(Simple("scope"), Simple("root"));
  EXPECT_EQ(Simple("empty"), "not(*) and not(string-length())");
}

TEST(PseudoClasses, ThatNeedAReaderMatchNothing) {
  for (const char* name : {"visited", "hover", "active", "focus", "target"}) {
    EXPECT_EQ(Simple(name), "false()") << name;
  }
}

TEST(PseudoClasses, OfATypeNeedTheElementsName) {
  for (const char* name : {"first-of-type", "last-of-type", "only-of-type"}) {
    EXPECT_EQ(Simple(name),
              std::string("error: :") + name + " needs an element name before it, as in p:" + name);
  }
  for (const char* name : {"nth-of-type", "nth-last-of-type"}) {
    EXPECT_EQ(Functional(name, "odd"),
              std::string("error: :") + name + " needs an element name before it, as in p:" + name);
  }
}

TEST(PseudoClasses, ThatAreNotKnownAreErrors) {
  EXPECT_EQ(Simple("before"), "error: the pseudo-class :before is not known");
  EXPECT_EQ(Functional("matches", "a"), "error: the pseudo-class :matches() is not known");
  EXPECT_EQ(Simple("nth-child"), "error: the pseudo-class :nth-child is not known")
      << "a function without its arguments";
  EXPECT_EQ(Functional("first-child", "1"), "error: the pseudo-class :first-child() is not known");
}

// What an+b selects; fixed positions are asked by position and not counted.
TEST(PseudoClasses, OfASeriesAskForItsSiblings) {
  const std::pair<const char*, const char*> cases[] = {
      {"1", "not(preceding-sibling::*[1])"},
      {"3", "preceding-sibling::*[2] and not(preceding-sibling::*[3])"},
      {"+3", "preceding-sibling::*[2] and not(preceding-sibling::*[3])"},
      {"0", "false()"},
      {"-1", "false()"},
      {"n", "true()"},
      {"n+1", "true()"},
      {"n+4", "preceding-sibling::*[3]"},
      {"-n+3", "not(preceding-sibling::*[3])"},
      {"-n", "false()"},
      {"odd", "(count(preceding-sibling::*) + 0) mod 2 = 0"},
      {"2n+1", "(count(preceding-sibling::*) + 0) mod 2 = 0"},
      {"even", "(count(preceding-sibling::*) + 1) mod 2 = 0"},
      {"2n", "(count(preceding-sibling::*) + 1) mod 2 = 0"},
      {"+2N+0", "(count(preceding-sibling::*) + 1) mod 2 = 0"},
      {"3n+5", "preceding-sibling::*[4] and (count(preceding-sibling::*) + 2) mod 3 = 0"},
      {"-2n+5", "not(preceding-sibling::*[5]) and (count(preceding-sibling::*) + 0) mod 2 = 0"},
      {"0n+2", "preceding-sibling::*[1] and not(preceding-sibling::*[2])"},
  };
  for (const auto& [series, condition] : cases) {
    EXPECT_EQ(Functional("nth-child", series), condition) << series;
  }
  EXPECT_EQ(Functional("nth-last-child", "1"), "not(following-sibling::*[1])");
  EXPECT_EQ(Functional("nth-of-type", "1", "p"), "not(preceding-sibling::p[1])");
  EXPECT_EQ(Functional("nth-last-of-type", "n+2", "p"), "following-sibling::p[1]");
}

TEST(PseudoClasses, ASeriesIsPutTogetherFromItsTokens) {
  EXPECT_EQ(Condition({"nth-child",
                       {{Kind::kNumber, "-2", 1}, {Kind::kIdent, "n", 3}, {Kind::kNumber, "+5", 4}},
                       true,
                       "*"}),
            Functional("nth-child", "-2n+5"));
  EXPECT_EQ(Condition({"nth-child", {{Kind::kString, "2n", 1}}, true, "*"}),
            "error: :nth-child() takes a number, odd, even or an+b, as in 2n+1");
}

TEST(PseudoClasses, ASeriesThatIsNoneOrTooLargeIsAnError) {
  for (const char* series : {"", "x", "2.5", "2n+", "++1", "2nn", "1000001", "-1000001",
                             "99999999999", "1000001n", "2n+1000001", "oddly"}) {
    EXPECT_EQ(Functional("nth-child", series),
              "error: :nth-child() takes a number, odd, even or an+b, as in 2n+1")
        << series;
  }
  EXPECT_EQ(Functional("nth-child", "1000000"),
            "preceding-sibling::*[999999] and not(preceding-sibling::*[1000000])");
}

TEST(PseudoClasses, ThatLookForATextTakeOne) {
  EXPECT_EQ(Functional("contains", "a'b"), "contains(., \"a'b\")");
  EXPECT_EQ(Condition({"contains", {{Kind::kString, "a b", 1}}, true, "*"}), "contains(., 'a b')");
  const std::string lang = Functional("lang", "DE");
  EXPECT_NE(lang.find("'de-'"), std::string::npos) << lang;
  for (const char* name : {"contains", "lang"}) {
    const std::string error = std::string("error: :") + name + "() takes one string";
    EXPECT_EQ(Condition({name, {}, true, "*"}), error);
    EXPECT_EQ(Condition({name, {{Kind::kNumber, "1", 1}}, true, "*"}), error);
    EXPECT_EQ(Condition({name, {{Kind::kIdent, "a", 1}, {Kind::kIdent, "b", 3}}, true, "*"}),
              error);
  }
}

TEST(PseudoClasses, OfALanguageMatchItAndItsRegions) {
  const auto document = HtmlDocument::Parse(
      "<p lang=de>1</p><p lang=DE-CH><b>2</b></p><p lang=den>3</p><p>4</p><p lang=en>5</p>");
  ExtractionStop stop;
  const auto all = std::get<HtmlDocument>(document).Every({"//p[" + Functional("lang", "de") + "]"},
                                                          false, "", stop, TextView::kWhole, 1000);
  EXPECT_EQ(all.texts, (std::vector<std::string>{"1", "2"}));
}

}  // namespace
}  // namespace vedette::html
