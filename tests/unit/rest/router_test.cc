#include "rest/router.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace vedette::rest {
namespace {

struct Route : RouteHead {
  int handler = 0;
};

constexpr std::array kRoutes{
    Route{{"POST", "/things", Body::kJson}, 1},
    Route{{"GET", "/things"}, 2},
    Route{{"GET", "/things/for-run/{run}"}, 3},
    Route{{"GET", "/things/{thing}/parts/{part}"}, 4},
    Route{{"POST", "/files", Body::kUpload, 5000}, 5},
    Route{{"GET", "/"}, 6},
};
constexpr Router<Route> kRouter{kRoutes};

TEST(Router, FindsARouteByMethodAndPathAndDecodesItsParameters) {
  const auto match = kRouter.Find("GET", "/things/t%201/parts/p");
  ASSERT_TRUE(match);
  EXPECT_EQ(match->route->handler, 4);
  EXPECT_EQ(match->params, (std::vector<std::string>{"t 1", "p"}));
  EXPECT_EQ(kRouter.Find("POST", "/things")->route->handler, 1);
  EXPECT_EQ(kRouter.Find("GET", "/")->route->handler, 6);
}

TEST(Router, TakesTheFirstRouteThatMatches) {
  EXPECT_EQ(kRouter.Find("GET", "/things/for-run/parts")->route->handler, 3);
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
  EXPECT_EQ(kRouter.Refusal("GET", "/nothing").status, 404);
  EXPECT_NE(kRouter.Refusal("GET", "/nothing", "look at /docs").body.find("; look at /docs"),
            std::string::npos);
  const Reply wrong = kRouter.Refusal("DELETE", "/things");
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
