// What the selectors match is compared with cssselect in css_differential_test.py; here are the
// errors, the limits, and what cssselect does not know.
#include "html/css_to_xpath.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "html/html_document.h"

namespace vedette::html {
namespace {

std::string First(std::string_view html, std::string_view css) {
  const auto translated = CssToXPath(css);
  if (const auto* error = std::get_if<SelectorSyntaxError>(&translated)) return error->message;
  const auto document = HtmlDocument::Parse(html);
  ExtractionStop stop;
  const auto found =
      std::get<HtmlDocument>(document).First(std::get<0>(translated), true, "", stop);
  if (found.kind == HtmlFinding::Kind::kBadExpression) return "bad: " + found.message;
  return found.kind == HtmlFinding::Kind::kFound ? found.value.get<std::string>() : "-";
}

TEST(CssToXPath, ErrorsNameThePosition) {
  struct Case {
    const char* css;
    std::size_t position;
    const char* message;
  };
  const Case cases[] = {
      {"", 1, "got the end"},
      {"  ", 3, "got the end"},
      {"a,", 3, "got the end"},
      {"a > > b", 5, "expected a selector, got '>'"},
      {"> a", 1, "expected a selector"},
      {"a[", 3, "expected a name"},
      {"a[b", 4, "expected an operator"},
      {"a[b=", 5, "expected a string or a name"},
      {"a[b=c d]", 7, "expected ']', i or s"},
      {"a[b=1]", 5, "expected a string or a name"},
      {"a.", 3, "expected a name"},
      {"a.1", 2, "expected a selector"},
      {"a#", 2, "got '#'"},
      {"a {", 3, "got '{'"},
      {"a)", 2, "got ')'"},
      {"a:nope", 3, ":nope is not known"},
      {"a:nope(1)", 3, ":nope() is not known"},
      {"a::before", 3, "::before"},
      {"a:after", 3, "::after"},
      {"a:not(", 7, "got the end"},
      {"a:not(b", 8, "expected ')'"},
      {"a:nth-child(x)", 3, "takes a number"},
      {"a:nth-child()", 3, "takes a number"},
      {"a:nth-child(2n+)", 3, "takes a number"},
      {"a:nth-child(99999999999)", 3, "takes a number"},
      {".a:first-of-type", 4, "needs an element name"},
      {"*:nth-of-type(2)", 3, "needs an element name"},
      {"a:contains()", 3, "takes one string"},
      {"\xC3\xA9 \"x", 3, "not closed"},
      {"svg|a", 1, "namespaces"},
      {"a[x|b]", 3, "namespaces"},
  };
  for (const Case& c : cases) {
    const auto result = CssToXPath(c.css);
    const auto* error = std::get_if<SelectorSyntaxError>(&result);
    ASSERT_NE(error, nullptr) << c.css;
    EXPECT_EQ(error->position, c.position) << c.css << ": " << error->message;
    EXPECT_NE(error->message.find(c.message), std::string::npos) << c.css << ": " << error->message;
  }
}

TEST(CssToXPath, MatchesBeyondCssselect) {
  constexpr std::string_view kPage =
      "<div class='a x'>1</div><div class=b data-k=FooBar>2</div><p class='a b'><i><b>3</b></i></p>"
      "<p><b>4</b></p><h2>5</h2><p>6</p>";
  const std::pair<const char*, const char*> cases[] = {
      {"[data-k=foobar i]", "2"},
      {"[data-k^=FOO i]", "2"},
      {"[data-k=foobar]", "-"},
      {"[data-k=foobar s]", "-"},
      {"[nope='' i]", "-"},
      {".a:is(.b, .c)", "3"},
      {"p:not(.a, .c)", "4"},
      {"p:not(.a):not(:has(b))", "6"},
      {":is(p > b)", "4"},
      {"b:not(i > b)", "4"},
      {"p:has(> b)", "4"},
      {"p:has(b)", "3"},
      {"p:has(+ h2)", "4"},
      {"div:has(~ h2)", "1"},
      {"p:has(i > b)", "3"},
      {"h2:has(b)", "-"},
      {":scope > body > h2", "5"},
      {"*|h2", "5"},
      {"|h2", "5"},
      {"div:nth-child(2)/* x */", "2"},
  };
  for (const auto& [css, expected] : cases) EXPECT_EQ(First(kPage, css), expected) << css;
}

TEST(CssToXPath, LimitsHold) {
  const auto fails = [](const std::string& css) {
    return std::holds_alternative<SelectorSyntaxError>(CssToXPath(css));
  };
  EXPECT_TRUE(fails(std::string(kCssSelectorBytesMax + 1, 'a')));
  EXPECT_FALSE(fails(std::string(kCssSelectorBytesMax, 'a')));
  EXPECT_TRUE(fails(std::string("a\0b", 3)));
  const auto nested = [](int depth) {
    std::string css;
    for (int i = 0; i < depth; ++i) css += ":not(";
    return css + "a" + std::string(static_cast<std::size_t>(depth), ')');
  };
  EXPECT_FALSE(fails(nested(kCssNestingMax)));
  EXPECT_TRUE(fails(nested(kCssNestingMax + 1)));
}

// The longest selectors of each kind either work or say no; they do not crash or hang.
TEST(CssToXPath, LongSelectorsAreBounded) {
  for (const std::string unit : {"a ", "a>", "a+", "a~", ".b", ":not(a)", "[c]", "a,", "* "}) {
    std::string css;
    while (css.size() + unit.size() < kCssSelectorBytesMax - 1) css += unit;
    css += 'a';
    std::string page;
    for (int i = 0; i < 60; ++i) page += "<a><div>";
    page += 'x';
    const std::string found = First(page, css);
    EXPECT_TRUE(found == "-" || found == "x" || found == "bad: the expression is nested too deep")
        << unit << ": " << found;
  }
}

TEST(CssToXPath, AnyBytesAreParsedOrRefused) {
  constexpr std::string_view kAlphabet = "a1.#[]()=:,>+~*|\"'\\ n-/@i^$";
  std::uint32_t state = 1;
  int valid = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string css;
    for (int k = 0; k < 12; ++k) {
      state = state * 1664525 + 1013904223;
      css += kAlphabet[(state >> 16) % kAlphabet.size()];
    }
    const auto result = CssToXPath(css);
    if (const auto* error = std::get_if<SelectorSyntaxError>(&result)) {
      EXPECT_GE(error->position, 1U);
      EXPECT_LE(error->position, css.size() + 1) << css;
      continue;
    }
    ++valid;
    for (const auto& xpath : std::get<0>(result)) EXPECT_FALSE(CheckXPath(xpath)) << css << xpath;
  }
  EXPECT_GT(valid, 0);
}

}  // namespace
}  // namespace vedette::html
