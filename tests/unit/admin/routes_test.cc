#include "admin/routes.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace vedette::admin {
namespace {

TEST(Routes, EachHasExactlyOneHandlerAndIsTheOneItsPathFinds) {
  for (const Route& route : Routes()) {
    EXPECT_EQ((route.immediate != nullptr) + (route.stored != nullptr) +
                  (route.portioned != nullptr) + (route.waiting != nullptr) +
                  (route.tenant_path.empty() ? 0 : 1),
              1)
        << route.pattern;
    const auto match = Router().Find(route.method, route.pattern);
    ASSERT_TRUE(match) << route.method << route.pattern;
    EXPECT_EQ(match->route, &route) << route.method << route.pattern;
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

TEST(Routes, NamesTheMethodsThatAPathHas) {
  EXPECT_FALSE(Router().Find("PUT", "/admin/v1/orgs"));
  EXPECT_EQ(Router().AllowedMethods("/admin/v1/orgs"), "GET, POST");
}

TEST(Routes, KnowNoOtherPath) {
  for (const char* path :
       {"", "//", "/admin", "/admin/v1", "/admin/v1/", "/admin/v1/orgs/", "/admin/v1/orgs//teams",
        "/healthz/", "/Healthz", "/admin/v1/monitors/a/b", "/console/", "/console/a/b",
        "admin/v1/orgs"}) {
    EXPECT_FALSE(Router().Find("GET", path)) << path;
  }
}

TEST(Routes, TakeReplayForAWordNotAnId) {
  EXPECT_EQ(Router().Find("POST", "/admin/v1/deliveries/replay")->route->portioned, PostReplayMany);
}

}  // namespace
}  // namespace vedette::admin
