#include "domain/monitor/field_description.h"

#include <gtest/gtest.h>

#include <string>

namespace vedette::domain {
namespace {

using Kind = FieldDescription::Kind;

void ExpectParsed(const std::string& description, Kind kind, const std::string& selector,
                  const std::string& attribute = "") {
  const FieldDescription parsed = ParseFieldDescription(description);
  EXPECT_EQ(parsed.kind, kind) << description;
  EXPECT_EQ(parsed.selector, selector) << description;
  EXPECT_EQ(parsed.attribute, attribute) << description;
}

TEST(FieldDescription, APrefixNamesTheLanguage) {
  ExpectParsed("css:.price", Kind::kCss, ".price");
  ExpectParsed("xpath://h1/@title", Kind::kXPath, "//h1/@title");
  ExpectParsed("json:$.price", Kind::kJson, "$.price");
  ExpectParsed("jsonld:Product $.price", Kind::kJsonLd, "Product $.price");
  ExpectParsed("regex:v([0-9.]+)", Kind::kRegex, "v([0-9.]+)");
  ExpectParsed("text", Kind::kText, "");
}

TEST(FieldDescription, WhiteSpaceAroundIsIgnored) {
  ExpectParsed(" \tcss:  h1 > a \n", Kind::kCss, "h1 > a");
  ExpectParsed("  text ", Kind::kText, "");
}

TEST(FieldDescription, CssMayEndInAnAttribute) {
  ExpectParsed("css:.price @data-amount", Kind::kCss, ".price", "data-amount");
  ExpectParsed("css: a.next   @href ", Kind::kCss, "a.next", "href");
  ExpectParsed("css:use @xlink:href", Kind::kCss, "use", "xlink:href");
}

TEST(FieldDescription, AnAtElsewhereBelongsToTheSelector) {
  ExpectParsed("css:[href=\"mailto:a@b.example\"]", Kind::kCss, "[href=\"mailto:a@b.example\"]");
  ExpectParsed("css:[title=\"a @b\"]", Kind::kCss, "[title=\"a @b\"]");
  ExpectParsed("css:.price@href", Kind::kCss, ".price@href");
  ExpectParsed("css:.price @", Kind::kCss, ".price @");
  ExpectParsed("regex:by @name", Kind::kRegex, "by @name");
}

TEST(FieldDescription, FiltersStandBehindBars) {
  using Words = std::vector<std::string>;
  const auto parsed = ParseFieldDescription("css:.price @data-amount | all|number");
  EXPECT_EQ(parsed.selector, ".price");
  EXPECT_EQ(parsed.filters, (Words{"all", "number"})) << "also without white space";
  const auto spaced = ParseFieldDescription("css: .price  @data-amount |all | number ");
  EXPECT_EQ(spaced.selector, ".price");
  EXPECT_EQ(spaced.attribute, "data-amount");
  EXPECT_EQ(spaced.filters, (Words{"all", "number"}));
  EXPECT_EQ(ParseFieldDescription("css:p | nonsense").filters, (Words{"nonsense"}));
  ExpectParsed("css:[lang|=en]", Kind::kCss, "[lang|=en]");
  ExpectParsed("css:p:contains(\"a | first\")", Kind::kCss, "p:contains(\"a | first\")");
  ExpectParsed("css:svg|rect", Kind::kCss, "svg|rect");
  ExpectParsed("xpath://a | //b", Kind::kXPath, "//a | //b");
  ExpectParsed("regex:a | b", Kind::kRegex, "a | b");
  EXPECT_EQ(ParseFieldDescription("text | hash").filters, (Words{"hash"}));
  for (const char* description :
       {"css:.now|number(de)", "xpath://span | number(de)", "json:$.a|number(de)",
        "regex:p=(.*) | number(de)", "meta:price |number(de)", "text|number(de)"}) {
    EXPECT_EQ(ParseFieldDescription(description).filters, (Words{"number(de)"})) << description;
  }
  ExpectParsed("regex:a|number", Kind::kRegex, "a|number");
  ExpectParsed("xpath://li|//all", Kind::kXPath, "//li|//all");
  ExpectParsed("text | hash", Kind::kText, "");
  ExpectParsed("text | image", Kind::kProse, "text | image");
}

TEST(FieldDescription, MetaNamesWhatThePageSaysOfItself) {
  ExpectParsed("meta:og:title", Kind::kMeta, "og:title");
  ExpectParsed(" meta: canonical ", Kind::kMeta, "canonical");
}

TEST(FieldDescription, AllElseIsProse) {
  for (const char* text : {"the current chief executive", "CSS:.price", "text of the headline",
                           "Text", "price in css: units", ""}) {
    ExpectParsed(text, Kind::kProse, text);
  }
}

TEST(FieldDescription, ASelectorWithoutItsPrefixIsRecognised) {
  EXPECT_EQ(MeantSelector(" .price "), "css:.price");
  EXPECT_EQ(MeantSelector("#main h1"), "css:#main h1");
  EXPECT_EQ(MeantSelector("h1"), "css:h1");
  EXPECT_EQ(MeantSelector("//h1"), "xpath://h1");
  EXPECT_EQ(MeantSelector("$.offers[0].price"), "json:$.offers[0].price");
  for (const char* prose : {"the price", "price", "...", "#1 reason", "a of b", ""}) {
    EXPECT_EQ(MeantSelector(prose), std::nullopt) << prose;
  }
}

TEST(FieldDescription, APrefixWithNothingBehindIsStillThatLanguage) {
  ExpectParsed("css:", Kind::kCss, "");
  ExpectParsed("json:  ", Kind::kJson, "");
}

}  // namespace
}  // namespace vedette::domain
