#include "net/browser/devtools_messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace vedette::net {
namespace {

using ::testing::ElementsAre;

TEST(DevtoolsMessages, PiecesBecomeMessages) {
  DevtoolsSplitter splitter;
  std::vector<std::string> seen;
  const auto keep = [&](std::string message, bool whole) {
    EXPECT_TRUE(whole);
    seen.push_back(std::move(message));
  };
  splitter.Add(std::string_view("{\"id\":1}\0{\"id\"", 14), keep);
  EXPECT_THAT(seen, ElementsAre("{\"id\":1}"));
  splitter.Add(std::string_view(":2}\0\0", 5), keep);
  EXPECT_THAT(seen, ElementsAre("{\"id\":1}", "{\"id\":2}", ""));
}

// What a page makes is as large as it likes: the rest is not held.
TEST(DevtoolsMessages, AMessageThatIsTooLongIsPassedOverAndTheNextIsWhole) {
  DevtoolsSplitter splitter;
  std::vector<bool> whole;
  std::string first;
  const auto keep = [&](std::string message, bool is_whole) {
    whole.push_back(is_whole);
    EXPECT_LE(message.size(), kDevtoolsBytesMax);
    if (first.empty()) first = message.substr(0, 9);
  };
  splitter.Add("{\"id\":77,", keep);
  const std::string much(1 << 20, 'x');
  for (std::size_t n = 0; n <= kDevtoolsBytesMax; n += much.size()) splitter.Add(much, keep);
  splitter.Add(std::string_view("\0{}\0", 4), keep);
  EXPECT_THAT(whole, ElementsAre(false, true));
  EXPECT_EQ(AnswerId(first), 77);
}

TEST(DevtoolsMessages, ALongEventIsPassedOverWhereALongAnswerIsRead) {
  const std::string much(kDevtoolsEventBytesMax, 'x');
  for (const std::size_t piece : {std::size_t{1}, std::size_t{1000}}) {
    DevtoolsSplitter splitter;
    std::vector<bool> whole;
    const std::string text =
        "{\"method\":\"" + much + '\0' + "{\"id\":7,\"" + much + '\0' + "{}" + '\0';
    for (std::size_t at = 0; at < text.size(); at += piece) {
      splitter.Add(std::string_view(text).substr(at, piece),
                   [&](const std::string&, bool is_whole) { whole.push_back(is_whole); });
    }
    EXPECT_THAT(whole, ElementsAre(false, true, true));
  }
}

TEST(DevtoolsMessages, OnlyAnswersHaveAnId) {
  EXPECT_EQ(AnswerId(R"({"id":12,"result":{}})"), 12);
  EXPECT_EQ(AnswerId(R"({"method":"Page.x","params":{"id":3}})"), std::nullopt);
  EXPECT_EQ(AnswerId(R"({"id":"x"})"), std::nullopt);
}

TEST(DevtoolsMessages, ACommandEndsWithNul) {
  EXPECT_EQ(DevtoolsCommand(3, "Page.navigate", {{"url", "http://a.example/"}}, "S"),
            std::string("{\"id\":3,\"method\":\"Page.navigate\",\"params\":{\"url\":"
                        "\"http://a.example/\"},\"sessionId\":\"S\"}") +
                '\0');
}

TEST(DevtoolsMessages, HalvesOfPairsAndNulAreMended) {
  std::string text = R"({"a":"\ud83d\ude00 \ud83d \ude00 \u0000 \\ud83d x\\"})";
  MendSurrogates(&text);
  EXPECT_EQ(text, R"({"a":"\ud83d\ude00 \ufffd \ufffd \ufffd \\ud83d x\\"})");
}

TEST(DevtoolsMessages, EventsAndErrorsAreRead) {
  const auto event =
      ReadDevtoolsMessage(R"({"method":"Page.loadEventFired","params":{"t":1},"sessionId":"S"})");
  ASSERT_TRUE(event);
  EXPECT_EQ(event->method, "Page.loadEventFired");
  EXPECT_EQ(event->session, "S");
  EXPECT_EQ(event->body.at("t"), 1);
  const auto error = ReadDevtoolsMessage(R"({"id":4,"error":{"code":-32000,"message":"no"}})");
  ASSERT_TRUE(error);
  EXPECT_EQ(error->id, 4);
  EXPECT_EQ(error->error, "no");
  EXPECT_FALSE(ReadDevtoolsMessage("[1"));
}

}  // namespace
}  // namespace vedette::net
