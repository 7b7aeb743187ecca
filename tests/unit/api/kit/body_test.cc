#include "api/kit/body.h"

#include "tests/support/fake_exchange.h"
#include "tests/support/refusal.h"

#include <gtest/gtest.h>

#include <string>

namespace vedette::rest {
namespace {

using vedette::test::Request;

const BodyRules kRowsRules{.bytes_max = 1000,
                           .advice = "; send fewer",
                           .large_member = "rows",
                           .elements_max = 2,
                           .json = {.values_max = 10}};

// The status with which reading the body is refused; 200 where it is not.
int StatusOf(const net::ServerRequest& request, const BodyRules& rules) {
  const auto reply = vedette::test::RefusalOf([&] { ReadJsonBody(request, rules); });
  return reply ? reply->status : 200;
}

TEST(Bodies, MayBeOfAnyJsonTypeAndOfNone) {
  for (const char* type : {"", "application/json", "Application/JSON; charset=UTF-8",
                           "application/json;charset=\"utf-8\"", "application/vnd.x+json"}) {
    EXPECT_EQ(StatusOf(Request("{}", type), {}), 200) << type;
  }
  for (const char* type : {"text/plain", "text/json", "application/x-www-form-urlencoded",
                           "application/json; charset=utf-16", "+json"}) {
    EXPECT_EQ(StatusOf(Request("{}", type), {}), 415) << type;
  }
}

TEST(Bodies, OfAnotherCharsetOrCodingAreToldWhichIsTaken) {
  const auto message = [](const net::ServerRequest& request) {
    const auto reply = vedette::test::RefusalOf([&] { ReadJsonBody(request, {}); });
    EXPECT_TRUE(reply && reply->status == 415);
    return reply ? base::ParseJsonOrThrow(reply->body)["message"].get<std::string>() : "";
  };
  EXPECT_EQ(message(Request("{}", "application/json;charset=latin1")),
            "Content-Type \"application/json;charset=latin1\" has another charset than utf-8: send "
            "UTF-8");
  net::ServerRequest coded = Request("\x1f\x8b");
  coded.headers.emplace_back("content-encoding", "gzip");
  EXPECT_EQ(message(coded), "Content-Encoding \"gzip\" is not taken: send the body uncompressed");
  coded = Request("{}");
  coded.headers.emplace_back("content-encoding", "Identity");
  EXPECT_EQ(StatusOf(coded, {}), 200);
  EXPECT_FALSE(vedette::test::RefusalOf([&] { CheckCoding(coded); }));
}

TEST(Bodies, OverTheLimitAreToldTheLimitAndWhatToDo) {
  net::ServerRequest request = Request("");
  request.body_too_large = true;
  const auto reply = vedette::test::RefusalOf([&] { ReadJsonBody(request, kRowsRules); });
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 413);
  EXPECT_NE(reply->body.find("over 1000 bytes; send fewer"), std::string::npos);
}

TEST(Bodies, ThatAreAbsentAreMalformedOrEmptyAsTheRuleSays) {
  EXPECT_EQ(StatusOf(Request(""), {}), 400);
  const JsonBody body =
      ReadJsonBody(Request("", "text/plain"), {.absent = BodyRules::Absent::kEmptyObject});
  EXPECT_EQ(body.members, base::Json::object());
}

TEST(Bodies, KeepTheElementsOfTheLargeMemberAsText) {
  const net::ServerRequest request = Request(R"({"a":1,"rows":[{"b":1},2,3]})");
  const JsonBody body = ReadJsonBody(request, kRowsRules);
  EXPECT_EQ(body.members.dump(), R"({"a":1,"rows":[]})");
  EXPECT_EQ(body.elements->count, 3U);
  EXPECT_EQ(body.elements->texts.size(), 2U);
}

TEST(Bodies, WithTooMuchInThemAreInvalidAndDeepOnesMalformed) {
  EXPECT_EQ(StatusOf(Request(R"({"a":[1,2,3,4,5,6,7,8,9,10,11]})"), kRowsRules), 422);
  const std::string deep = R"({"a":)" + std::string(100, '[') + std::string(100, ']') + "}";
  EXPECT_EQ(StatusOf(Request(deep), {}), 400);
}

TEST(Bodies, AreRefusedForANulWithItsPlaceAndNotAsInvalidJson) {
  const net::ServerRequest request = Request(R"({"rows":[{"d":"ok"},{"d":"a\u0000"}]})");
  const auto reply = vedette::test::RefusalOf([&] { ReadJsonBody(request, kRowsRules); });
  ASSERT_TRUE(reply);
  EXPECT_EQ(base::ParseJsonOrThrow(reply->body)["message"],
            "the body cannot be read: rows[1].d: a string contains \\u0000, which is not taken");
}

TEST(Bodies, CostNothingWhileTheyAreSmallAndWhatTheirElementsBecomeOtherwise) {
  EXPECT_EQ(ParseCost("{}", kRowsRules), 0U);
  const std::string one(70'000, ' ');
  EXPECT_EQ(ParseCost(one, kRowsRules), 70'000U + 10 * 100);
  const std::string many = std::string(70'000, '{');
  EXPECT_EQ(ParseCost(many, kRowsRules), 70'000U + 2 * 320 + 10 * 100);
}

}  // namespace
}  // namespace vedette::rest
