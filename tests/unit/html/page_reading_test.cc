#include "html/page_reading.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace vedette::html
