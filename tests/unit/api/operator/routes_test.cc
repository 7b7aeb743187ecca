#include "api/operator/handlers.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/operator/admin.h"
#include "config/auth_config.h"
#include "metrics/metrics.h"
#include "tests/support/fake_exchange.h"

namespace vedette::admin {
namespace {

TEST(Routes, EachHasAHandlerAndIsTheOneItsPathFinds) {
  for (const Route& route : Routes()) {
    EXPECT_NE(route.handler, nullptr) << route.pattern;
    const auto match = Router().Find(route.method, route.pattern);
    ASSERT_TRUE(match) << route.method << route.pattern;
    EXPECT_EQ(&RouteOf(*match), &route) << route.method << route.pattern;
  }
}

TEST(Routes, OnlyHealthMetricsAndTheConsoleNeedNoToken) {
  std::set<std::string> open;
  for (const Route& route : Routes()) {
    if (route.access == rest::Access::kOpen) open.emplace(route.pattern);
  }
  EXPECT_EQ(open, (std::set<std::string>{"/", "/console/sign-in", "/console/{file}", "/healthz",
                                         "/metrics", "/readyz"}));
}

TEST(Routes, SigningInAloneShowsWhatItNeedsItself) {
  std::set<std::string> own;
  for (const Route& route : Routes()) {
    if (route.access == rest::Access::kSignedLink) own.emplace(route.pattern);
  }
  EXPECT_EQ(own,
            (std::set<std::string>{"/console/callback", "/console/sign-in", "/console/sign-out"}));
}

// Reading is for everybody whom the port lets in; nothing is changed by who may only read.
TEST(Routes, NameARoleForEveryChange) {
  for (const Route& route : Routes()) {
    if (route.access == rest::Access::kSignedLink) continue;
    EXPECT_EQ(route.role == Role::kViewer, route.method == "GET")
        << route.method << " " << route.pattern;
  }
}

TEST(Roles, AreThoseOfTheConfiguration) {
  for (const char* name : {"viewer", "operator", "admin"}) {
    EXPECT_EQ(RoleName(RoleNamed(name)), name);
  }
  EXPECT_EQ(RoleNamed(""), Role::kAdmin) << "as before there were roles";
}

TEST(Roles, AreGivenByTheValuesOfAClaimAndTheHighestCounts) {
  config::AdminOidcConfig oidc;
  oidc.viewers = {"staff", "both"};
  oidc.operators = {"on call"};
  oidc.admins = {"owners", "both"};
  using Said = std::vector<std::string>;
  EXPECT_EQ(RoleOfValues(oidc, Said{"staff"}), Role::kViewer);
  EXPECT_EQ(RoleOfValues(oidc, Said{"staff", "x", "on call"}), Role::kOperator);
  EXPECT_EQ(RoleOfValues(oidc, Said{"on call", "owners", "staff"}), Role::kAdmin);
  EXPECT_EQ(RoleOfValues(oidc, Said{"both"}), Role::kAdmin);
  for (const Said& said : {Said{}, Said{""}, Said{"Staff"}, Said{"staff "}, Said{"admin"}}) {
    EXPECT_FALSE(RoleOfValues(oidc, said));
  }
  EXPECT_FALSE(RoleOfValues({}, Said{"admin", "viewer"})) << "nobody has one by default";
}

TEST(ConsoleTokens, AreReadFromOneCookieOfTheirForm) {
  const std::string token = "vd_con_" + std::string(43, 'a');
  const auto found = [](const std::string& cookie) {
    net::ServerRequest request;
    request.headers = {{"cookie", cookie}};
    return std::string(ConsoleTokenOf(request));
  };
  EXPECT_EQ(found("a=b; __Host-vedette-console=" + token), token);
  const std::string twice = "__Host-vedette-console=" + token;
  for (const std::string& none :
       {std::string(), "vedette-console=" + token, "__Host-vedette=" + token,
        "__Host-vedette-console=vd_ses_" + std::string(43, 'a'),
        "__Host-vedette-console=" + token + "a", twice + "; " + twice}) {
    EXPECT_EQ(found(none), "") << none;
  }
}

class ReadyService final : public ServiceState {
 public:
  bool Ready(std::vector<std::string>*) const override { return true; }
  bool MayAnswer() const override { return true; }
  void Drain() override {}
  base::Uuid member_id() const override { return {}; }
  std::string rendering_lack() const override { return ""; }
};

TEST(HealthPort, SaysNothingButHealthAndMetrics) {
  ReadyService state;
  metrics::Metrics metrics("test");
  HealthPort port(state, metrics);
  std::set<std::string> served;
  for (const Route& route : Routes()) {
    net::ServerRequest request;
    request.method = route.method;
    request.path = route.pattern;
    const auto exchange = std::make_shared<vedette::test::FakeExchange>(std::move(request));
    port.HandleWhole(exchange);
    ASSERT_TRUE(exchange->answer) << route.pattern;
    if (exchange->answer->status == 200) served.emplace(route.pattern);
  }
  EXPECT_EQ(served, (std::set<std::string>{"/healthz", "/metrics", "/readyz"}));
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
  EXPECT_EQ(Router().Find("POST", "/admin/v1/deliveries/replay")->route->handler, PostReplayMany);
}

}  // namespace
}  // namespace vedette::admin
