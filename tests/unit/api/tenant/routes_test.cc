#include "api/tenant/handlers.h"

#include <gtest/gtest.h>

namespace vedette::api {
namespace {

TEST(Routes, AreEachTheOneThatTheirPathFinds) {
  for (const Route& route : Routes()) {
    const auto match = Router().Find(route.method, route.pattern);
    ASSERT_TRUE(match) << route.pattern;
    EXPECT_EQ(match->route, &route) << route.pattern;
  }
}

TEST(Routes, LiteralSegmentsComeFirst) {
  EXPECT_EQ(Router().Find("GET", "/monitors/for-run/rows")->route->pattern,
            "/monitors/for-run/{run_id}");
}

TEST(Routes, NameTheMethodsOfAPath) {
  EXPECT_EQ(Router().AllowedMethods("/monitors"), "POST, GET");
  EXPECT_EQ(Router().AllowedMethods("/monitors/x/trigger"), "POST");
  EXPECT_EQ(Router().AllowedMethods("/monitors/x"), "GET, DELETE");
  EXPECT_FALSE(Router().Find("DELETE", "/monitors/x/trigger"));
}

}  // namespace
}  // namespace vedette::api
