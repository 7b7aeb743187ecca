#include "domain/field_description.h"

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

TEST(FieldDescription, AllElseIsProse) {
  for (const char* text : {"the current chief executive", "CSS:.price", "text of the headline",
                           "Text", "price in css: units", ""}) {
    ExpectParsed(text, Kind::kProse, text);
  }
}

TEST(FieldDescription, APrefixWithNothingBehindIsStillThatLanguage) {
  ExpectParsed("css:", Kind::kCss, "");
  ExpectParsed("json:  ", Kind::kJson, "");
}

}  // namespace
}  // namespace vedette::domain
