#include "html/selector.h"
#include "base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/crypto.h"
#include "base/text.h"

namespace vedette::html {
namespace {

domain::ObservationResult Extract(const std::vector<domain::WatchedField>& watched,
                                  std::string body, std::string type = "text/html") {
  auto compiled = FieldSet::Compile(watched);
  if (auto* failure = std::get_if<domain::Failure>(&compiled)) return *failure;
  ExtractionStop stop;
  return std::get<FieldSet>(compiled).Extract({std::move(body), std::move(type), "https://x/final"},
                                              stop);
}

// The value of one field; a failure as "class: message".
base::Json Value(const std::string& description, std::string body, std::string type = "text/html") {
  const auto result = Extract({{"f", description}}, std::move(body), std::move(type));
  if (const auto* failure = std::get_if<domain::Failure>(&result)) {
    EXPECT_FALSE(failure->retryable);
    return failure->error_class + ": " + failure->message;
  }
  return std::get<domain::Observation>(result).fields.at("f").value.Value();
}

bool Fails(const base::Json& value, std::string_view error_class, std::string_view part) {
  if (!value.is_string()) return false;
  const auto& text = value.get_ref<const std::string&>();
  return text.starts_with(error_class) && text.find(part) != std::string::npos;
}

constexpr const char* kShop =
    "<html><head><title>Shop v0.9</title></head><body><h1>Blue&nbsp; mug</h1>"
    "<span class=price data-Amount=' 12.50 '>12.50\n EUR</span><span class=price>99</span>"
    "<script>{\"stock\": 7}</script><a href=/next>v1.2.3 is out</a></body></html>";

TEST(Selector, EveryPrefixObserves) {
  EXPECT_EQ(Value("css:.price", kShop), "12.50 EUR");
  EXPECT_EQ(Value("css:.price @data-amount", kShop), "12.50");
  EXPECT_EQ(Value("css:.price @Data-Amount", kShop), "12.50");
  EXPECT_EQ(Value("css:a @href", kShop), "/next");
  EXPECT_EQ(Value("xpath://h1", kShop), "Blue mug");
  EXPECT_EQ(Value("xpath:count(//span)", kShop), 2);
  EXPECT_EQ(Value("regex:v([0-9.]+)", kShop), "0.9");
  EXPECT_EQ(Value("regex:v1[0-9.]+", kShop), "v1.2.3");
  EXPECT_EQ(Value("regex:\"stock\": (\\d+)", kShop), "7");
  EXPECT_EQ(Value("text", kShop), "Blue mug 12.50 EUR99 v1.2.3 is out");
  EXPECT_EQ(Value("json:$.a[1].b", R"({"a": [1, {"b": 2.5}]})", "application/json"), 2.5);
}

// The shell of an application that a browser would fill.
constexpr const char* kShell =
    "<html><head><title>Shop</title><meta name=sku content=M-17></head><body><div id=root></div>"
    "<noscript>You need JavaScript.</noscript><script src=/app.js></script></body></html>";

TEST(Selector, WhatScriptsWouldShowIsNotAbsent) {
  for (const char* description :
       {"css:.price", "css:.price | count", "css:.price | all", "css:#root", "xpath://h1",
        "meta:og:price", "text", "text | hash", "text | number"}) {
    EXPECT_TRUE(Fails(Value(description, kShell), "made_by_scripts", "'f'")) << description;
  }
  EXPECT_EQ(Value("meta:title", kShell), "Shop") << "what is sent is read";
  EXPECT_EQ(Value("meta:sku", kShell), "M-17");
  EXPECT_EQ(Value("css:#root | count", kShell), 1);
  EXPECT_TRUE(Value("regex:\"price\"", kShell).is_null()) << "the text as sent is all there is";

  const auto result = Extract({{"title", "meta:title"}, {"price", "css:.price"}}, kShell);
  const auto& seen = std::get<domain::Observation>(result);
  EXPECT_EQ(seen.fields.at("title").value.Value(), "Shop");
  EXPECT_FALSE(seen.fields.contains("price"));
  EXPECT_EQ(seen.unread.at("price").error_class, "made_by_scripts");
}

TEST(Selector, APageThatShowsSomethingOrHasNoScriptsIsReadAsItIs) {
  for (const char* page : {"<p>Sold out</p><script src=/app.js></script>", "<div id=root></div>",
                           "<div id=root></div><script type='application/ld+json'>{}</script>"}) {
    EXPECT_TRUE(Value("css:.price", page).is_null()) << page;
    EXPECT_EQ(Value("css:.price | count", page), 0) << page;
  }
}

TEST(Selector, FiltersPickAndFormWhatCssMatches) {
  const std::string list =
      "<ul><li>1,299.00 EUR</li><li> 12 <b>sold</b></li><li>none</li></ul><div id=d>See "
      "<script>x()</script><p>this</p></div><a href=/a>a</a><a>b</a>";
  EXPECT_EQ(Value("css:li | first", list), "1,299.00 EUR");
  EXPECT_EQ(Value("css:li | all", list), R"(["1,299.00 EUR","12 sold","none"])");
  EXPECT_EQ(Value("css:li | count", list), 3);
  EXPECT_EQ(Value("css:h6 | count", list), 0);
  EXPECT_EQ(Value("css:li | number", list), 1299);
  EXPECT_EQ(Value("css:li | all | number", list), "[1299,12]");
  EXPECT_EQ(Value("css:li | number | all", list), "[1299,12]");
  EXPECT_EQ(Value("css:#d", list), "See x()this");
  EXPECT_EQ(Value("css:#d | text", list), "See this");
  EXPECT_EQ(Value("css:b, li | all", list), R"(["1,299.00 EUR","12 sold","sold","none"])");
  EXPECT_EQ(Value("css:a @href | all", list), R"(["/a"])");
  EXPECT_EQ(Value("css:b | hash", list), base::HexEncode(base::Sha256("sold")));
  EXPECT_TRUE(Value("css:h6 | all", list).is_null());
  EXPECT_TRUE(Value("css:b | number", list).is_null()) << "without a number it is absent";
}

TEST(Selector, LinesKeepBlocksApartAndCellsTogether) {
  const std::string page =
      "<h1>Open\n jobs</h1><ul><li>Baker <b>(m/w)</b></li><li>Cook<script>x()</script></li></ul>"
      "<p>a<br>b</p><table><tr><td>1</td><td>2</td></tr><tr><td>3</td></tr></table>"
      "<pre>x\n  y</pre>";
  EXPECT_EQ(Value("text | lines", page), "Open jobs\nBaker (m/w)\nCook\na\nb\n1 2\n3\nx\ny");
  EXPECT_EQ(Value("css:ul | lines", page), "Baker (m/w)\nCook");
  EXPECT_EQ(Value("xpath://li | all | lines", page), R"x(["Baker (m/w)","Cook"])x");
  EXPECT_EQ(Value("css:h1|lines", page), "Open jobs");
  EXPECT_EQ(Value("text | lines", "a\r\n\n b  c \n", "text/plain"), "a\nb c");
  EXPECT_TRUE(Fails(Value("css:b @class | lines", page), "bad_selector", "no attribute"));
  EXPECT_TRUE(Fails(Value("regex:(J.*) | lines", page), "bad_selector", "text alone"));
}

TEST(Selector, FiltersStandBehindEverySelector) {
  const std::string page =
      "<html lang=de><head><meta property=price content='1.299'></head><body><p class=now>1.299"
      "</p><p>v 2.500 x</p></body></html>";
  for (const char* description :
       {"css:.now|number", "xpath://p[@class='now'] | number", "xpath://p|number",
        "regex:now>(.*?)</p | number", "meta:price | number", "css:.now | number(de)"}) {
    EXPECT_EQ(Value(description, page), 1299) << description;
  }
  EXPECT_EQ(Value("css:.now | number(en)", page), 1.299);
  EXPECT_EQ(Value("xpath://p | count", page), 2);
  EXPECT_EQ(Value("xpath://p | all", page), R"(["1.299","v 2.500 x"])");
  EXPECT_EQ(Value("json:$.p|number(de)", R"({"p": "1.299"})", "application/json"), 1299);
  EXPECT_EQ(Value("text|number", "<p>12 mugs</p>"), 12);
  EXPECT_TRUE(Value("css:p | number", "<p>1.299</p>").is_null()) << "the page does not say";
}

TEST(Selector, FiltersThatMakeNoSenseAreErrors) {
  for (const char* description : {"json:$.a | all", "regex:a | text", "text | count",
                                  "css:p | number(tlh)", "css:p | all(de)"}) {
    EXPECT_TRUE(Fails(Value(description, kShop), "bad_selector", "'f'")) << description;
  }
  for (const char* filters : {" | last", " | first | all", " | number | text", " | count | number",
                              " @href | count", " @href | text", " | first | first"}) {
    EXPECT_TRUE(Fails(Value("css:p" + std::string(filters), kShop), "bad_selector", "'f'"))
        << filters;
  }
}

TEST(Selector, G11AllOfAHugeListFailsRatherThanBeingCut) {
  std::string page;
  for (int i = 0; i < 20000; ++i) page += "<p>0123456789</p>";
  EXPECT_TRUE(Fails(Value("css:p | all", page), "bad_content", "longer than"));
  EXPECT_EQ(Value("css:p | count", page), 20000);
  std::string nested = std::string(1000, 'x');
  for (int i = 0; i < 1000; ++i) nested = "<div>" + nested;
  EXPECT_TRUE(Fails(Value("css:div | all", nested), "bad_content", "longer than"));
}

// Empty arrays of three bytes take thirty times as much in memory.
TEST(Selector, G11JsonOfTooManyValuesIsRefused) {
  const auto list = [](int n) {
    std::string body = "[7";
    for (int i = 0; i < n; ++i) body += ",[]";
    return body + "]";
  };
  EXPECT_EQ(Value("json:$[0]", list(1000), "application/json"), 7);
  EXPECT_TRUE(Fails(Value("json:$[0]", list(500'000), "application/json"), "bad_content",
                    "more than 500000 values"));
}

TEST(Selector, MetaReadsWhatThePageSaysOfItself) {
  const std::string page =
      "<head><title> Blue  mug </title><meta property='og:title' content='A mug'>"
      "<meta NAME=Description CONTENT=' Holds  tea '><link rel='nofollow CANONICAL' href='../mug'>"
      "<meta itemprop=price content=5></head>";
  EXPECT_EQ(Value("meta:title", page), "Blue mug");
  EXPECT_EQ(Value("meta:og:title", page), "A mug");
  EXPECT_EQ(Value("meta:OG:Title", page), "A mug");
  EXPECT_EQ(Value("meta:description", page), "Holds tea");
  EXPECT_EQ(Value("meta:canonical", page), "https://x/mug");
  EXPECT_EQ(Value("meta:canonical", "<base target=x><base href='/shop/'><base href=/y/>" + page),
            "https://x/mug");
  EXPECT_EQ(Value("meta:canonical", "<base href='//y/a/'><link rel=canonical href='b c'>"),
            "https://y/a/b%20c");
  EXPECT_EQ(Value("meta:canonical", "<base href='data:x'><link rel=canonical href=/b>"),
            "https://x/b");
  EXPECT_EQ(Value("meta:price", page), "5");
  EXPECT_TRUE(Value("meta:og:image", page).is_null());
  EXPECT_TRUE(Fails(Value("meta:a'b", page), "bad_selector", "at character 2"));
  EXPECT_TRUE(Fails(Value("meta:", page), "bad_selector", "nothing behind"));
}

TEST(Selector, AnInputNeedsNoTypeToBeDisabledOrEnabled) {
  const std::string page =
      "<input disabled><input><input type=hidden><input type=hidden disabled>"
      "<fieldset disabled><input></fieldset>";
  EXPECT_EQ(Value("css:input:disabled | count", page), 2);
  EXPECT_EQ(Value("css:input:enabled | count", page), 1);
}

TEST(Selector, TextHasAHashWhateverItsLength) {
  EXPECT_EQ(Value("text | hash", "<p>a</p> <p>b"), base::HexEncode(base::Sha256("a b")));
  const std::string huge = "<p>" + std::string(2 * domain::kValueBytesMax, 'x');
  EXPECT_TRUE(Fails(Value("text", huge), "bad_content", "longer than"));
  EXPECT_EQ(Value("text | hash", huge).get<std::string>().size(), 64U);
}

TEST(Selector, ARegexTakesItsGroup) {
  EXPECT_EQ(Value("regex:(?P<unit>v)(?P<value>[0-9.]+)", kShop), "0.9");
  EXPECT_EQ(Value("regex:(v)([0-9.]+)", kShop), "v");
  EXPECT_EQ(Value("regex:(?:v)([0-9.]+)", kShop), "0.9");
  EXPECT_EQ(Value("regex:v[0-9.]+", kShop), "v0.9");
}

TEST(Selector, WithoutAMatchAFieldIsAbsent) {
  EXPECT_TRUE(Value("css:.nope", kShop).is_null());
  EXPECT_TRUE(Value("css:h1 @class", kShop).is_null());
  EXPECT_TRUE(Value("xpath://nope", kShop).is_null());
  EXPECT_TRUE(Value("regex:nope", kShop).is_null());
  EXPECT_TRUE(Value("regex:Blue(x)?", kShop).is_null());
  EXPECT_TRUE(Value("json:$.nope", "{}").is_null());
  EXPECT_TRUE(Value("json:$.a", R"({"a": null})").is_null());
  EXPECT_TRUE(Value("css:p", "").is_null());
  EXPECT_EQ(Value("css:p", "<p> </p>"), "");
}

TEST(Selector, JsonScalarsStayAndTheRestIsText) {
  const std::string body = R"({"s": " a  b ", "n": 1.5, "t": true, "o": {"k": [1, 2]}})";
  EXPECT_EQ(Value("json:$.s", body), " a  b ");
  EXPECT_EQ(Value("json:$.n", body), 1.5);
  EXPECT_EQ(Value("json:$.t", body), true);
  EXPECT_EQ(Value("json:$.o", body), R"({"k":[1,2]})");
  EXPECT_EQ(Value("json:$.o.k", body), "[1,2]");
}

TEST(Selector, ObservationsHaveEvidenceAndTheirSource) {
  const auto result = Extract({{"price", "css:.price"}, {"gone", "css:.gone"}}, kShop);
  const auto& fields = std::get<domain::Observation>(result).fields;
  EXPECT_EQ(fields.at("price").sources, std::vector<std::string>{"https://x/final"});
  EXPECT_NE(fields.at("price").evidence.find("12.50 EUR"), std::string::npos);
  EXPECT_EQ(fields.at("gone").sources, std::vector<std::string>{"https://x/final"})
      << "which page it is absent from";
  const auto regex = Extract({{"v", "regex:v(1[0-9.]+)"}}, kShop);
  EXPECT_NE(std::get<domain::Observation>(regex).fields.at("v").evidence.find("v1.2.3 is out"),
            std::string::npos);
}

TEST(Selector, BadSelectorsNameFieldAndPosition) {
  for (const auto& [description, position] :
       {std::pair("css:a[", "at character 3"), std::pair("css:", "at character 1"),
        std::pair("xpath://a[", "at character 5"), std::pair("json:a", "at character 1"),
        std::pair("regex:ab(c", "at character"), std::pair("regex:(?<x>a)", "at character"),
        std::pair("regex:((a{1000}){1000}){1000}", "at character"), std::pair("regex:", "at"),
        std::pair("xpath://a[@b = ../@c]", "at character 8")}) {
    EXPECT_THAT(SelectorFault("f", description).value_or(""), testing::HasSubstr(position));
    const auto value = Value(description, kShop);
    EXPECT_TRUE(Fails(value, "bad_selector", "'f'")) << description << value;
    EXPECT_TRUE(Fails(value, "bad_selector", position)) << description << value;
  }
  EXPECT_TRUE(Fails(Value("xpath://a[nope()]", kShop), "bad_selector", "'f'"));
  for (const char* sound : {"css:a", "text", "the price: a number", "regex:a+", "json:$.a"}) {
    EXPECT_FALSE(SelectorFault("f", sound)) << sound;
  }
}

TEST(Selector, ProseIsUnsupportedAndSaysWhatIs) {
  const auto value = Value("the current price", kShop);
  EXPECT_TRUE(Fails(value, "unsupported_description", "'f'")) << value;
  for (const char* way : {"css:", "xpath:", "json:", "jsonld:", "regex:", "text", "http", "llm"}) {
    EXPECT_TRUE(Fails(value, "unsupported_description", way)) << way;
  }
}

TEST(Selector, ContentThatCannotBeReadIsAFailureNotAbsence) {
  EXPECT_TRUE(Fails(Value("json:$.a", kShop), "bad_content", "not JSON"));
  EXPECT_TRUE(Fails(Value("json:$.a", std::string(200, '[')), "bad_content", "not JSON"));
  EXPECT_TRUE(Fails(Value("css:p", "{}", "application/json"), "bad_content", "json:"));
  EXPECT_TRUE(Fails(Value("css:p", "x", "image/png"), "bad_content", "image/png"));
  EXPECT_TRUE(Fails(Value("text", "%PDF", "application/pdf"), "bad_content", "application/pdf"));
  std::string deep;
  for (int i = 0; i < 10000; ++i) deep += "<div>";
  EXPECT_TRUE(Fails(Value("css:p", deep), "bad_content", "nested"));
  EXPECT_TRUE(Fails(Value("text", deep), "bad_content", "nested"));
}

TEST(Selector, G11ValuesHaveALimit) {
  const auto page = [](std::size_t n) { return "<p>" + std::string(n, 'a') + "</p>"; };
  EXPECT_EQ(Value("css:p", page(domain::kValueBytesMax)).get_ref<const std::string&>().size(),
            domain::kValueBytesMax);
  EXPECT_TRUE(Fails(Value("css:p", page(domain::kValueBytesMax + 1)), "bad_content", "'f'"));
  EXPECT_TRUE(Fails(Value("text", page(domain::kValueBytesMax + 1)), "bad_content", "longer"));
}

TEST(Selector, EncodingsAreHandledOnceForAllKinds) {
  const std::string latin = "<p title='caf\xE9'>caf\xE9</p>";
  for (const char* description :
       {"css:p", "css:p @title", "xpath:string(//p)", "text", "regex:>(caf.)<"}) {
    EXPECT_EQ(Value(description, latin, "text/html; charset=iso-8859-1"), "caf\xC3\xA9")
        << description;
  }
  EXPECT_EQ(Value("css:p", "<meta charset=shift_jis><p>\xC3\xA9</p>", "text/html; charset=utf-8"),
            "\xC3\xA9");
  const auto broken = Value("css:p", std::string("<p>a\xFF\x00z</p>", 11), "text/html");
  EXPECT_TRUE(base::IsValidUtf8(broken.get<std::string>()));
  EXPECT_TRUE(broken.get<std::string>().ends_with("z"));
  EXPECT_EQ(Value("json:$.a", "\xEF\xBB\xBF{\"a\": 1}", "application/json"), 1);
}

TEST(Selector, PlainTextIsNoMarkup) {
  EXPECT_EQ(Value("text", "a <b> c\n\nd", "text/plain"), "a <b> c d");
  EXPECT_EQ(Value("regex:a <(.)>", "a <b> c", "text/plain"), "b");
}

TEST(Selector, G11CostlyPatternsAreNotSearchedInLongPages) {
  const std::string page = "<p>" + std::string(1 << 20, 'a') + "</p>";
  EXPECT_TRUE(Fails(Value("regex:(.{0,500}){2}q", page), "bad_content", "'f'"));
  EXPECT_TRUE(Value("regex:(.{0,500}){2}q", "<p>a</p>").is_null());
  EXPECT_EQ(Value("regex:a(</p>)", page), "</p>");
}

TEST(Selector, AFieldOfAPdfReadsItsTextAndSaysSoWhereItAsksForMarkup) {
  const auto compiled = FieldSet::Compile({{"all", "text"},
                                           {"price", "regex:Tea ([0-9.]+)"},
                                           {"title", "css:h1"},
                                           {"linked", "jsonld:$.name"}});
  FetchedPage page{"Price list\nTea 12.50 <script>\n", "text/plain", "https://a.example/a.pdf"};
  page.of_pdf = true;
  ExtractionStop stop;
  const PageReading reading = std::get<FieldSet>(compiled).Read(page, stop, 100);
  const auto& seen = std::get<domain::Observation>(reading.result);
  EXPECT_EQ(seen.fields.at("all").value.Value(), "Price list Tea 12.50 <script>");
  EXPECT_EQ(seen.fields.at("price").value.Value(), "12.50");
  for (const char* field : {"title", "linked"}) {
    EXPECT_EQ(seen.unread.at(field).error_class, "bad_content");
    EXPECT_NE(seen.unread.at(field).message.find("use text or regex:"), std::string::npos);
  }
  ASSERT_TRUE(reading.text);
  EXPECT_EQ(reading.text->text, "Price list Tea 12.50 <script>") << "what a model reads";
  EXPECT_FALSE(reading.may_need_scripts);
}

TEST(Selector, FeedsAreReadAsXml) {
  const std::string rss =
      "\n<?xml version='1.0' encoding='windows-1252'?><rss version='2.0' "
      "xmlns:dc='http://purl.org/dc/elements/1.1/'><channel><title>News</title>"
      "<language>de-DE</language><item><title>A &amp; B</title><link>https://x/1</link>"
      "<pubDate>Sat, 21 Nov 2026</pubDate><dc:creator>Ann</dc:creator>"
      "<description><![CDATA[<b>now</b>]]></description><price Unit='EUR'>1.299</price></item>"
      "</channel></rss>";
  for (const char* type : {"application/rss+xml", "text/xml; charset=utf-8", "text/html", ""}) {
    EXPECT_EQ(Value("css:item link", rss, type), "https://x/1") << type;
    EXPECT_EQ(Value("xpath://item/link", rss, type), "https://x/1") << type;
  }
  const std::string type = "application/rss+xml";
  EXPECT_EQ(Value("css:pubDate", rss, type), "Sat, 21 Nov 2026");
  EXPECT_EQ(Value("xpath://item/pubDate", rss, type), "Sat, 21 Nov 2026");
  EXPECT_EQ(Value("xpath://dc:creator", rss, type), "Ann");
  EXPECT_EQ(Value("css:item title", rss, type), "A & B");
  EXPECT_EQ(Value("css:description", rss, type), "<b>now</b>");
  EXPECT_EQ(Value("css:price @Unit", rss, type), "EUR");
  EXPECT_EQ(Value("css:price | number", rss, type), 1299) << "the feed is German";
  EXPECT_EQ(Value("css:item | count", rss, type), 1);
  EXPECT_TRUE(Value("css:item a", rss, type).is_null());
}

TEST(Selector, ElementsOfADefaultNamespaceNeedNoPrefix) {
  const std::string atom =
      "<feed xmlns='http://www.w3.org/2005/Atom' xmlns:media='urn:media'><entry><media:title>other"
      "</media:title><title>First</title><link href='https://x/1'/></entry></feed>";
  EXPECT_EQ(Value("xpath://entry/title", atom, "application/atom+xml"), "First");
  EXPECT_EQ(Value("css:entry title", atom, "application/atom+xml"), "First");
  EXPECT_EQ(Value("css:entry > link @href", atom, "application/atom+xml"), "https://x/1");
  EXPECT_EQ(Value("xpath://media:title", atom, "application/atom+xml"), "other");
  EXPECT_TRUE(
      Fails(Value("xpath://nope:title", atom, "application/atom+xml"), "bad_selector", "prefix"));
}

TEST(Selector, XhtmlIsReadAsHtml) {
  const std::string page =
      "<?xml version='1.0'?><!DOCTYPE html><html><BODY><p>a<br>b</BODY></html>";
  EXPECT_EQ(Value("css:body p | text", page, "application/xhtml+xml"), "a b");
  EXPECT_EQ(Value("css:body p | text", page, "text/html"), "a b");
}

TEST(Selector, G11XmlThatIsBrokenOrDeclaresEntitiesFails) {
  EXPECT_TRUE(Fails(Value("css:b", "<a><b>x</a>", "text/xml"), "bad_content", "line 1"));
  const std::string laughs =
      "<!DOCTYPE a [<!ENTITY x 'ha'><!ENTITY y '&x;&x;&x;'>]><a><b>&y;</b></a>";
  EXPECT_TRUE(Fails(Value("css:b", laughs, "text/xml"), "bad_content", "declares"));
  const std::string defaults = "<!DOCTYPE a [<!ATTLIST b c CDATA 'much'>]><a><b/><b/></a>";
  EXPECT_TRUE(Fails(Value("css:b", defaults, "text/xml"), "bad_content", "declares"));
  const std::string inside = "<!DOCTYPE a SYSTEM 'file:///etc/passwd'><a><b>x</b></a>";
  EXPECT_EQ(Value("css:b", inside, "text/xml"), "x");
  std::string deep;
  for (int i = 0; i < 5000; ++i) deep += "<a>";
  EXPECT_TRUE(Fails(Value("css:b", deep, "text/xml"), "bad_content", "cannot be read"));
}

constexpr const char* kLinked =
    "<html lang=de><script "
    "type='application/ld+json'>{\"@type\":\"Organization\",\"name\":\"Shop\"}"
    "</script><SCRIPT TYPE='application/LD+JSON; charset=utf-8'>\n{\"@graph\":[{\"@type\":"
    "[\"Thing\",\"http://schema.org/Product\"],\"name\":\"Mug\",\"offers\":[{\"@type\":\"Offer\","
    "\"price\":\"1.299\",\"inStock\":true}]}]}</SCRIPT><p>x</p>";

TEST(Selector, JsonLdIsReadFromThePage) {
  EXPECT_EQ(Value("jsonld:$..price", kLinked), "1.299");
  EXPECT_EQ(Value("jsonld:$..price | number", kLinked), 1299);
  EXPECT_EQ(Value("jsonld:$.name", kLinked), "Shop");
  EXPECT_EQ(Value("jsonld:Product $.name", kLinked), "Mug");
  EXPECT_EQ(Value("jsonld:Offer $.inStock", kLinked), true);
  EXPECT_EQ(Value("jsonld:Product $.offers[0]['@type']", kLinked), "Offer");
  EXPECT_TRUE(Value("jsonld:Person $.name", kLinked).is_null());
  EXPECT_TRUE(Value("jsonld:$..price", "<p>x</p>").is_null());
  EXPECT_EQ(
      Value("jsonld:Product $.name", R"({"@type":"Product","name":"Cup"})", "application/ld+json"),
      "Cup");
  EXPECT_TRUE(Fails(Value("jsonld:Pro-duct $.a", kLinked), "bad_selector", "at character 4"));
  EXPECT_TRUE(Fails(Value("jsonld:Product", kLinked), "bad_selector", "at character"));
  EXPECT_TRUE(Fails(Value("jsonld:$.a | all", kLinked), "bad_selector", "'f'"));
}

TEST(Selector, JsonLdThatIsNoJsonIsNotAbsence) {
  const std::string page = std::string(kLinked) + "<script type='application/ld+json'>{a}</script>";
  EXPECT_EQ(Value("jsonld:Product $.name", page), "Mug");
  EXPECT_TRUE(Fails(Value("jsonld:Person $.name", page), "bad_content", "JSON-LD"));
}

TEST(Selector, OneBadFieldDoesNotFailTheOthers) {
  const std::string huge = "<h1>ok</h1><p>" + std::string(2 * domain::kValueBytesMax, 'x');
  const auto result = Extract({{"good", "css:h1"},
                               {"typo", "css:a["},
                               {"prose", "the price"},
                               {"long", "text"},
                               {"json", "json:$.a"}},
                              huge);
  ASSERT_TRUE(std::holds_alternative<domain::Observation>(result));
  const auto& seen = std::get<domain::Observation>(result);
  EXPECT_EQ(seen.fields.size(), 1U);
  EXPECT_EQ(seen.fields.at("good").value.Value(), "ok");
  EXPECT_EQ(seen.unread.at("typo").error_class, "bad_selector");
  EXPECT_EQ(seen.unread.at("prose").error_class, "unsupported_description");
  EXPECT_EQ(seen.unread.at("long").error_class, "bad_content");
  EXPECT_THAT(seen.unread.at("long").message, testing::HasSubstr("| hash"));
  EXPECT_EQ(seen.unread.at("json").error_class, "bad_content");
}

TEST(Selector, WhereNoFieldCanBeReadTheCheckFails) {
  const auto result = Extract({{"a", "json:$.a"}, {"b", "css:a["}}, kShop);
  EXPECT_EQ(std::get<domain::Failure>(result).error_class, "bad_content");
}

TEST(Selector, EvidenceKeepsCellsApart) {
  const std::string page =
      "<head><title>T</title><script>var x</script></head><table><tr><td>Item 1</td>"
      "<td class=now>1.299 \xE2\x82\xAC</td><td>Out of stock</td></tr></table>"
      "<p>Now <b>12</b>.50 only</p>";
  const auto evidence = [&](const char* description) {
    const auto result = Extract({{"f", description}}, page);
    return std::get<domain::Observation>(result).fields.at("f").evidence;
  };
  EXPECT_EQ(evidence("css:.now"), "Item 1 1.299 \xE2\x82\xAC Out of stock");
  EXPECT_EQ(evidence("css:title"), "T");
  EXPECT_EQ(evidence("css:b"), "Now 12.50 only");
  EXPECT_EQ(evidence("xpath://td[2]/text()"), "1.299 \xE2\x82\xAC");
}

TEST(Selector, G11AStoppedExtractionFails) {
  auto compiled = FieldSet::Compile({{"f", "css:p"}});
  ExtractionStop stop;
  stop.Stop();
  const auto result =
      std::get<FieldSet>(compiled).Extract({"<p>x</p>", "text/html", "https://x"}, stop);
  EXPECT_EQ(std::get<domain::Failure>(result).error_class, "bad_content");
}

// What `text` observes of a page where some of it does not count.
base::Json TextWithout(const domain::IgnoreRules& ignore, std::string body,
                       const std::string& description = "text", std::string type = "text/html") {
  auto compiled = FieldSet::Compile({{"f", description}}, ignore);
  if (auto* failure = std::get_if<domain::Failure>(&compiled)) return failure->message;
  ExtractionStop stop;
  const auto result =
      std::get<FieldSet>(compiled).Extract({std::move(body), std::move(type), "https://x/"}, stop);
  if (const auto* failure = std::get_if<domain::Failure>(&result)) return failure->message;
  return std::get<domain::Observation>(result).fields.at("f").value.Value();
}

domain::IgnoreRules Ignoring(const char* json) {
  return domain::ReadProbeOptions({{"ignore", base::ParseJsonOrThrow(json)}}).ignore;
}

TEST(IgnoredText, IsWhatIsLeftLineByLine) {
  const std::string page =
      "<h1>Rates of 26.11.2026</h1><p class=ad>Buy <b>now</b></p><ul><li>One 1,299.00 EUR<li>Two"
      "</ul><p>17 people are reading</p>";
  EXPECT_EQ(TextWithout(Ignoring(R"([{"selector": ".ad"}])"), page),
            "Rates of 26.11.2026\nOne 1,299.00 EUR\nTwo\n17 people are reading");
  EXPECT_EQ(TextWithout(Ignoring(R"(["dates", {"regex": "^[0-9]+ people.*$"}])"), page),
            "Rates of\nBuy now\nOne 1,299.00 EUR\nTwo");
  EXPECT_EQ(TextWithout(Ignoring(R"(["numbers", {"selector": "ul, .ad"}])"), page, "text | lines"),
            "Rates of\npeople are reading");
  const auto hash = [&](const char* ignore) {
    return TextWithout(Ignoring(ignore), page, "text | hash");
  };
  EXPECT_NE(hash(R"([{"regex": "One"}])"), hash(R"([{"regex": "Two"}])"));
  EXPECT_EQ(TextWithout(Ignoring(R"([{"selector": "body"}])"), page), "");
  EXPECT_EQ(TextWithout({}, page), Value("text", page)) << "without it nothing is different";
}

TEST(IgnoredText, OfPagesWithoutElementsHasThePatternsAlone) {
  const auto ignore = Ignoring(R"(["numbers", {"selector": "p"}])");
  EXPECT_EQ(TextWithout(ignore, "a 1\n2\nb", "text", "text/plain"), "a\nb");
  EXPECT_EQ(TextWithout(ignore, R"({"a": 5})", "text", "application/json"), "{\"a\": }");
  EXPECT_EQ(TextWithout(ignore, "<feed><p>x</p><q>y</q></feed>", "text", "application/xml"), "y");
}

TEST(IgnoredText, DatesAreKnownAsTheyAreWritten) {
  const auto dates = Ignoring(R"(["dates"])");
  for (const char* date :
       {"2026-11-26", "2026-11-26T09:30:00Z", "26.11.2026", "11/26/26", "26 November 2026",
        "Nov 26, 2026", "26. Nov. 2026", "26 de noviembre de 2026", "26 févr. 2026", "9:30 pm",
        "21:15:09", "March 2026", "1st of May"}) {
    EXPECT_EQ(TextWithout(dates, std::string("<p>a ") + date + " b"), "a b") << date;
  }
  for (const char* other : {"5 apples", "1.2.3", "12 markets", "v2026", "1:0"}) {
    EXPECT_EQ(TextWithout(dates, std::string("<p>a ") + other + " b"),
              std::string("a ") + other + " b");
  }
}

TEST(IgnoredText, EndsWithThePageWherePatternsLookFarAhead) {
  // Each match looks for a b in the whole of the text.
  auto compiled = FieldSet::Compile({{"f", "text"}}, Ignoring(R"([{"regex": "[^b]*b|a"}])"));
  ExtractionStop stop;
  stop.Stop();
  const auto result = std::get<FieldSet>(compiled).Extract(
      {std::string(100'000, 'a'), "text/plain", "https://x/"}, stop);
  ASSERT_TRUE(std::holds_alternative<domain::Failure>(result));
  EXPECT_EQ(std::get<domain::Failure>(result).error_class, "bad_content");
  EXPECT_THAT(TextWithout(Ignoring(R"([{"selector": "p >> a"}])"), "<p>").get<std::string>(),
              testing::HasSubstr("probe.ignore"));
}

}  // namespace
}  // namespace vedette::html
