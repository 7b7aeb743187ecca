#include "domain/channel/chat.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/json.h"

namespace vedette::domain {
namespace {

using base::Json;
using testing::HasSubstr;
using testing::Not;

ChannelNews News(const std::string& value = "2") {
  ChannelNews news;
  news.channel_id = base::Uuid::V4();
  news.monitor_id = base::Uuid::V4();
  news.row_id = base::Uuid::V4();
  news.monitor_name = "Prices";
  news.subject_json = R"({"domain":"a.example"})";
  Event event;
  event.field = "price";
  event.previous_value_json = "\"1\"";
  event.current_value_json = base::DumpJson(Json(value));
  event.monitor_id = news.monitor_id;
  event.row_id = news.row_id;
  news.events.push_back(event);
  return news;
}

ChatMessage Message(const std::string& value = "2") {
  return ChatMessageOf(News(value), "https://vedette.example/monitors");
}

TEST(ChannelBody, OfAWebhookIsTheNotificationWithWhatChanged) {
  const Json body = base::ParseJsonOrThrow(ChannelWebhookBody(News(), 10000));
  EXPECT_EQ(body["type"], "monitor.field.changed");
  EXPECT_EQ(body["monitor_name"], "Prices");
  EXPECT_EQ(body["events"][0]["field"], "price");
  EXPECT_EQ(body["events"][0]["previous_value"], "1");
  EXPECT_EQ(body["events"][0]["current_value"], "2");
}

TEST(ChannelBody, WithoutValuesOrWhereItWouldBeTooLongHasNoEvents) {
  ChannelNews news = News();
  EXPECT_TRUE(base::ParseJsonOrThrow(ChannelWebhookBody(news, 300))["events"].is_null());
  news.include_values = false;
  EXPECT_FALSE(base::ParseJsonOrThrow(ChannelWebhookBody(news, 10000)).contains("events"));
  EXPECT_TRUE(ChatMessageOf(news, "").lines.empty());
}

TEST(ChannelBody, OfANoticeOfTheOrganisationSaysWhatAboutWhom) {
  ChannelNews news;
  news.type = NotificationType::kFailed;
  news.notice = AccountNotice{NoticeKind::kSpendLimit, base::Uuid::V4(), "\"Sales\""};
  const Json body = base::ParseJsonOrThrow(ChannelWebhookBody(news, 10000));
  EXPECT_EQ(body["type"], "account.notice");
  EXPECT_EQ(body["notice"], "spend_limit");
  EXPECT_EQ(body["about"], news.notice->about.ToString());
  EXPECT_EQ(body["message"], "The team \"Sales\" has reached its spend limit of this month");
  EXPECT_FALSE(body.contains("events"));
  const ChatMessage message = ChatMessageOf(news, "https://vedette.example/monitors");
  EXPECT_EQ(body["message"], message.title);
  EXPECT_FALSE(message.link);
  EXPECT_THAT(AppriseBody(message, {}), HasSubstr("failure"));
}

TEST(Chat, TellsWhatChangedOfWhichRowAndWhereToLook) {
  const ChatMessage message = Message();
  EXPECT_EQ(message.title, "Prices: a.example changed");
  ASSERT_EQ(message.lines.size(), 1U);
  EXPECT_EQ(message.lines[0].field, "price");
  EXPECT_EQ(message.lines[0].text, "1 → 2");
  EXPECT_THAT(*message.link, HasSubstr("https://vedette.example/monitors/"));
  EXPECT_FALSE(ChatMessageOf(News(), "").link);
}

TEST(Chat, NothingOfAPageIsMarkupOrAMentionInSlack) {
  const Json body = base::ParseJsonOrThrow(SlackBody(Message("<!channel> <@U1> & *bold*")));
  const Json& text = body["blocks"][1]["text"];
  EXPECT_EQ(text["type"], "plain_text");
  EXPECT_EQ(text["text"], "price: 1 → &lt;!channel&gt; &lt;@U1&gt; &amp; *bold*");
  EXPECT_EQ(body["mrkdwn"], false);
}

TEST(Chat, NothingOfAPageIsMarkupOrAMentionInTeams) {
  const Json body = base::ParseJsonOrThrow(TeamsBody(Message("<at>all</at> [x](https://e) **b**")));
  const Json& card = body["attachments"][0]["content"];
  for (const Json& element : card["body"]) EXPECT_EQ(element["type"], "RichTextBlock");
  EXPECT_FALSE(card.contains("msteams")) << "where mentions would stand";
}

TEST(Chat, NothingOfAPageIsMarkupOrAMentionInDiscord) {
  const Json body = base::ParseJsonOrThrow(DiscordBody(Message("@everyone <@1> **b** [x](y)")));
  EXPECT_EQ(body["allowed_mentions"]["parse"], Json::array());
  EXPECT_EQ(body["embeds"][0]["fields"][0]["value"],
            R"(1 → \@everyone \<\@1\> \*\*b\*\* \[x\]\(y\))");
}

TEST(Chat, ANameOfWhichNothingIsSeenIsADashInDiscord) {
  for (const char* name : {" ", "\n", "\u00A0\u3000", "\u200B \uFEFF"}) {
    ChannelNews news = News();
    news.events[0].field = name;
    const Json body = base::ParseJsonOrThrow(DiscordBody(ChatMessageOf(news, "")));
    EXPECT_EQ(body["embeds"][0]["fields"][0]["name"], "–");
  }
}

TEST(Chat, WhatIsLongIsCutToTheLimitsOfEveryChat) {
  ChannelNews news = News(std::string(100000, '*'));
  news.monitor_name = std::string(1000, '_');
  news.subject_json = R"({"domain":")" + std::string(1000, '@') + R"("})";
  news.events.front().field = std::string(1000, '`');
  for (int i = 0; i < 200; ++i) news.events.push_back(news.events.front());
  const ChatMessage message = ChatMessageOf(news, "https://vedette.example/monitors");
  EXPECT_LE(message.lines.size(), kChatChangesMax);
  EXPECT_EQ(message.lines.size() + message.left_out, news.events.size());

  const Json slack = base::ParseJsonOrThrow(SlackBody(message));
  EXPECT_LE(slack["blocks"].size(), 50U);
  for (const Json& block : slack["blocks"]) {
    EXPECT_LE(block["text"]["text"].get<std::string>().size(), 3000U);
  }
  EXPECT_LE(TeamsBody(message).size(), 28U * 1024);

  const Json embed = base::ParseJsonOrThrow(DiscordBody(message))["embeds"][0];
  std::size_t total = embed["title"].get<std::string>().size() +
                      embed["description"].get<std::string>().size() +
                      embed["footer"]["text"].get<std::string>().size();
  EXPECT_LE(embed["description"].get<std::string>().size(), 4096U);
  EXPECT_LE(embed["fields"].size(), 25U);
  for (const Json& field : embed["fields"]) {
    EXPECT_LE(field["name"].get<std::string>().size(), 256U);
    EXPECT_LE(field["value"].get<std::string>().size(), 1024U);
    total += field["name"].get<std::string>().size() + field["value"].get<std::string>().size();
  }
  EXPECT_LE(total, 6000U);
}

TEST(Chat, ADigestNamesMonitorAndRowOfEachChange) {
  ChannelNews news = News();
  news.digest.emplace(DigestNews{"Mornings", 7, {"Prices, a.example"}});
  const ChatMessage message = ChatMessageOf(news, "https://vedette.example/monitors");
  EXPECT_EQ(message.title, "Mornings: 7 notifications");
  EXPECT_EQ(message.lines.at(0).field, "Prices, a.example, price");
  EXPECT_FALSE(message.link) << "there is no one row";
  const Json body = base::ParseJsonOrThrow(ChannelWebhookBody(news, 10000));
  EXPECT_EQ(body["type"], "channel.digest");
  EXPECT_EQ(body["notifications"], 7);
  EXPECT_EQ(body["events"][0]["field"], "price");
  EXPECT_FALSE(body.contains("monitor_id"));
}

TEST(Chat, ATextIsCutBetweenCharacters) {
  std::string waves;
  for (int i = 0; i < 200; ++i) waves += "🌊";
  const ChatMessage message = Message(waves);
  EXPECT_NO_THROW(base::ParseJsonOrThrow(DiscordBody(message)));
  EXPECT_THAT(message.lines[0].text, Not(HasSubstr(waves)));
}

TEST(Chat, AppriseIsToldTitleBodyTypeAndTag) {
  ChannelNews news = News();
  news.type = NotificationType::kFailed;
  const Json body = base::ParseJsonOrThrow(AppriseBody(ChatMessageOf(news, ""), "sales"));
  EXPECT_EQ(body["title"], "Prices: a.example could not be checked");
  EXPECT_EQ(body["body"], "price: 1 → 2\n");
  EXPECT_EQ(body["type"], "failure");
  EXPECT_EQ(body["tag"], "sales");
  EXPECT_FALSE(base::ParseJsonOrThrow(AppriseBody(Message(), std::nullopt)).contains("tag"));
}

TEST(Channel, ASecretAddressIsShownAsItsHostAndLastFourCharacters) {
  const std::string url = "https://hooks.slack.example/services/T0/B0/secret1234";
  EXPECT_EQ(ShownUrl("https", "hooks.slack.example", url), "https://hooks.slack.example/...1234");
}

}  // namespace
}  // namespace vedette::domain
