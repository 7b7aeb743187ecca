#include "html/page_memory.h"

#include <gtest/gtest.h>

#include "tests/unit/html/text_reading.h"

namespace vedette::html {
namespace {

using Headers = std::vector<std::pair<std::string, std::string>>;

std::optional<PageVersion> Version(Headers headers) {
  net::HttpResponse response;
  response.headers = std::move(headers);
  return VersionOf(response);
}

std::shared_ptr<const PageMemory::Entry> Seen(const std::string& value) {
  return std::make_shared<const PageMemory::Entry>(
      PageMemory::Entry{{"\"1\"", ""}, std::make_shared<const TextReading>(value), ""});
}

TEST(PageVersion, IsTakenFromTheHeadersThatNameIt) {
  const auto version = Version({{"etag", "W/\"a\""},
                                {"last-modified", "Sun, 06 Nov 1994 08:49:37 GMT"},
                                {"date", "Sun, 06 Nov 1994 08:50:00 GMT"}});
  ASSERT_TRUE(version);
  EXPECT_EQ(version->ConditionalHeaders(),
            (Headers{{"If-None-Match", "W/\"a\""},
                     {"If-Modified-Since", "Sun, 06 Nov 1994 08:49:37 GMT"}}));
  EXPECT_FALSE(Version({}));
  EXPECT_FALSE(Version({{"etag", std::string(600, 'x')}}));
  EXPECT_FALSE(Version({{"etag", "\"a\""}, {"cache-control", "private, No-Store"}}));
}

TEST(PageVersion, APageModifiedInTheSecondItWasSentMayChangeAgainUnseen) {
  const Headers same{{"last-modified", "Sun, 06 Nov 1994 08:49:37 GMT"},
                     {"date", "Sun, 06 Nov 1994 08:49:37 GMT"}};
  EXPECT_FALSE(Version(same));
  EXPECT_FALSE(Version({{"last-modified", "Sun, 06 Nov 1994 08:49:37 GMT"}})) << "without a Date";
  EXPECT_FALSE(Version({{"last-modified", "yesterday"}, {"date", same[1].second}}));
  EXPECT_TRUE(Version({{"last-modified", "Sun, 06 Nov 1994 08:49:36 GMT"}, same[1]}));
}

TEST(PageVersion, AnEtagMadeOfSecondsIsNoBetterThanThem) {
  const std::pair<std::string, std::string> modified{"last-modified",
                                                     "Sun, 06 Nov 1994 08:49:37 GMT"};
  for (const char* etag : {"\"2ebc98a1-b\"", "W/\"2ebc98a1-b\""}) {  // as nginx makes it
    EXPECT_FALSE(Version({{"etag", etag}, modified, {"date", modified.second}})) << etag;
    EXPECT_FALSE(Version({{"etag", etag}, modified})) << etag << " without a Date";
    const auto later =
        Version({{"etag", etag}, modified, {"date", "Sun, 06 Nov 1994 08:49:38 GMT"}});
    ASSERT_TRUE(later) << etag;
    EXPECT_EQ(later->etag, etag);
  }
  const auto of_content = Version({{"etag", "\"a\""}, modified, {"date", modified.second}});
  ASSERT_TRUE(of_content);
  EXPECT_EQ(of_content->etag, "\"a\"");
  EXPECT_TRUE(of_content->last_modified.empty());
}

TEST(PageMemory, G11ForgetsTheLeastRecentlyUsedAtItsLimit) {
  PageMemory one(1 << 20);
  one.Keep("a", Seen("x"));
  const std::size_t item = one.bytes();
  PageMemory memory(item * 3 + item / 2);
  for (const char* key : {"a", "b", "c"}) memory.Keep(key, Seen("x"));
  EXPECT_NE(memory.Find("a"), nullptr);
  memory.Keep("d", Seen("x"));
  EXPECT_EQ(memory.Find("b"), nullptr);
  EXPECT_NE(memory.Find("a"), nullptr);
  EXPECT_NE(memory.Find("d"), nullptr);
  EXPECT_EQ(memory.bytes(), 3 * item);
  memory.Keep("d", Seen(std::string(item, 'x')));
  EXPECT_LE(memory.bytes(), item * 3 + item / 2);
  EXPECT_NE(memory.Find("d"), nullptr);
  memory.Keep("huge", Seen(std::string(10 * item, 'x')));
  EXPECT_EQ(memory.Find("huge"), nullptr);
  EXPECT_NE(memory.Find("d"), nullptr) << "what does not fit drives nothing out";
  for (const char* key : {"a", "b", "c", "d"}) memory.Forget(key);
  EXPECT_EQ(memory.bytes(), 0U);
}

TEST(PageMemory, OfNoBytesRemembersNothing) {
  PageMemory memory(0);
  memory.Keep("a", Seen("x"));
  EXPECT_EQ(memory.Find("a"), nullptr);
}

}  // namespace
}  // namespace vedette::html
