#include "api/kit/router.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace vedette::rest {
namespace {

struct Nothing {};
using TestCall = Call<Nothing, Nothing>;
using TestRoute = Route<TestCall>;

constexpr std::array kRoutes{
    TestRoute{"POST", "/things", nullptr, {.body = Body::kJson}},
    TestRoute{"GET", "/things", nullptr},
    TestRoute{"GET", "/things/for-run/{run}", nullptr},
    TestRoute{"GET", "/things/{thing}/parts/{part}", nullptr},
    TestRoute{"POST", "/files", nullptr, {.body = Body::kUpload, .body_bytes_max = 5000}},
    TestRoute{"GET", "/", nullptr},
};
constexpr Router<TestCall> kRouter{kRoutes};

TEST(Router, FindsARouteByMethodAndPathAndDecodesItsParameters) {
  const auto match = kRouter.Find("GET", "/things/t%201/parts/p");
  ASSERT_TRUE(match);
  EXPECT_EQ(match->route, &kRoutes[3]);
  EXPECT_EQ(match->params, (std::vector<std::string>{"t 1", "p"}));
  EXPECT_EQ(kRouter.Find("POST", "/things")->route, &kRoutes[0]);
  EXPECT_EQ(kRouter.Find("GET", "/")->route, &kRoutes[5]);
}

TEST(Router, TakesTheFirstRouteThatMatches) {
  EXPECT_EQ(kRouter.Find("GET", "/things/for-run/parts")->route, &kRoutes[2]);
}

TEST(Router, FindsNothingAtOtherPaths) {
  for (const char* path :
       {"", "//", "things", "/things/", "//things", "/Things", "/things/a", "/things//parts/b",
        "/things/a/parts/", "/things/%zz/parts/b", "/things/%00/parts/b", "/things/a/parts/b/"}) {
    EXPECT_FALSE(kRouter.Find("GET", path)) << path;
    EXPECT_EQ(kRouter.AllowedMethods(path), "") << path;
  }
}

TEST(Router, RefusesAnUnknownPathAndNamesTheMethodsOfAKnownOne) {
  EXPECT_EQ(kRouter.NoRoute("GET", "/nothing").status, 404);
  EXPECT_NE(kRouter.NoRoute("GET", "/nothing", "look at /docs").body.find("; look at /docs"),
            std::string::npos);
  const Reply wrong = kRouter.NoRoute("DELETE", "/things");
  EXPECT_EQ(wrong.status, 405);
  EXPECT_EQ(std::count(wrong.headers.begin(), wrong.headers.end(), Header("Allow", "POST, GET")),
            1);
}

TEST(Router, KnowsTheBodyLimitOfEveryRequest) {
  EXPECT_EQ(kRouter.BodyBytesMax("POST", "/things", 100), 100U);
  EXPECT_EQ(kRouter.BodyBytesMax("POST", "/files", 100), 5000U);
  EXPECT_EQ(kRouter.BodyBytesMax("GET", "/things", 100), kStrayBodyBytesMax);
  EXPECT_EQ(kRouter.BodyBytesMax("GET", "/nothing", 100), kStrayBodyBytesMax);
}

}  // namespace
}  // namespace vedette::rest
