#include "worker/probes/text.h"

#include <gtest/gtest.h>

namespace vedette::worker {
namespace {

TEST(Text, RepairedTextIsValidAndHasNoNul) {
  using namespace std::string_literals;
  EXPECT_EQ(RepairUtf8("a\0b"s),
            "a\xEF\xBF\xBD"
            "b");
  for (const std::string& bad : {"\xFF"s, "\xC0\x80"s, "\xE0\x80\x80"s, "\xED\xA0\x80"s,
                                 "\xF4\x90\x80\x80"s, "\xE2\x82"s, "x\x80y"s, "\xF0\x9F\x98"s}) {
    EXPECT_FALSE(IsValidUtf8(bad));
    const std::string repaired = RepairUtf8(bad);
    EXPECT_TRUE(IsValidUtf8(repaired));
    EXPECT_NE(repaired.find("\xEF\xBF\xBD"), std::string::npos);
  }
  const std::string good = "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80";
  EXPECT_EQ(RepairUtf8(good), good);
  for (const char bad : {'\0', '\x80', '\xFF'}) {
    for (std::size_t at = 0; at < 20; ++at) {  // wherever it stands in a word
      const std::string expected =
          std::string(at, 'a') + "\xEF\xBF\xBD" + std::string(19 - at, 'b');
      EXPECT_EQ(RepairUtf8(std::string(at, 'a') + bad + std::string(19 - at, 'b')), expected);
    }
  }
}

TEST(Text, WhiteSpaceIsTrimmedAndFolded) {
  EXPECT_EQ(FoldSpace(" \t a \r\n\f b\v "), "a b");
  EXPECT_EQ(FoldSpace("1\xC2\xA0"
                      "000\xE2\x80\xAF\xE2\x82\xAC\xE3\x80\x80"),
            "1 000 \xE2\x82\xAC");
  EXPECT_EQ(FoldSpace(" \n "), "");
  EXPECT_EQ(FoldSpace("\xC3\xA0"), "\xC3\xA0");  // its second byte alone would be a no-break space
}

TEST(Text, CuttingKeepsCharactersWhole) {
  EXPECT_EQ(CutCharacters("abcdef", 6), "abcdef");
  EXPECT_EQ(CutCharacters("abcdefg", 6), "abc...");
  EXPECT_EQ(CutCharacters("\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9", 4), "\xC3\xA9...");
  EXPECT_EQ(CountCharacters("\xC3\xA9x"), 2U);
}

TEST(Text, CodePointsThatAreNoneBecomeReplacementCharacters) {
  for (const std::uint32_t code : {0U, 0xD800U, 0xDFFFU, 0x110000U, 0xFFFFFFFFU}) {
    std::string out;
    AppendUtf8(code, &out);
    EXPECT_EQ(out, "\xEF\xBF\xBD");
  }
  std::string out;
  AppendUtf8(0x1F600, &out);
  EXPECT_EQ(out, "\xF0\x9F\x98\x80");
}

}  // namespace
}  // namespace vedette::worker
