#include "html/charset.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace vedette::html {
namespace {

using namespace std::string_literals;

std::string DecodeBody(std::string_view body, std::string_view charset,
                       std::string_view type = "text/html") {
  return html::DecodeBody(body, {std::string(type), std::string(charset)});
}

TEST(Charset, MediaTypesAreSplit) {
  const auto check = [](std::string_view header, std::string_view type, std::string_view charset) {
    const MediaType media = ParseMediaType(header);
    EXPECT_EQ(media.type, type) << header;
    EXPECT_EQ(media.charset, charset) << header;
  };
  check("text/html", "text/html", "");
  check("Text/HTML; Charset=\"ISO-8859-1\"", "text/html", "iso-8859-1");
  check("text/html;boundary=x; charset = utf-8 ;", "text/html", "utf-8");
  check("", "", "");
  check(";;charset", "", "");
}

TEST(Charset, BodiesAreDecodedAsBrowsersDo) {
  const std::string e_acute = "\xC3\xA9";
  struct Case {
    std::string body;
    std::string header;
    std::string expected;
  };
  const Case cases[] = {
      {"\xC3\xA9", "", e_acute},                    // valid UTF-8
      {"\xE9", "", e_acute},                        // else windows-1252
      {"\xE9", "latin1", e_acute},                  // the header
      {"\x80", "iso-8859-1", "\xE2\x82\xAC"},       // which means windows-1252
      {"\xEF\xBB\xBF\xC3\xA9", "latin1", e_acute},  // a BOM wins over the header
      {"\xFF\xFE\xE9\x00"s, "", e_acute},           // UTF-16, little endian
      {"\xFE\xFF\x00\xE9"s, "utf-8", e_acute},      // and big
      {"\xE9\x00"s, "utf-16", e_acute},             //
      {"\x8F\xAC", "Shift_JIS", "\xE5\xB0\x8F"},    //
      {"\xC4\xE3", "gb2312", "\xE4\xBD\xA0"},       //
      {"\xD0\xC9", "koi8-r", "\xD0\xBF\xD0\xB8"},   //
      {"\xE0", "windows-1255", "\xD7\x90"},         // a letter that may get a mark
      {"\xE0\xFF\xE0", "windows-1255", "\xD7\x90\xEF\xBF\xBD\xD7\x90"},
      {"gia", "windows-1258", "gia"},
      {"\xC3\xA9", "utf-7", e_acute},                           // unknown names count as none
      {"\xC3\xA9", "../../etc/passwd", e_acute},                //
      {"+AGEAYg-", "utf-7", "+AGEAYg-"},                        // UTF-7 is never read
      {"a\xFFz", "utf-8", "a\xEF\xBF\xBDz"},                    // what cannot be decoded
      {"a\x00z"s, "utf-8", "a\xEF\xBF\xBDz"},                   // NUL neither
      {"\xE9\x00\xD8"s, "utf-16le", e_acute + "\xEF\xBF\xBD"},  // cut in the middle
  };
  for (const Case& c : cases) EXPECT_EQ(DecodeBody(c.body, c.header), c.expected) << c.header;
}

TEST(Charset, MetaNamesTheEncodingWhereTheHeaderDoesNot) {
  const std::string meta = "<html><head><META Charset='windows-1251'></head>\xEF";
  EXPECT_TRUE(DecodeBody(meta, "").ends_with("\xD0\xBF"));
  EXPECT_TRUE(DecodeBody(meta, "koi8-r").ends_with("\xD0\x9E"));
  const std::string equiv =
      "<meta http-equiv=Content-Type content=\"text/html; charset=iso-8859-2\">\xB1";
  EXPECT_TRUE(DecodeBody(equiv, "").ends_with("\xC4\x85"));
  EXPECT_TRUE(DecodeBody("<meta charset=utf-16>\xC3\xA9", "").ends_with("\xC3\xA9"));
  EXPECT_TRUE(DecodeBody(std::string(5000, ' ') + "<meta charset=koi8-r>\xC3\xA9", "")
                  .ends_with("\xC3\xA9"));
}

TEST(Charset, AnXmlDeclarationNamesTheEncodingWhereTheHeaderDoesNot) {
  const std::string xml = "<?xml version='1.0' encoding=\"windows-1251\"?><a>\xEF";
  for (const char* type : {"application/rss+xml", "text/xml", "text/html", ""}) {
    EXPECT_TRUE(DecodeBody(xml, "", type).ends_with("\xD0\xBF")) << type;
    EXPECT_TRUE(DecodeBody(xml, "koi8-r", type).ends_with("\xD0\x9E")) << type;
  }
  const std::string both = "<?xml version='1.0' encoding='koi8-r'?><meta charset=windows-1251>\xEF";
  EXPECT_TRUE(DecodeBody(both, "", "text/xml").ends_with("\xD0\x9E"));
  EXPECT_TRUE(DecodeBody(both, "", "text/html").ends_with("\xD0\xBF")) << "as browsers do";
  EXPECT_TRUE(
      DecodeBody("<?xml encoding='utf-16'?>\xC3\xA9", "", "text/xml").ends_with("\xC3\xA9"));
  EXPECT_EQ(DecodeBody("<\0?\0x\0"s, "", "text/xml"), "<?x");
  EXPECT_EQ(DecodeBody("\0<\0?\0x"s, "", "text/xml"), "<?x");
  EXPECT_TRUE(DecodeBody("<?xml version='1.0'?><a>encoding='koi8-r'\xC3\xA9", "", "text/xml")
                  .ends_with("\xC3\xA9"));
}

TEST(Charset, EncodingsHaveManyNames) {
  EXPECT_EQ(DecodeBody("\xA4", "iso8859-15"), "\xE2\x82\xAC");
  for (const char* name : {"l2", "iso8859-2", "iso_8859-2"}) {
    EXPECT_EQ(DecodeBody("\xA1", name), "\xC4\x84") << name;
  }
  EXPECT_EQ(DecodeBody("\xA5", "x-cp1251"), "\xD2\x90");
  EXPECT_EQ(DecodeBody("\xA4", "csshiftjis"), "\xEF\xBD\xA4");
  EXPECT_EQ(DecodeBody("\xEF", "koi8_r"), "\xD0\x9E");
  EXPECT_EQ(DecodeBody("\xC4\xE3", "chinese"), "\xE4\xBD\xA0");
  EXPECT_EQ(DecodeBody("\xA4\xA4", "cn-big5"), "\xE4\xB8\xAD");
  EXPECT_EQ(DecodeBody("\xB0\xA1", "ksc5601"), "\xEA\xB0\x80");
  EXPECT_EQ(DecodeBody("\x80", "x-mac-cyrillic"), "\xD0\x90");
  EXPECT_EQ(DecodeBody("\x80", "latin"), "\xE2\x82\xAC") << "a part of a name is none";
  EXPECT_EQ(DecodeBody("\xC3\xA9", "l1 l2"), "\xC3\xA9");
}

TEST(Charset, AnyBytesBecomeValidText) {
  std::string bytes;
  for (int i = 0; i < 4096; ++i) bytes += static_cast<char>((i * 7919) >> 3);
  for (const char* charset : {"", "utf-8", "utf-16", "gb18030", "big5", "shift_jis", "euc-kr",
                              "iso-2022-jp", "windows-1255", "euc-jp"}) {
    const std::string text = DecodeBody(bytes, charset);
    EXPECT_TRUE(base::IsValidUtf8(text)) << charset;
    EXPECT_EQ(text.find('\0'), std::string::npos) << charset;
    EXPECT_GT(text.size(), 1000U) << charset;
  }
}

}  // namespace
}  // namespace vedette::html
