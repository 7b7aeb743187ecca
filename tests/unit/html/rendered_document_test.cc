#include "html/rendered_document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace vedette::html {
namespace {

using base::Json;

constexpr std::size_t kMuch = 1 << 20;

// Snapshots as a browser makes them, node by node.
class Snapshot {
 public:
  // A document begins; its first node is the document itself.
  void Begin(const std::string& url) {
    documents_.push_back(
        {{"documentURL", Text(url)},
         {"nodes",
          {{"parentIndex", Json::array()},
           {"nodeType", Json::array()},
           {"nodeName", Json::array()},
           {"nodeValue", Json::array()},
           {"attributes", Json::array()},
           {"shadowRootType", {{"index", Json::array()}, {"value", Json::array()}}},
           {"contentDocumentIndex", {{"index", Json::array()}, {"value", Json::array()}}}}}});
    Add(-1, 9, "#document");
  }
  int Add(int parent, int type, const std::string& name, const std::string& value = "",
          const std::vector<std::string>& attributes = {}) {
    Json& nodes = documents_.back()["nodes"];
    nodes["parentIndex"].push_back(parent);
    nodes["nodeType"].push_back(type);
    nodes["nodeName"].push_back(Text(name));
    nodes["nodeValue"].push_back(Text(value));
    Json indexes = Json::array();
    for (const std::string& one : attributes) indexes.push_back(Text(one));
    nodes["attributes"].push_back(indexes);
    return static_cast<int>(nodes["parentIndex"].size()) - 1;
  }
  int Element(int parent, const std::string& name,
              const std::vector<std::string>& attributes = {}) {
    return Add(parent, 1, name, "", attributes);
  }
  void Says(int parent, const std::string& text) { Add(parent, 3, "#text", text); }
  int Shadow(int host, const std::string& type) {
    const int root = Add(host, 11, "#document-fragment");
    Rare("shadowRootType", root, Text(type));
    return root;
  }
  void Frame(int node, int document) { Rare("contentDocumentIndex", node, document); }

  std::string Answer() const {
    return base::DumpJson(
        {{"id", 7}, {"result", {{"documents", documents_}, {"strings", strings_}}}});
  }

 private:
  int Text(const std::string& text) {
    strings_.push_back(text);
    return static_cast<int>(strings_.size()) - 1;
  }
  void Rare(const char* name, int node, int value) {
    Json& rare = documents_.back()["nodes"][name];
    rare["index"].push_back(node);
    rare["value"].push_back(value);
  }
  Json documents_ = Json::array();
  Json strings_ = Json::array();
};

std::string Written(const Snapshot& snapshot) {
  return std::get<std::string>(RenderedDocument(snapshot.Answer(), kMuch));
}
std::string ClassOf(std::string_view answer, std::size_t bytes_max = kMuch) {
  return std::get<domain::Failure>(RenderedDocument(answer, bytes_max)).error_class;
}

TEST(RenderedDocument, IsTheTreeAsHtml) {
  Snapshot page;
  page.Begin("http://a.example/");
  page.Add(0, 10, "html");
  const int html = page.Element(0, "HTML", {"lang", "de"});
  const int body = page.Element(html, "BODY");
  page.Add(body, 8, "#comment", "no");
  const int p = page.Element(body, "P", {"title", "\"a\" < b", "onclick=\"", "x"});
  page.Says(p, "1 < 2 & 3");
  page.Element(p, "BR");
  page.Says(page.Element(p, "::after"), "drawn by a style");
  const int script = page.Element(body, "SCRIPT");
  page.Says(script, "if (1 < 2) {}");
  const int hidden = page.Element(body, "NOSCRIPT");
  page.Says(hidden, "please turn scripts on");
  EXPECT_EQ(Written(page),
            "<!DOCTYPE html><html lang=\"de\"><body><p title=\"&quot;a&quot; &lt; b\">"
            "1 &lt; 2 &amp; 3<br></p><script>if (1 < 2) {}</script><noscript></noscript>"
            "</body></html>");
}

TEST(RenderedDocument, HasShadowRootsOfThePageAndNotThoseOfControls) {
  Snapshot page;
  page.Begin("http://a.example/");
  const int host = page.Element(0, "X-PRICE");
  const int root = page.Shadow(host, "closed");
  page.Says(page.Element(root, "B"), "12");
  page.Says(page.Element(host, "I"), "light");
  const int input = page.Element(0, "VIDEO");
  page.Says(page.Shadow(input, "user-agent"), "play");
  EXPECT_EQ(Written(page), "<x-price><b>12</b><i>light</i></x-price><video></video>");
}

TEST(RenderedDocument, HasFramesOfItsOwnOriginAlone) {
  Snapshot page;
  page.Begin("http://a.example/x");
  page.Frame(page.Element(0, "IFRAME"), 1);
  page.Frame(page.Element(0, "IFRAME"), 2);
  page.Frame(page.Element(0, "IFRAME"), 3);
  for (const std::string url : {"http://a.example/y", "http://b.example/", "about:srcdoc"}) {
    page.Begin(url);
    const int html = page.Element(0, "HTML");
    page.Says(page.Element(page.Element(html, "HEAD"), "TITLE"), "title");
    page.Says(page.Element(html, "BODY"), "of " + url);
  }
  EXPECT_EQ(Written(page),
            "<iframe></iframe><div>of http://a.example/y</div><iframe></iframe>"
            "<iframe></iframe><div>of about:srcdoc</div>");
}

// A script's text cannot end its element earlier than the page's own tree says.
TEST(RenderedDocument, AScriptThatWouldEndItselfIsLeftOut) {
  Snapshot page;
  page.Begin("http://a.example/");
  page.Says(page.Element(0, "SCRIPT"), "x = '</SCRIPT ><p>forged</p>'");
  page.Element(0, "A<B");
  EXPECT_EQ(Written(page), "<script></script>");
}

// A hostile page is deeper than any stack.
TEST(RenderedDocument, OfAnyDepth) {
  Snapshot page;
  page.Begin("http://a.example/");
  int node = 0;
  for (int i = 0; i < 20'000; ++i) node = page.Element(node, "B");
  EXPECT_EQ(Written(page).size(), 20'000U * 7);
}

TEST(RenderedDocument, WhatIsTooLargeOrNoSnapshotIsAFailure) {
  Snapshot page;
  page.Begin("http://a.example/");
  page.Says(0, std::string(2000, 'x'));
  EXPECT_EQ(ClassOf(page.Answer(), 1000), "body_too_large");
  EXPECT_EQ(ClassOf("{"), "bad_content");
  EXPECT_EQ(ClassOf("{\"id\":1}"), "bad_content");
  EXPECT_EQ(ClassOf("{\"id\":1,\"result\":{\"documents\":[{}],\"strings\":[]}}"), "bad_content");
  EXPECT_EQ(
      ClassOf("{\"id\":1,\"result\":{\"documents\":[{\"documentURL\":\"x\"}],\"strings\":[]}}"),
      "bad_content");
}

}  // namespace
}  // namespace vedette::html
