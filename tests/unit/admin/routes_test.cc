#include "admin/routes.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace vedette::admin {
namespace {

TEST(Routes, EachHasExactlyOneHandlerAndIsTheOneItsPathFinds) {
  for (const Route& route : Routes()) {
    EXPECT_EQ(
        (route.immediate != nullptr) + (route.stored != nullptr) + (route.portioned != nullptr), 1)
        << route.pattern;
    const RouteMatch match = FindRoute(route.method, route.pattern);
    EXPECT_EQ(match.route, &route) << route.method << route.pattern;
  }
}

TEST(Routes, OnlyHealthMetricsAndTheConsoleNeedNoToken) {
  std::set<std::string> open;
  for (const Route& route : Routes()) {
    if (route.access != Route::Access::kToken) open.emplace(route.pattern);
  }
  EXPECT_EQ(open,
            (std::set<std::string>{"/", "/console/{file}", "/healthz", "/metrics", "/readyz"}));
}

TEST(Routes, OfTheHealthPortSayNothingButHealthAndMetrics) {
  std::set<std::string> health;
  for (const Route& route : Routes()) {
    if (route.access == Route::Access::kHealth) health.emplace(route.pattern);
  }
  EXPECT_EQ(health, (std::set<std::string>{"/healthz", "/metrics", "/readyz"}));
}

TEST(Routes, GivesTheValuesOfThePlaceholders) {
  const RouteMatch match = FindRoute("PATCH", "/admin/v1/orgs/a%20b/teams/c");
  ASSERT_NE(match.route, nullptr);
  EXPECT_EQ(match.values, (std::vector<std::string>{"a%20b", "c"}));
}

TEST(Routes, NamesTheMethodsThatAPathHas) {
  const RouteMatch match = FindRoute("PUT", "/admin/v1/orgs");
  EXPECT_EQ(match.route, nullptr);
  EXPECT_EQ(match.allowed, (std::vector<std::string_view>{"GET", "POST"}));
}

TEST(Routes, KnowNoOtherPath) {
  for (const char* path :
       {"", "//", "/admin", "/admin/v1", "/admin/v1/", "/admin/v1/orgs/", "/admin/v1/orgs//teams",
        "/healthz/", "/Healthz", "/admin/v1/monitors/a/b", "/console/", "/console/a/b",
        "admin/v1/orgs"}) {
    const RouteMatch match = FindRoute("GET", path);
    EXPECT_EQ(match.route, nullptr) << path;
  }
}

TEST(Routes, TakeReplayForAWordNotAnId) {
  EXPECT_EQ(FindRoute("POST", "/admin/v1/deliveries/replay").route->portioned, PostReplayMany);
}

}  // namespace
}  // namespace vedette::admin
