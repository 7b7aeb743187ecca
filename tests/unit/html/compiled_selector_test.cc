// What compiled selectors find is in selector_test.cc; here is what they are compiled to, and what
// is refused at which place.
#include "html/compiled_selector.h"
#include "base/json.h"

#include <gtest/gtest.h>

#include "html/selector.h"
#include "tests/support/repeated.h"

namespace vedette::html {
namespace {

using Texts = std::vector<std::string>;
using vedette::test::Repeated;

std::variant<Selector, CompileError> Compile(const std::string& description) {
  return CompileSelector(domain::ParseFieldDescription(description));
}

template <typename Kind>
Kind As(const std::string& description) {
  auto compiled = Compile(description);
  if (const auto* error = std::get_if<CompileError>(&compiled)) {
    ADD_FAILURE() << description << ": " << error->message;
    throw std::runtime_error(error->message);
  }
  return std::get<Kind>(std::get<Selector>(std::move(compiled)));
}

// "<position>: <message>", or "compiled".
std::string Error(const std::variant<Selector, CompileError>& compiled) {
  const auto* error = std::get_if<CompileError>(&compiled);
  if (error == nullptr) return "compiled";
  return std::to_string(error->position) + ": " + error->message;
}
std::string Error(const std::string& description) {
  return Error(Compile(description));
}

TEST(CompiledSelector, OfCssHasItsNamesForHtmlAndForXml) {
  const auto selector = As<HtmlSelector>("css:Entry > Title, b @Data-Id");
  EXPECT_TRUE(selector.css);
  EXPECT_EQ(selector.attribute, "Data-Id");
  EXPECT_FALSE(selector.is_reference);
  ASSERT_EQ(selector.expressions.size(), 2U) << "one an alternative";
  ASSERT_EQ(selector.xml_expressions.size(), 2U);
  EXPECT_NE(selector.expressions[0].find("title"), std::string::npos);
  EXPECT_EQ(selector.expressions[0].find("Title"), std::string::npos);
  EXPECT_NE(selector.xml_expressions[0].find("Title"), std::string::npos);
}

TEST(CompiledSelector, OfXPathIsTheExpressionAsItIs) {
  const auto selector = As<HtmlSelector>("xpath: //h1[1] ");
  EXPECT_EQ(selector.expressions, Texts{"//h1[1]"});
  EXPECT_EQ(selector.xml_expressions, Texts{});
  EXPECT_FALSE(selector.css);
  EXPECT_EQ(selector.attribute, "");
}

TEST(CompiledSelector, OfMetaLooksWhereItsNameStands) {
  EXPECT_EQ(As<HtmlSelector>("meta:Title").expressions, Texts{"//title"});
  EXPECT_FALSE(As<HtmlSelector>("meta:title").is_reference);
  EXPECT_TRUE(As<HtmlSelector>("meta:canonical").is_reference);
  const auto named = As<HtmlSelector>("meta:OG:Image").expressions;
  ASSERT_EQ(named.size(), 1U);
  for (const char* attribute : {"@property", "@name", "@itemprop", "'og:image'", "/@content"}) {
    EXPECT_NE(named[0].find(attribute), std::string::npos) << named[0];
  }
}

TEST(CompiledSelector, OfARegexTakesTheGroupOfTheValueElseTheFirst) {
  EXPECT_EQ(As<RegexSelector>("regex:v[0-9]+").group, 0);
  EXPECT_EQ(As<RegexSelector>("regex:v(?:[0-9])+").group, 0);
  EXPECT_EQ(As<RegexSelector>("regex:(v)([0-9]+)").group, 1);
  EXPECT_EQ(As<RegexSelector>("regex:(v)(?P<value>[0-9]+)").group, 2);
  EXPECT_EQ(As<RegexSelector>("regex:(?P<other>v)([0-9]+)").group, 1);
}

TEST(CompiledSelector, OfJsonLdHasATypeBeforeItsPath) {
  EXPECT_EQ(As<JsonLdSelector>("jsonld:Product $.offers.price").type, "Product");
  EXPECT_EQ(As<JsonLdSelector>("jsonld:$.offers").type, "");
  const base::Json document = base::ParseJsonOrThrow(R"({"a": [1, {"b": 7}]})");
  EXPECT_EQ(*As<JsonLdSelector>("jsonld:T $.a[0]").path.First(document).value, 1);
  EXPECT_EQ(*As<JsonSelector>("json:$.a[1].b").path.First(document).value, 7);
}

TEST(CompiledSelector, OfTextHasNothingButItsFilters) {
  EXPECT_EQ(As<TextSelector>("text").filters.form, Form::kWhole);
  EXPECT_EQ(As<TextSelector>("text | hash").filters.form, Form::kHash);
}

TEST(CompiledSelector, HasWhatItsFiltersSay) {
  struct Case {
    const char* filters;
    Pick pick;
    Form form;
    std::optional<DecimalMark> mark;
  };
  const Case cases[] = {
      {"", Pick::kFirst, Form::kWhole, {}},
      {" | first", Pick::kFirst, Form::kWhole, {}},
      {" | all", Pick::kAll, Form::kWhole, {}},
      {" | count", Pick::kCount, Form::kWhole, {}},
      {" | text", Pick::kFirst, Form::kVisible, {}},
      {" | lines | all", Pick::kAll, Form::kLines, {}},
      {" | first | hash", Pick::kFirst, Form::kHash, {}},
      {" | number", Pick::kFirst, Form::kNumber, {}},
      {" | all | number(de)", Pick::kAll, Form::kNumber, DecimalMark::kComma},
      {" | number(en-US)", Pick::kFirst, Form::kNumber, DecimalMark::kPoint},
  };
  for (const char* kind : {"css:p", "xpath://p"}) {
    for (const Case& c : cases) {
      const Filters filters = As<HtmlSelector>(kind + std::string(c.filters)).filters;
      EXPECT_EQ(filters.pick, c.pick) << kind << c.filters;
      EXPECT_EQ(filters.form, c.form) << kind << c.filters;
      EXPECT_EQ(filters.mark, c.mark) << kind << c.filters;
    }
  }
  EXPECT_EQ(As<JsonSelector>("json:$.a | number(fr)").filters.mark, DecimalMark::kComma);
  EXPECT_EQ(As<RegexSelector>("regex:a(b) | hash").filters.form, Form::kHash);
}

TEST(CompiledSelector, FiltersThatMakeNoSenseAreRefusedAtTheSelectorsEnd) {
  const std::pair<const char*, const char*> cases[] = {
      {"css:p | last",
       "2: the filter 'last' is not known; there are first, all, count, text, "
       "lines, number and hash"},
      {"css:p | first | all", "2: the filter 'all' contradicts one before it"},
      {"css:p | first | first", "2: the filter 'first' contradicts one before it"},
      {"css:p | number | hash", "2: the filter 'hash' contradicts one before it"},
      {"css:p | count | number", "2: count goes with no attribute and no other filter"},
      {"css:p @href | count", "2: count goes with no attribute and no other filter"},
      {"css:p @href | text", "2: text and lines go with no attribute"},
      {"css:p @href | lines", "2: text and lines go with no attribute"},
      {"json:$.a | all", "4: all, count and text go with css: and xpath: alone"},
      {"regex:abc | text", "4: all, count and text go with css: and xpath: alone"},
      {"text | count", "1: all, count and text go with css: and xpath: alone"},
      {"meta:title | lines", "6: lines goes with css:, xpath: and text alone"},
      {"css:p | all(de)", "2: the filter 'all' takes no language"},
      {"css:p | number(tlh)",
       "2: how numbers are written in 'tlh' is not known; write number(en) or number(de)"},
      {"css:[t='\xC3\xA4'] | last",
       "8: the filter 'last' is not known; there are first, all, "
       "count, text, lines, number and hash"},
  };
  for (const auto& [description, error] : cases) EXPECT_EQ(Error(description), error);
}

TEST(CompiledSelector, AnErrorHasThePlaceInItsSelector) {
  EXPECT_EQ(Error("css:"), "1: there is nothing behind the prefix");
  EXPECT_EQ(Error("jsonld: "), "1: there is nothing behind the prefix");
  EXPECT_EQ(Error("css:a > > b"), "5: expected a selector, got '>'");
  EXPECT_EQ(Error("xpath://p[").substr(0, 3), "5: ");
  EXPECT_EQ(Error("json:a"), "1: a JSON path begins with $, as in $.price");
  EXPECT_EQ(Error("json:$.a[?@.b]"), "5: filters ([?...]) are not supported");
  EXPECT_EQ(Error("jsonld:Product $.a[?@.b]"), "13: filters ([?...]) are not supported")
      << "behind the type";
  EXPECT_EQ(Error("jsonld:Prod-uct $.a"),
            "5: a type is letters and digits, as in `Product $.offers.price`");
  EXPECT_EQ(Error("meta:og title"), "3: a name is letters, digits, ':', '.', '_' and '-'");
  EXPECT_EQ(Error("regex:\xC3\xA4[b").substr(0, 3), "2: ") << "positions count characters";
  EXPECT_EQ(
      Error(CompileSelector({domain::FieldDescription::Kind::kRegex, std::string("a\0b", 3), ""})),
      "2: a NUL character is not allowed");
}

TEST(CompiledSelector, NodeSetsThatAreComparedAreRefused) {
  EXPECT_EQ(Error("xpath://p[. = //b]").find("two node-sets are compared"), 3U);
  EXPECT_EQ(Error("xpath://p[. = string(//b)]"), "compiled");
}

TEST(CompiledSelector, G11LimitsHold) {
  EXPECT_EQ(Error("xpath:'" + std::string(kXPathBytesMax - 2, 'x') + "'"), "compiled");
  EXPECT_EQ(Error("xpath:'" + std::string(kXPathBytesMax - 1, 'x') + "'"),
            "1: the expression is longer than 4096 bytes");
  EXPECT_EQ(Error("regex:" + std::string(kRegexBytesMax, 'x')), "compiled");
  EXPECT_EQ(Error("regex:" + std::string(kRegexBytesMax + 1, 'x')),
            "1: the pattern is longer than 2048 bytes");
  EXPECT_NE(Error("regex:((x{100}){100}){100}"), "compiled") << "it would take too much memory";
  EXPECT_EQ(Error("meta:" + std::string(200, 'm')), "compiled");
  EXPECT_NE(Error("meta:" + std::string(201, 'm')), "compiled");
  EXPECT_NE(Error("css:" + Repeated("a", kCssSelectorBytesMax + 1)), "compiled");
}

}  // namespace
}  // namespace vedette::html
