#include "api/kit/reply.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "base/json.h"
#include "tests/support/refusal.h"

namespace vedette::rest {
namespace {

TEST(EndOfMove, IsNotToldOnceItIsPast) {
  const base::Timestamp now(std::chrono::seconds(1'700'000'000));
  const base::Timestamp until = now + std::chrono::minutes(1);
  EXPECT_EQ(EndOfMove(until, now), ", which should end before " + base::FormatTimestamp(until));
  EXPECT_EQ(EndOfMove(now - std::chrono::minutes(1), now), "");
}

TEST(Problems, AreBounded) {
  Problems problems;
  for (int i = 0; i < 1000; ++i) problems.Add(base::Json::array(), "t", "m");
  EXPECT_TRUE(problems.full());
  EXPECT_EQ(problems.Items().size(), 100U);
}

TEST(Problems, AreRefusedTogether) {
  Problems problems;
  problems.Check();
  problems.Add(base::Json::array({"body", "x"}), "t", "m", 1);
  problems.Add(base::Json::array({"body"}), "t", "m", nullptr, {{"le", 2}});
  const auto reply = vedette::test::RefusalOf([&] { problems.Check(); });
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 422);
  EXPECT_EQ(reply->body,
            R"({"detail":[{"loc":["body","x"],"msg":"m","type":"t","input":1,"ctx":null},)"
            R"({"loc":["body"],"msg":"m","type":"t","input":null,"ctx":{"le":2}}]})");
}

TEST(Shortened, CutsLongTextBetweenCharacters) {
  const std::string text(99, 'a');
  EXPECT_EQ(Shortened(text + "\xc3\xa4 and more").get<std::string>(), text + "...");
  EXPECT_EQ(Shortened(base::Json::array({1})), "(an array)");
}

TEST(Replies, AreWhatTheInterfaceNames) {
  EXPECT_EQ(ErrorReply(409, "a", "b").body, R"({"error":"a","message":"b"})");
  EXPECT_EQ(ValidationReply(base::Json::array({"body", "x"}), "t", "m").body,
            R"({"detail":[{"loc":["body","x"],"msg":"m","type":"t","input":null,"ctx":null}]})");
}

TEST(Replies, ThatAskToComeAgainSayWhen) {
  for (const Reply& reply : {Unavailable("m"), Unavailable("incomplete", "m")}) {
    EXPECT_EQ(reply.status, 503);
    EXPECT_EQ(std::count(reply.headers.begin(), reply.headers.end(), Header("Retry-After", "5")),
              1);
  }
}

}  // namespace
}  // namespace vedette::rest
