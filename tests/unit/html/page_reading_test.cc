#include "html/page_reading.h"

#include <gtest/gtest.h>

#include "base/compression.h"
#include "base/crypto.h"

namespace vedette::html {
namespace {

PageReading Seen(const std::string& value, const std::string& evidence = "") {
  PageReading reading;
  domain::Observation observation;
  observation.fields["price"] = {
      base::Json(value), evidence, {"https://acme.example/"}, std::nullopt};
  reading.result = std::move(observation);
  return reading;
}

TEST(PageReadings, TakeAtLeastWhatTheyAre) {
  EXPECT_EQ(BytesOf(PageReading{}), sizeof(PageReading));
  PageReading failed;
  failed.result = domain::Failure{"bad_content", "The page cannot be read.", false, {}};
  EXPECT_GE(BytesOf(failed), sizeof(PageReading));
}

TEST(PageReadings, CountTheTextThatAReaderSees) {
  PageReading reading;
  reading.text = PageText{std::string(100, 'u'), std::string(5000, 't')};
  EXPECT_EQ(BytesOf(reading), sizeof(PageReading) + 5100);
}

TEST(PageReadings, CountThePageThatIsKept) {
  PageReading reading = Seen("1");
  const std::size_t before = BytesOf(reading);
  domain::SeenPage page;
  page.text = std::string(3000, 't');
  std::get<domain::Observation>(reading.result).page =
      std::make_shared<const domain::SeenPage>(page);
  EXPECT_GE(BytesOf(reading), before + 3000);
}

TEST(PageReadings, CountEachPartOfAFieldByItsLength) {
  const std::size_t little = BytesOf(Seen("1", "e"));
  EXPECT_EQ(BytesOf(Seen(std::string(1001, '1'), "e")), little + 1000) << "the value";
  EXPECT_EQ(BytesOf(Seen("1", std::string(301, 'e'))), little + 300) << "the evidence";
  PageReading sources = Seen("1", "e");
  auto& field = std::get<domain::Observation>(sources.result).fields.at("price");
  field.sources[0] += std::string(50, 's');
  EXPECT_EQ(BytesOf(sources), little + 50) << "the sources";
}

TEST(PageReadings, CountEveryFieldWhateverItIsAndThoseThatWereNotRead) {
  PageReading reading = Seen("1");
  auto& observation = std::get<domain::Observation>(reading.result);
  std::size_t before = BytesOf(reading);
  const auto grows = [&] {
    const std::size_t now = BytesOf(reading);
    const bool more = now >= before + 256;
    before = now;
    return more;
  };
  observation.fields["count"] = {base::Json(7), "", {}, std::nullopt};
  EXPECT_TRUE(grows()) << "a number";
  observation.fields["absent"] = {base::Json(nullptr), "", {}, std::nullopt};
  EXPECT_TRUE(grows()) << "what is absent";
  observation.unread["shown"] = {"made_by_scripts", std::string(500, 'm'), false, {}};
  EXPECT_GE(BytesOf(reading), before + 500);
  EXPECT_TRUE(grows()) << "what could not be read";
}

std::string TextKept(std::string body, std::string type = "text/html") {
  const FetchedPage page{std::move(body), std::move(type), "https://acme.example/"};
  PageForms forms(page);
  const auto seen = SeenPageOf(&forms, page.url);
  if (seen == nullptr) return "none";
  EXPECT_EQ(seen->url, page.url);
  const auto text = base::Decompressed(seen->text, domain::kSnapshotTextBytesMax);
  EXPECT_EQ(seen->text_hash, base::Sha256(text.value_or("")));
  return text.value_or("broken");
}

TEST(SeenPages, SayWhatAReaderSeesInLinesWithTheMarksOfMarkdown) {
  EXPECT_EQ(
      TextKept("<html><head><title>no</title><script>no()</script></head><body>"
               "<h1>Tea  <em>and</em>\nmore</h1><p>One <a href='/x?sid=7'>link</a><br>two</p>"
               "<ul><li>green<ul><li><p>sencha</p></li></ul></li><li>black</li></ul>"
               "<blockquote>said</blockquote><hr><img alt='a cup' src=c.png>"
               "<table><tr><th>name</th><th>price</th></tr><tr><td>tea</td><td>5</td></tr>"
               "</table><pre>a\nb</pre><style>no</style><noscript>no</noscript></body></html>"),
      "# Tea and more\nOne link\ntwo\n- green\n  - sencha\n- black\n> said\n---\n![a cup]\n"
      "name | price\ntea | 5\na\nb");
}

TEST(SeenPages, OfOtherDocumentsSayTheirLines) {
  EXPECT_EQ(TextKept(R"({"a":[1,{"b":"c"}]})", "application/json"),
            "{\n  \"a\": [\n    1,\n    {\n      \"b\": \"c\"\n    }\n  ]\n}");
  EXPECT_EQ(TextKept("{ broken\n json", "application/json"), "{ broken\njson");
  EXPECT_EQ(TextKept(" a \n\n b", "text/plain"), "a\nb");
}

TEST(SeenPages, AreCutBetweenTwoCharactersWhereTheySayTooMuch) {
  const std::string text = TextKept("<p>" + std::string(domain::kSnapshotTextBytesMax - 1, 'a') +
                                    "\xc3\xa4"
                                    "b");
  EXPECT_EQ(text, std::string(domain::kSnapshotTextBytesMax - 1, 'a'));
}

}  // namespace
}  // namespace vedette::html
