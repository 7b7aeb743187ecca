#include "base/text.h"

#include <gtest/gtest.h>

#include <utility>

namespace vedette::base {
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

TEST(Text, IsTrimmedOfTheSpacesThatAFormatKnows) {
  EXPECT_EQ(Trim(" \t\r\n\f\va b\v "), "a b");
  EXPECT_EQ(Trim(" \t "), "");
  EXPECT_EQ(Trim(""), "");
  EXPECT_EQ(Trim("\va\v", kMarkupSpace), "\va\v");
  EXPECT_EQ(Trim("\na\f", kLineSpace), "a\f");
  EXPECT_EQ(Trim(" \ta\n", kBlankSpace), "a\n");
  EXPECT_EQ(Trim("\xC2\xA0"), "\xC2\xA0") << "only ASCII";
}

TEST(Text, ControlCharactersOfAsciiAreThoseBelowTheBlankAndDel) {
  int controls = 0;
  for (int c = 0; c < 256; ++c) controls += IsAsciiControl(static_cast<char>(c)) ? 1 : 0;
  EXPECT_EQ(controls, 33);
  for (const char c : {'\0', '\t', '\x1F', '\x7F'}) EXPECT_TRUE(IsAsciiControl(c)) << int{c};
  for (const char c : {' ', '~', '\x80', '\x9F'}) EXPECT_FALSE(IsAsciiControl(c)) << int{c};
}

TEST(Text, LowerCaseChangesAsciiLettersAlone) {
  EXPECT_EQ(AsciiLower("AZ@[`\xC3\x84"), "az@[`\xC3\x84");
  EXPECT_TRUE(EqualsIgnoringAsciiCase("Bearer", "bEARER"));
  EXPECT_FALSE(EqualsIgnoringAsciiCase("bearer", "bearer "));
  EXPECT_FALSE(EqualsIgnoringAsciiCase("@", "`"));
}

TEST(Text, ASequenceIsDecodedToItsCodePointOrNotAtAll) {
  const auto decoded = [](std::string_view text) {
    std::uint32_t code = 0xABCD;
    return std::pair(DecodeUtf8(text, &code), code);
  };
  using Pair = std::pair<std::size_t, std::uint32_t>;
  EXPECT_EQ(decoded("ab"), Pair(1, 'a'));
  EXPECT_EQ(decoded("\xC3\xA9x"), Pair(2, 0xE9));
  EXPECT_EQ(decoded("\xE2\x82\xAC"), Pair(3, 0x20AC));
  EXPECT_EQ(decoded("\xF4\x8F\xBF\xBF"), Pair(4, 0x10FFFF));
  for (const std::string_view bad :
       {"", "\x80", "\xC1\xBF", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF",
        "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xE2\x82", "\xF0\x9F\x98z"}) {
    EXPECT_EQ(decoded(bad), Pair(0, 0xABCD));
  }
}

TEST(Text, EveryCodePointComesBackAsItWasAppended) {
  for (std::uint32_t code = 1; code <= 0x10FFFF; ++code) {
    if (code == 0xD800) code = 0xE000;
    std::string text;
    AppendUtf8(code, &text);
    std::uint32_t back = 0;
    ASSERT_EQ(DecodeUtf8(text, &back), text.size());
    ASSERT_EQ(back, code);
  }
}

TEST(Text, BytesAreCutAtTheEndOfACharacter) {
  EXPECT_EQ(CutBytes("abc", 3), "abc");
  EXPECT_EQ(CutBytes("abc", 2), "ab");
  EXPECT_EQ(CutBytes("a\xE2\x82\xAC", 3), "a");
  EXPECT_EQ(CutBytes("\xE2\x82\xAC", 0), "");
}

TEST(Text, IsWrittenForAUrlWithEveryByteThatIsNotUnreservedInHexadecimal) {
  EXPECT_EQ(UrlEncode(""), "");
  const std::string unreserved = "AZaz09-._~";
  EXPECT_EQ(UrlEncode(unreserved), unreserved);
  EXPECT_EQ(UrlEncode("a b&c=d/e?f+g%"), "a%20b%26c%3Dd%2Fe%3Ff%2Bg%25");
  EXPECT_EQ(UrlEncode("\xC3\xA9"), "%C3%A9") << "bytes of UTF-8";
  EXPECT_EQ(UrlEncode(std::string("\0\x7F\xFF", 3)), "%00%7F%FF");
}

}  // namespace
}  // namespace vedette::base
