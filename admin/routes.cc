#include "admin/routes.h"

#include <algorithm>
#include <array>
#include <optional>

namespace vedette::admin {
namespace {

constexpr auto kHealth = Route::Access::kHealth;
constexpr auto kOpen = Route::Access::kOpen;
constexpr auto kToken = Route::Access::kToken;

constexpr auto kRoutes = std::to_array<Route>({
    {"GET", "/healthz", kHealth, GetHealth, nullptr},
    {"GET", "/readyz", kHealth, GetReadiness, nullptr},
    {"GET", "/metrics", kHealth, GetMetrics, nullptr},
    {"GET", "/", kOpen, GetConsole, nullptr},
    {"GET", "/console/{file}", kOpen, GetConsoleAsset, nullptr},

    {"GET", "/admin/v1/overview", kToken, nullptr, GetOverview},
    {"GET", "/admin/v1/audit", kToken, nullptr, GetAudit},
    {"POST", "/admin/v1/drain", kToken, nullptr, PostDrain},

    {"GET", "/admin/v1/monitors", kToken, nullptr, GetMonitors},
    {"GET", "/admin/v1/monitors/{id}", kToken, nullptr, GetMonitor},
    {"GET", "/admin/v1/monitors/{id}/rows", kToken, nullptr, GetMonitorRows},
    {"GET", "/admin/v1/monitors/{id}/rows/{id}/events", kToken, nullptr, GetRowEvents},
    {"POST", "/admin/v1/monitors/{id}/pause", kToken, nullptr, PostPause},
    {"POST", "/admin/v1/monitors/{id}/resume", kToken, nullptr, PostResume},
    {"POST", "/admin/v1/monitors/{id}/cancel", kToken, nullptr, PostCancel},
    {"POST", "/admin/v1/monitors/{id}/trigger", kToken, nullptr, PostTrigger},

    // Before {id}, which would stand for "replay" too.
    {"POST", "/admin/v1/deliveries/replay", kToken, nullptr, nullptr, PostReplayMany},
    {"GET", "/admin/v1/deliveries", kToken, nullptr, GetDeliveries},
    {"GET", "/admin/v1/deliveries/{id}", kToken, nullptr, GetDelivery},
    {"POST", "/admin/v1/deliveries/{id}/replay", kToken, nullptr, PostReplay},

    {"GET", "/admin/v1/orgs", kToken, nullptr, GetOrganisations},
    {"POST", "/admin/v1/orgs", kToken, nullptr, PostOrganisation},
    {"GET", "/admin/v1/orgs/{id}", kToken, nullptr, GetOrganisation},
    {"PATCH", "/admin/v1/orgs/{id}", kToken, nullptr, PatchOrganisation},
    {"POST", "/admin/v1/orgs/{id}/credits", kToken, nullptr, PostCredits},
    {"POST", "/admin/v1/orgs/{id}/teams", kToken, nullptr, PostTeam},
    {"PATCH", "/admin/v1/orgs/{id}/teams/{id}", kToken, nullptr, PatchTeam},
    {"GET", "/admin/v1/orgs/{id}/api-keys", kToken, nullptr, GetApiKeys},
    {"POST", "/admin/v1/orgs/{id}/api-keys", kToken, nullptr, PostApiKey},
    {"DELETE", "/admin/v1/orgs/{id}/api-keys/{id}", kToken, nullptr, DeleteApiKey},
    {"POST", "/admin/v1/orgs/{id}/signing-secrets/rotate", kToken, nullptr, PostRotation},
});

// The first segment of a path that starts with '/', which is taken off.
std::string_view TakeSegment(std::string_view* path) {
  path->remove_prefix(1);
  const std::string_view segment = path->substr(0, path->find('/'));
  path->remove_prefix(segment.size());
  return segment;
}

// The placeholders' values where the path is of the pattern.
std::optional<std::vector<std::string>> Match(std::string_view pattern, std::string_view path) {
  std::vector<std::string> values;
  while (!pattern.empty() && !path.empty() && path.front() == '/') {
    const std::string_view expected = TakeSegment(&pattern);
    const std::string_view given = TakeSegment(&path);
    if (expected.starts_with('{')) {
      if (given.empty()) return std::nullopt;
      values.emplace_back(given);
    } else if (expected != given) {
      return std::nullopt;
    }
  }
  if (!pattern.empty() || !path.empty()) return std::nullopt;
  return values;
}

}  // namespace

std::span<const Route> Routes() {
  return kRoutes;
}

RouteMatch FindRoute(std::string_view method, std::string_view path) {
  RouteMatch match;
  for (const Route& route : kRoutes) {
    auto values = Match(route.pattern, path);
    if (!values) continue;
    if (route.method == method) {
      match.route = &route;
      match.values = std::move(*values);
      match.allowed.clear();
      return match;
    }
    if (std::find(match.allowed.begin(), match.allowed.end(), route.method) ==
        match.allowed.end()) {
      match.allowed.push_back(route.method);
    }
  }
  return match;
}

}  // namespace vedette::admin
