#include "html/html_document.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "html/markup_tree.h"

namespace vedette::html {
namespace {

// A page, whose nodes are found by the name of their element.
class Tree {
 public:
  explicit Tree(std::string_view html) : parsed_(ParseHtmlTree(html)) {}

  const xmlNode* root() const { return std::get<std::unique_ptr<MarkupTree>>(parsed_)->root; }
  // The first element of that name, in document order.
  const xmlNode* Find(std::string_view name) const { return Find(root(), name); }

 private:
  static const xmlNode* Find(const xmlNode* node, std::string_view name) {
    if (node->type == XML_ELEMENT_NODE && reinterpret_cast<const char*>(node->name) == name) {
      return node;
    }
    if (node->type != XML_ELEMENT_NODE) return nullptr;
    for (const xmlNode* child = node->children; child != nullptr; child = child->next) {
      if (const xmlNode* found = Find(child, name)) return found;
    }
    return nullptr;
  }

  ParsedTree parsed_;
};

TEST(VisibleText, IsWithoutWhatNoReaderSees) {
  const Tree tree(
      "<head><title>t</title></head><body>a<script>b</script><style>c</style><noscript>d</noscript>"
      "<template><p>e</p></template><!-- f --><p>g</p></body>");
  EXPECT_EQ(VisibleTextOf(tree.root()), "a g");
}

TEST(VisibleText, BlocksAreApartAndWordsOfAPhraseTogether) {
  const Tree tree("<div>un<b>believ</b>able<p>next</p>to<br>it</div>");
  EXPECT_EQ(VisibleTextOf(tree.Find("div")), "unbelievable next to it");
  EXPECT_EQ(VisibleTextOf(tree.Find("b")), "believ");
}

TEST(VisibleText, ByLineHasEachBlockOnItsOwnAndTheCellsOfARowOnOne) {
  const Tree tree(
      "<h1>Two\n words</h1><table><tr><td>1</td><td>2</td></tr><tr><th>3</th></tr></table>"
      "<p>a<br>b</p><pre>x\n  y</pre><div> </div>");
  EXPECT_EQ(VisibleTextOf(tree.root(), TextView::kLines), "Two words\n1 2\n3\na\nb\nx\ny");
  EXPECT_EQ(VisibleTextOf(tree.root()), "Two words 1 2 3 a b x y");
}

TEST(NodeTexts, OfAnElementAreTheViewThatIsAskedFor) {
  const Tree tree("<div>See\n <script>x()</script><p>this</p></div>");
  const xmlNode* div = tree.Find("div");
  EXPECT_EQ(NodeText(div, "", TextView::kWhole), "See x()this");
  EXPECT_EQ(NodeText(div, "", TextView::kVisible), "See this");
  EXPECT_EQ(NodeText(div, "", TextView::kLines), "See\nthis");
}

TEST(NodeTexts, OfATextOrAnAttributeAreAllOfItFolded) {
  const Tree tree("<a href=' /x  y '> one\n two </a>");
  const xmlNode* a = tree.Find("a");
  for (const TextView view : {TextView::kWhole, TextView::kVisible, TextView::kLines}) {
    EXPECT_EQ(NodeText(a->children, "", view), "one two");
    EXPECT_EQ(NodeText(reinterpret_cast<const xmlNode*>(a->properties), "", view), "/x y");
    EXPECT_EQ(NodeText(a, "href", view), "/x y");
  }
}

TEST(NodeTexts, AreAbsentWhereTheNodeLacksTheAttributeAndEmptyWhereItIs) {
  const Tree tree("<a href='' title>x</a>");
  const xmlNode* a = tree.Find("a");
  EXPECT_EQ(NodeText(a, "class", TextView::kWhole), std::nullopt);
  EXPECT_EQ(NodeText(a, "href", TextView::kWhole), "");
  EXPECT_EQ(NodeText(a, "title", TextView::kWhole), "");
  EXPECT_EQ(NodeText(a->children, "href", TextView::kWhole), std::nullopt) << "a text has none";
}

TEST(NodeTexts, AreValidWhateverReferencesStandFor) {
  const Tree tree("<p title='a&#xD800;b'>a&#xD800;b</p>");
  for (const char* attribute : {"", "title"}) {
    const auto text = NodeText(tree.Find("p"), attribute, TextView::kWhole);
    ASSERT_TRUE(text);
    EXPECT_TRUE(base::IsValidUtf8(*text)) << attribute;
  }
}

TEST(TextAround, IsWhatAReaderSeesInsideTheParent) {
  const Tree tree(
      "<p>far</p><div>Now <b>12.50</b> EUR<script>x()</script><p>a mug</p></div><p>far</p>");
  EXPECT_EQ(TextAround(tree.Find("b"), "12.50"), "Now 12.50 EUR a mug");
}

TEST(TextAround, CellsAreApartAndPartsOfAWordAreNot) {
  const Tree row("<table><tr><td>Price</td><td><b>5</b></td><td>EUR</td></tr></table>");
  EXPECT_EQ(TextAround(row.Find("td")->next, "5"), "Price 5 EUR");
  const Tree word("<p>un<b>believ</b>able</p>");
  EXPECT_EQ(TextAround(word.Find("b"), "believ"), "unbelievable");
}

TEST(TextAround, OfATextIsThatOfItsElement) {
  const Tree tree("<p>costs <b>5</b> EUR</p>");
  EXPECT_EQ(TextAround(tree.Find("p")->children, "costs"), "costs 5 EUR");
}

TEST(TextAround, WithoutAParentItIsTheValueAlone) {
  const Tree tree("<p title=x>costs 5</p>");
  EXPECT_EQ(TextAround(tree.root(), "costs 5"), "costs 5");
  const auto* attribute = reinterpret_cast<const xmlNode*>(tree.Find("p")->properties);
  EXPECT_EQ(TextAround(attribute, "x"), "x") << "nobody sees what stands around an attribute";
}

TEST(TextAround, IsCutOnBothSidesToItsLimit) {
  std::string before;
  for (int i = 0; i < 200; ++i) before += "\xC3\xA4 ";
  const Tree tree("<p>" + before + "<b>here</b> " + before + "</p>");
  const std::string around = TextAround(tree.Find("b"), "here");
  EXPECT_TRUE(around.starts_with("...")) << around;
  EXPECT_TRUE(around.ends_with("...")) << around;
  EXPECT_NE(around.find("\xC3\xA4 here \xC3\xA4"), std::string::npos) << around;
  EXPECT_LE(base::CountCharacters(around), kEvidenceCharactersMax);
  EXPECT_TRUE(base::IsValidUtf8(around));
  const Tree ascii("<p>" + std::string(400, 'a') + "<b>here</b>" + std::string(400, 'z') + "</p>");
  EXPECT_EQ(TextAround(ascii.Find("b"), "here"),
            "..." + std::string(145, 'a') + "here" + std::string(145, 'z') + "...");
}

}  // namespace
}  // namespace vedette::html
