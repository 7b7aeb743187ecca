#include "html/structured_data.h"

#include <gtest/gtest.h>

namespace vedette::html {
namespace {

LinkedData Read(std::string body, std::string type = "text/html") {
  PageForms page({std::move(body), std::move(type), "https://example.com/"});
  ExtractionStop stop;
  return ReadLinkedData(page, stop);
}

std::string Block(const std::string& json, const std::string& type = "application/ld+json") {
  return "<script type=\"" + type + "\">" + json + "</script>";
}

TEST(LinkedData, BlocksComeInTheOrderOfThePage) {
  const LinkedData read = Read("<head>" + Block(R"({"a":1})") + "</head><body><p>x</p>" +
                               Block("[2, 3]") + Block("\"b\"") + "</body>");
  EXPECT_EQ(read.blocks.dump(), R"([{"a":1},[2,3],"b"])");
  EXPECT_EQ(read.fault, "");
}

TEST(LinkedData, ItsTypeIsKnownInAnyCaseAndWithParameters) {
  EXPECT_EQ(Read(Block("1", "APPLICATION/LD+JSON") + Block("2", " application/ld+json ") +
                 Block("3", "application/ld+json; charset=utf-8"))
                .blocks.dump(),
            "[1,2,3]");
  EXPECT_EQ(
      Read(Block("1", "application/json") + Block("2", "text/javascript") + "<script>3</script>")
          .blocks.dump(),
      "[]");
}

TEST(LinkedData, TheWhiteSpaceOfTextsIsFolded) {
  EXPECT_EQ(Read(Block("{\"a\":\n \"two\n  words\"}")).blocks.dump(), R"([{"a":"two words"}])");
}

TEST(LinkedData, ABlockThatIsNoJsonIsAFaultAndTheOthersAreRead) {
  const LinkedData read = Read(Block("1") + Block("{\"a\":") + Block("2"));
  EXPECT_EQ(read.blocks.dump(), "[1,2]");
  EXPECT_NE(read.fault, "");
}

TEST(LinkedData, APageInJsonIsOneBlock) {
  EXPECT_EQ(Read(R"({"@type":"Person"})", "application/ld+json").blocks.dump(),
            R"([{"@type":"Person"}])");
  EXPECT_EQ(Read("[1]", "application/json").blocks.dump(), "[[1]]");
  const LinkedData broken = Read("{", "application/json");
  EXPECT_EQ(broken.blocks.dump(), "[]");
  EXPECT_NE(broken.fault, "");
}

TEST(LinkedData, APageWithoutBlocksOrThatCannotBeParsedHasNone) {
  EXPECT_EQ(Read("<p>x</p>").blocks.dump(), "[]");
  EXPECT_EQ(Read("<p>x</p>").fault, "");
  std::string tag = "<p";
  for (int i = 0; i < 2000; ++i) tag += " a" + std::to_string(i) + "=1";
  EXPECT_EQ(Read(tag + ">" + Block("1")).blocks.dump(), "[]");
}

TEST(LinkedData, G11BlocksBeyondTheBytesAreNotReadAndAreAFault) {
  const std::string half = "\"" + std::string(kLinkedDataBytesMax / 2 - 2, 'x') + "\"";
  const LinkedData fits = Read(Block(half) + Block(half));
  EXPECT_EQ(fits.blocks.size(), 2U);
  EXPECT_EQ(fits.fault, "");
  const LinkedData read = Read(Block(half) + Block(half) + Block("1"));
  EXPECT_EQ(read.blocks.size(), 2U);
  EXPECT_EQ(read.fault, "the blocks are longer than 4194304 bytes");
}

TEST(LinkedData, G11ValuesAreBoundedInAllBlocksTogether) {
  const auto list = [](std::size_t values) {  // the list itself is one of them
    std::string json = "[1";
    for (std::size_t i = 2; i < values; ++i) json += ",1";
    return json + "]";
  };
  const LinkedData fits = Read(Block(list(kLinkedDataValuesMax - 10)) + Block(list(10)));
  EXPECT_EQ(fits.blocks.size(), 2U);
  EXPECT_EQ(fits.fault, "");
  const LinkedData over = Read(Block(list(kLinkedDataValuesMax - 10)) + Block(list(11)));
  EXPECT_EQ(over.blocks.size(), 1U);
  EXPECT_NE(over.fault, "");
}

TEST(LinkedData, G11DeepBlocksAreRefused) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_EQ(Read(Block(nested(64))).blocks.size(), 1U);
  EXPECT_EQ(Read(Block(nested(65))).blocks.size(), 0U);
}

// The names of the nodes, in order.
std::string Names(const base::Json& blocks, const std::string& type) {
  std::string names;
  for (const base::Json* node : NodesOfType(blocks, type)) {
    names += (names.empty() ? "" : " ") + node->value("n", "?");
  }
  return names;
}

TEST(NodesOfType, AreFoundAtAnyDepthInDocumentOrder) {
  const auto blocks = base::ParseJsonOrThrow(R"([
      {"@type": "Product", "n": "a", "offers": [{"@type": "Offer", "n": "b"},
       {"x": {"@type": "Offer", "n": "c"}}]},
      {"@graph": [{"@type": "Product", "n": "d", "like": {"@type": "Product", "n": "e"}}]}])");
  EXPECT_EQ(Names(blocks, "Offer"), "b c");
  EXPECT_EQ(Names(blocks, "Product"), "a d e");
  EXPECT_EQ(Names(blocks, "Person"), "");
}

TEST(NodesOfType, HaveTheTypeAmongOthersOrBehindAVocabularysAddress) {
  const auto blocks = base::ParseJsonOrThrow(R"([
      {"@type": ["Thing", "Offer"], "n": "a"}, {"@type": "https://schema.org/Offer", "n": "b"},
      {"@type": "http://schema.org#Offer", "n": "c"}, {"@type": "schema:Offer", "n": "d"},
      {"@type": "AggregateOffer", "n": "e"}, {"@type": "offer", "n": "f"},
      {"@type": "OfferX", "n": "g"}, {"@type": 7, "n": "h"}, {"@type": [["Offer"], 7], "n": "i"},
      {"type": "Offer", "n": "j"}, {"@type": null, "n": "k"}])");
  EXPECT_EQ(Names(blocks, "Offer"), "a b c d");
}

TEST(NodesOfType, WithoutATypeEachBlockIsOne) {
  const auto blocks = base::ParseJsonOrThrow(R"([{"n": "a", "x": {"n": "b"}}, {"n": "c"}, [7]])");
  const auto nodes = NodesOfType(blocks, "");
  ASSERT_EQ(nodes.size(), 3U);
  EXPECT_EQ(nodes[0], &blocks[0]) << "inside the blocks";
  EXPECT_EQ(nodes[2]->dump(), "[7]");
}

TEST(NodesOfType, G11NoMoreThanTheirLimitAreLookedAt) {
  base::Json list = base::Json::array();
  for (std::size_t i = 0; i <= kLinkedDataNodesMax; ++i) list.push_back({{"@type", "T"}});
  EXPECT_EQ(NodesOfType(base::Json::array({list}), "T").size(), kLinkedDataNodesMax);
}

}  // namespace
}  // namespace vedette::html
