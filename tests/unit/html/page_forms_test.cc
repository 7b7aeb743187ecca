#include "html/page_forms.h"

#include <gtest/gtest.h>

namespace vedette::html {
namespace {

FetchedPage Page(std::string type, std::string body) {
  return {std::move(body), std::move(type), "https://example.com/"};
}

TEST(PageForms, WhatAReaderSeesOfHtmlIsWithoutWhatIsHidden) {
  PageForms forms(Page("text/html", "<title>t</title><p>a <b>b</b></p><script>c</script><p>d"));
  EXPECT_EQ(forms.VisibleText(), "a b d");
  EXPECT_EQ(forms.Html(), forms.Html()) << "parsed once";
}

TEST(PageForms, OfPlainTextAndJsonAllIsSeenFolded) {
  EXPECT_EQ(PageForms(Page("text/plain", " <p>a\n\n b ")).VisibleText(), "<p>a b");
  EXPECT_EQ(PageForms(Page("application/ld+json", "{\"a\":\n 1}")).VisibleText(), "{\"a\": 1}");
}

TEST(PageForms, WhatIsSaidToBeNoMarkupIsReadAsPlainText) {
  for (const char* type : {"text/csv", "text/markdown; charset=utf-8", "application/yaml",
                           "text/x-yaml", "text/calendar", "application/sql"}) {
    EXPECT_EQ(PageForms(Page(type, "a <b> c\nd &amp; e")).VisibleText(), "a <b> c d &amp; e")
        << type;
    EXPECT_EQ(PageForms(Page(type, "a\n# b\n")).VisibleText(TextView::kLines), "a\n# b") << type;
  }
  for (const char* type : {"", "html", "*/*", "unknown/unknown", "text/html", "text/xml",
                           "image/svg+xml", "application/xhtml+xml"}) {
    EXPECT_EQ(PageForms(Page(type, "<p>a <b>b</b></p>")).VisibleText(), "a b") << type;
  }
  EXPECT_EQ(PageForms(Page("application/x-feed", "<rss ><a>b</a></rss>")).VisibleText(), "b");
}

TEST(PageForms, AnXmlDeclarationNamesTheEncoding) {
  EXPECT_EQ(PageForms(Page("text/xml", "<?xml version='1.0' encoding='koi8-r'?><a>\xEF</a>"))
                .VisibleText(),
            "\xD0\x9E");
}

TEST(PageForms, TheTextIsDecodedByTheHeadersCharset) {
  EXPECT_EQ(PageForms(Page("text/plain; charset=ISO-8859-1", "\xE9")).text(), "\xC3\xA9");
}

TEST(PageForms, APageThatCannotBeParsedSaysWhy) {
  std::string tag = "<p";
  for (int i = 0; i < 2000; ++i) tag += " a" + std::to_string(i) + "=1";
  PageForms html(Page("text/html", tag + ">x"));
  EXPECT_EQ(html.VisibleText(), std::nullopt);
  EXPECT_EQ(html.Html(), nullptr);
  EXPECT_NE(html.html_error(), "");
  PageForms json(Page("application/json", "{"));
  EXPECT_EQ(json.Json(), nullptr);
  EXPECT_NE(json.json_error(), "");
}

TEST(PageForms, OfJsonHalfACharacterIsRepairedAndTheRestIsRead) {
  const auto value = [](const std::string& text) {
    PageForms forms(Page("application/json", "[\"" + text + "\"]"));
    const base::Json* json = forms.Json();
    return json == nullptr ? forms.json_error() : json->at(0).get<std::string>();
  };
  const std::string lost = "\xEF\xBF\xBD";
  EXPECT_EQ(value("a\\ud83d b"), "a" + lost + " b");
  EXPECT_EQ(value("\\uDE00\\ud83d\\uDE00"), lost + "\xF0\x9F\x98\x80");
  EXPECT_EQ(value("\\ud83d\\ud83d\\ude00"), lost + "\xF0\x9F\x98\x80");
  EXPECT_EQ(value("a\\u0000\\ud83d"), "a" + lost + lost);
  EXPECT_EQ(value("\\\\ud83d \\u00e9"), "\\ud83d \xC3\xA9") << "no escape behind a backslash";
  PageForms cut(Page("application/json", "[\"\\ud8"));
  EXPECT_EQ(cut.Json(), nullptr);
}

TEST(PageForms, TheTextOfAPdfIsNoMarkupWhateverItLooksLike) {
  FetchedPage page = Page("text/plain; charset=utf-8", "<rss > <script>");
  page.of_pdf = true;
  PageForms forms(page);
  EXPECT_FALSE(forms.IsXml());
  EXPECT_FALSE(forms.IsHtml());
  EXPECT_EQ(forms.VisibleText(), "<rss > <script>");
}

TEST(PageForms, TheTypeSaysWhatIsNoText) {
  for (const char* type : {"image/png", "application/pdf", "Application/ZIP", "video/mp4"}) {
    EXPECT_TRUE(PageForms(Page(type, "")).IsBinary()) << type;
  }
  for (const char* type : {"", "image/svg+xml", "text/html", "application/json"}) {
    EXPECT_FALSE(PageForms(Page(type, "")).IsBinary()) << type;
  }
}

}  // namespace
}  // namespace vedette::html
