#include "html/page_reading.h"
#include "html/selector.h"

#include <gtest/gtest.h>

namespace vedette::html {
namespace {

bool MadeBy(std::string body, std::string type = "text/html") {
  PageForms forms({std::move(body), std::move(type), "https://example.com/"});
  ExtractionStop stop;
  return IsMadeByScripts(&forms, stop);
}

TEST(ScriptedPage, IsOneThatShowsNothingAndHasScriptsThatRun) {
  for (const char* script :
       {"<script src=/app.js></script>", "<script>go()</script>", "<script type=''>go()</script>",
        "<script type=module src=/app.js></script>",
        "<script type='text/javascript'>go()</script>"}) {
    EXPECT_TRUE(MadeBy(std::string("<head><title>Shop</title></head><div id=root></div>"
                                   "<noscript>You need JavaScript.</noscript>") +
                       script))
        << script;
  }
}

TEST(ScriptedPage, IsNoneThatShowsAnything) {
  EXPECT_FALSE(MadeBy("<p>Sold out</p><script src=/app.js></script>"));
  EXPECT_FALSE(MadeBy("x<script src=/app.js></script>"));
}

TEST(ScriptedPage, IsNoneWithoutAScriptThatRuns) {
  EXPECT_FALSE(MadeBy("<div id=root></div>"));
  EXPECT_FALSE(MadeBy(""));
  for (const char* type : {"application/ld+json", "application/json", "text/template"}) {
    EXPECT_FALSE(MadeBy("<div></div><script type='" + std::string(type) + "'>{}</script>")) << type;
  }
}

TEST(ScriptedPage, IsNoneInAnotherFormThanHtml) {
  const std::string shell = "<a><script src='/app.js'></script></a>";
  EXPECT_TRUE(MadeBy(shell));
  EXPECT_FALSE(MadeBy(shell, "application/xml"));
  EXPECT_FALSE(MadeBy(shell, "image/svg+xml"));
  EXPECT_FALSE(MadeBy(shell, "application/json"));
}

TEST(ScriptedPage, IsNoneWhereThePageCannotBeParsed) {
  std::string tag = "<p";
  for (int i = 0; i < 2000; ++i) tag += " a" + std::to_string(i) + "=1";
  EXPECT_FALSE(MadeBy(tag + "><script>go()</script>"));
}

// Whether a page of which `description` is watched may need a browser.
bool MayNeed(std::string body, std::string description) {
  const auto fields = FieldSet::Compile({{"a", std::move(description)}});
  ExtractionStop stop;
  return std::get<FieldSet>(fields)
      .Read({std::move(body), "text/html", "https://example.com/"}, stop, 0)
      .may_need_scripts;
}

TEST(ScriptedPage, MayShowMoreWhereWhatIsWatchedIsEmpty) {
  const std::string page = "<h1>Mug</h1><b></b><script src=/app.js></script>";
  for (const char* description : {"css:i", "css:b", "css:b | text", "css:i | count", "regex:Cup"}) {
    EXPECT_TRUE(MayNeed(page, description)) << description;
  }
  for (const char* description :
       {"css:h1", "css:b | count", "regex:Mug", "text", "css:script @src"}) {
    EXPECT_FALSE(MayNeed(page, description)) << description;
  }
  EXPECT_FALSE(MayNeed("<h1>Mug</h1><b></b>", "css:b"));
}

TEST(ScriptedPage, MayShowMoreWhereItSendsTheBrowserOn) {
  EXPECT_TRUE(MayNeed("<meta http-equiv=Refresh content='0; URL=/shop'>", "css:h1"));
  EXPECT_FALSE(MayNeed("<meta http-equiv=refresh content=60>", "css:h1"));
  EXPECT_FALSE(MadeBy("<meta http-equiv=refresh content='0; url=/shop'>"));
}

TEST(ScriptedPage, ItsFailureNamesTheFieldAndIsFinal) {
  const domain::Failure failure = MadeByScripts("price");
  EXPECT_EQ(failure.error_class, "made_by_scripts");
  EXPECT_NE(failure.message.find("the field 'price' cannot be read"), std::string::npos);
  EXPECT_FALSE(failure.retryable);
  EXPECT_EQ(failure.retry_after, std::nullopt);
}

}  // namespace
}  // namespace vedette::html
