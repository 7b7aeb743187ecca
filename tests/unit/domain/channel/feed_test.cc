#include "domain/channel/feed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace vedette::domain {
namespace {

using testing::HasSubstr;
using testing::Not;

Feed OneChange(const std::string& value) {
  Feed feed;
  feed.channel_id = base::Uuid::V4();
  feed.name = "n";
  FeedEvent& told = feed.events.emplace_back();
  told.monitor_name = "Prices";
  told.event.field = "price";
  told.event.previous_value_json = "\"1\"";
  told.event.current_value_json = '"' + value + '"';
  return feed;
}

TEST(Feed, NothingOfAPageIsMarkupOrMakesItUnreadable) {
  const std::string text =
      FeedDocument(OneChange("<b>&\xEF\xBF\xBF\xEF\xBF\xBE\xEF\xBF\xBD</b>"), "", "/f");
  EXPECT_THAT(text, HasSubstr("1 → &lt;b&gt;&amp;\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD&lt;/b&gt;"));
  EXPECT_THAT(text, Not(HasSubstr("\xEF\xBF\xBF"))) << "no XML may hold it";
}

TEST(Feed, AnEntryLeadsToItsRow) {
  Feed feed = OneChange("2");
  Event& event = feed.events.front().event;
  event.monitor_id = base::Uuid::V4();
  event.row_id = base::Uuid::V4();
  EXPECT_THAT(
      FeedDocument(feed, "https://v.example/dashboard#/monitors", "https://v.example/f"),
      HasSubstr("<link href=\"https://v.example/dashboard#/monitors/" +
                event.monitor_id->ToString() + "/rows/" + event.row_id->ToString() + "\"/>"));
}

TEST(Feed, ItsTokenIsOfOneChannelAndOneKey) {
  const base::Uuid id = base::Uuid::V4();
  const std::string path = FeedPath(id, "present");
  const std::string token = path.substr(path.find("token=") + 6);
  EXPECT_TRUE(IsFeedToken(id, token, {"present"}));
  EXPECT_TRUE(IsFeedToken(id, token, {"later", "present"})) << "a former key's goes on";
  EXPECT_FALSE(IsFeedToken(base::Uuid::V4(), token, {"present"}));
  EXPECT_FALSE(IsFeedToken(id, token, {"other"}));
  EXPECT_FALSE(IsFeedToken(id, "", {"present"}));
  EXPECT_FALSE(IsFeedToken(id, token.substr(1), {"present"}));
}

}  // namespace
}  // namespace vedette::domain
