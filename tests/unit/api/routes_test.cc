#include "api/routes.h"

#include <gtest/gtest.h>

namespace vedette::api {
namespace {

TEST(Routes, MatchMethodAndPath) {
  const auto match = FindRoute("GET", "/monitors/m1/rows/r%201/events");
  ASSERT_TRUE(match);
  EXPECT_EQ(match->route->pattern, "/monitors/{monitor_id}/rows/{row_id}/events");
  EXPECT_EQ(match->params, (std::vector<std::string>{"m1", "r 1"}));
}

TEST(Routes, LiteralSegmentsComeFirst) {
  EXPECT_EQ(FindRoute("GET", "/monitors/for-run/rows")->route->pattern,
            "/monitors/for-run/{run_id}");
}

TEST(Routes, UnknownPathsMatchNothing) {
  for (const char* path : {"/", "", "/monitor", "/monitors/", "/monitors//rows", "/monitors/a/b",
                           "/monitors/a/rows/", "//monitors", "/Monitors", "/monitors/%zz"}) {
    EXPECT_FALSE(FindRoute("GET", path)) << path;
    EXPECT_EQ(AllowedMethods(path), "") << path;
  }
}

TEST(Routes, NameTheMethodsOfAPath) {
  EXPECT_EQ(AllowedMethods("/monitors"), "POST, GET");
  EXPECT_EQ(AllowedMethods("/monitors/x/trigger"), "POST");
  EXPECT_FALSE(FindRoute("DELETE", "/monitors/x"));
}

}  // namespace
}  // namespace vedette::api
