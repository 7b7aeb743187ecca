// What is read of trees is in html_document_test.cc and selector_test.cc; here is what a tree is,
// and which pages have none.
#include "html/markup_tree.h"

#include <gtest/gtest.h>

#include "html/html_document.h"
#include "tests/support/repeated.h"

namespace vedette::html {
namespace {

using vedette::test::Repeated;

// The tree's elements by name, with what is in them: "html(body(p))".
std::string Shape(const xmlNode* node) {
  std::string shape = reinterpret_cast<const char*>(node->name);
  std::string inside;
  for (const xmlNode* child = node->children; child != nullptr; child = child->next) {
    if (child->type != XML_ELEMENT_NODE) continue;
    inside += (inside.empty() ? "" : " ") + Shape(child);
  }
  return inside.empty() ? shape : shape + "(" + inside + ")";
}

// The shape of what was parsed, or "error: " and the phrase.
std::string ShapeOf(const ParsedTree& parsed) {
  if (const auto* error = std::get_if<std::string>(&parsed)) return "error: " + *error;
  const auto& tree = std::get<std::unique_ptr<MarkupTree>>(parsed);
  return tree->root == nullptr ? "nothing" : Shape(tree->root);
}

const MarkupTree& TreeOf(const ParsedTree& parsed) {
  return *std::get<std::unique_ptr<MarkupTree>>(parsed);
}

std::string TextIn(const ParsedTree& parsed) {
  xmlChar* text = xmlNodeGetContent(TreeOf(parsed).root);
  std::string out = reinterpret_cast<const char*>(text);
  xmlFree(text);
  return out;
}

TEST(HtmlTree, IsMendedWhereThePageIsBroken) {
  EXPECT_EQ(ShapeOf(ParseHtmlTree("<p>a<b>b</p><ul><li>1<li>2")), "html(body(p(b) ul(li li)))");
  EXPECT_EQ(ShapeOf(ParseHtmlTree("just text")), "html(body(p))");
  EXPECT_EQ(ShapeOf(ParseHtmlTree("<DIV><SPAN>x</DIV>")), "html(body(div(span)))") << "lower case";
}

TEST(HtmlTree, WithoutAnElementThereIsNoRoot) {
  for (const char* page : {"", "<!-- c -->"}) {
    const ParsedTree parsed = ParseHtmlTree(page);
    EXPECT_EQ(ShapeOf(parsed), "nothing") << page;
    EXPECT_FALSE(TreeOf(parsed).is_xml());
  }
}

TEST(HtmlTree, CountsItsTextAndItsNodes) {
  const std::string page = "<p class=a id=b>one<b>two</b></p><!-- c -->";
  const ParsedTree parsed = ParseHtmlTree(page);
  EXPECT_EQ(TreeOf(parsed).bytes, page.size());
  // html, body, p with two attributes, b, two texts and a comment.
  EXPECT_EQ(TreeOf(parsed).nodes, 9U);
  EXPECT_FALSE(TreeOf(parsed).is_xml());
}

TEST(HtmlTree, IsReadAsUtf8WhateverThePageSays) {
  for (const char* said : {"<meta charset=iso-8859-1>",
                           "<meta http-equiv=content-type content='text/html; charset=utf-16'>",
                           "<?xml version='1.0' encoding='latin1'?>"}) {
    EXPECT_EQ(TextIn(ParseHtmlTree(std::string(said) + "<p>\xC3\xA4</p>")), "\xC3\xA4") << said;
  }
}

TEST(HtmlTree, G11APageOverALimitIsRefusedWithAPhrase) {
  // With html and body around them.
  EXPECT_TRUE(ShapeOf(ParseHtmlTree(Repeated("<div>", kHtmlDepthMax - 2))).starts_with("html("));
  EXPECT_EQ(ShapeOf(ParseHtmlTree(Repeated("<div>", kHtmlDepthMax))),
            "error: the page is nested deeper than 2048 elements");
  EXPECT_EQ(ShapeOf(ParseHtmlTree(Repeated("<i></i>", kHtmlNodesMax))),
            "error: the page has more than 300000 nodes");
  std::string tag = "<p";
  for (int i = 0; i < 1100; ++i) tag += " a" + std::to_string(i) + "=1";
  EXPECT_EQ(ShapeOf(ParseHtmlTree(tag + ">")),
            "error: a tag of the page has more than 1024 attributes");
  EXPECT_EQ(ShapeOf(ParseXmlTree(tag + "/>")),
            "error: a tag of the page has more than 1024 attributes");
}

TEST(XmlTree, KeepsTheCaseOfItsNames) {
  const ParsedTree parsed = ParseXmlTree("<Feed><Entry Id='1'/><entry/></Feed>");
  EXPECT_EQ(ShapeOf(parsed), "Feed(Entry entry)");
  EXPECT_TRUE(TreeOf(parsed).is_xml());
  EXPECT_EQ(TreeOf(parsed).nodes, 4U) << "an attribute is a node";
}

TEST(XmlTree, ElementsOfTheDefaultNamespaceAreInNone) {
  const ParsedTree parsed = ParseXmlTree(
      "<feed xmlns='http://www.w3.org/2005/Atom' xmlns:m='http://m.example/'>"
      "<entry><m:price>1</m:price></entry></feed>");
  const xmlNode* feed = TreeOf(parsed).root;
  EXPECT_EQ(feed->ns, nullptr);
  EXPECT_EQ(feed->children->ns, nullptr);
  const xmlNode* price = feed->children->children;
  ASSERT_NE(price->ns, nullptr);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(price->ns->href)), "http://m.example/");
}

