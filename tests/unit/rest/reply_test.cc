#include "rest/reply.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "rest/problems.h"

namespace vedette::rest {
namespace {

TEST(Problems, AreBounded) {
  Problems problems;
  for (int i = 0; i < 1000; ++i) problems.Add(base::Json::array(), "t", "m");
  EXPECT_TRUE(problems.full());
  EXPECT_EQ(problems.items().size(), 100U);
}

TEST(Shortened, CutsLongTextBetweenCharacters) {
  const std::string text(99, 'a');
  EXPECT_EQ(Shortened(text + "\xc3\xa4 and more").get<std::string>(), text + "...");
  EXPECT_EQ(Shortened(base::Json::array({1})), "(an array)");
}

TEST(Replies, AreWhatTheInterfaceNames) {
  EXPECT_EQ(ErrorReply(409, "a", "b").body, R"({"error":"a","message":"b"})");
  EXPECT_EQ(ValidationReply({{base::Json::array({"body", "x"}), "m", "t", 1, nullptr}}).body,
            R"({"detail":[{"loc":["body","x"],"msg":"m","type":"t","input":1,"ctx":null}]})");
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