TEST(XmlTree, MayStandBehindEmptyLinesAndSayAnotherEncoding) {
  EXPECT_EQ(TextIn(ParseXmlTree("\n \t\r\n<?xml version='1.0' encoding='iso-8859-1'?>"
                                "<a>\xC3\xA4</a>")),
            "\xC3\xA4");
}

TEST(XmlTree, APageThatIsNotWellFormedIsRefusedWithItsLine) {
  for (const auto& [page, line] : {std::pair("<a>\n<b></a>", "line 2"),
                                   {"<a>\n\n&nope;</a>", "line 3"},
                                   {"<a/><b/>", "line 1"},
                                   {"<a b=1/>", "line 1"},
                                   {"plain", "line 1"}}) {
    const std::string said = ShapeOf(ParseXmlTree(page));
    EXPECT_TRUE(said.starts_with(std::string("error: it is not well-formed XML, at ") + line))
        << page << ": " << said;
  }
  EXPECT_TRUE(ShapeOf(ParseXmlTree("")).starts_with("error: "));
}

TEST(XmlTree, G11DeclarationsThatMakeMuchOutOfLittleAreRefused) {
  for (const char* declares :
       {"<!ENTITY a 'ha'>", "<!ENTITY a SYSTEM 'file:///etc/passwd'>", "<!ENTITY % a 'ha'>",
        "<!ATTLIST a b CDATA 'x'>", "<!ATTLIST a b (x|y) 'x'>"}) {
    EXPECT_EQ(ShapeOf(ParseXmlTree("<!DOCTYPE a [" + std::string(declares) + "]><a>&a;</a>")),
              "error: its document type declares entities or attributes")
        << declares;
  }
  EXPECT_EQ(ShapeOf(ParseXmlTree("<!DOCTYPE a SYSTEM 'file:///nowhere.dtd'><a/>")), "a")
      << "a DTD is not read";
}

TEST(XmlTree, G11APageOverALimitIsRefused) {
  const auto nested = [](std::size_t depth) {
    return ShapeOf(ParseXmlTree(Repeated("<i>", depth) + Repeated("</i>", depth)));
  };
  EXPECT_TRUE(nested(kHtmlDepthMax).starts_with("i(i(i(")) << "the limit itself is read";
  EXPECT_NE(nested(kHtmlDepthMax + 2).find("Excessive depth in document: 2048"), std::string::npos);
  EXPECT_EQ(ShapeOf(ParseXmlTree("<a>" + Repeated("<i/>", kHtmlNodesMax) + "</a>")),
            "error: the page has more than 300000 nodes");
  EXPECT_EQ(ShapeOf(ParseXmlTree("<a>" + Repeated("<!---->", kHtmlNodesMax) + "</a>")),
            "error: the page has more than 300000 nodes");
}

TEST(Libxml, SaysNothingOnStandardError) {
  testing::internal::CaptureStderr();
  QuietenLibxml();
  ParseHtmlTree("<p <<& &nope; <!DOCTYPE x><b></i>");
  ParseXmlTree("<a><b></a>");
  ParseXmlTree("<a xmlns:x='::'><x:b/><y:c/></a>");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace vedette::html
