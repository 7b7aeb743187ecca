#pragma once

#include <optional>
#include <string_view>

#include "domain/auth/key_scope.h"

namespace vedette::api {

// The scope that a key needs for a route, by the first segments of its pattern; empty for a pattern
// that stands for nothing here, which no route of the table may have (routes.cc). GET is allowed by
// kRead as well, but where the scope is kAccount. Pure.
constexpr std::optional<domain::KeyScope> ScopeOf(std::string_view pattern) {
  using domain::KeyScope;
  struct Room {
    std::string_view prefix;
    KeyScope scope;
  };
  constexpr Room kRooms[] = {
      {"/monitors", KeyScope::kMonitors},     {"/events", KeyScope::kMonitors},
      {"/channels", KeyScope::kMonitors},     {"/schedules", KeyScope::kMonitors},
      {"/storage/csv", KeyScope::kMonitors},  {"/find-email", KeyScope::kLookups},
      {"/reverse-email", KeyScope::kLookups}, {"/verify-age", KeyScope::kLookups},
      {"/job-status", KeyScope::kLookups},    {"/v1/atlas", KeyScope::kLookups},
      {"/search", KeyScope::kSearch},         {"/workflows", KeyScope::kWorkflows},
      {"/templates", KeyScope::kWorkflows},   {"/credits", KeyScope::kRead},
      {"/account", KeyScope::kAccount},       {"/oauth/clients", KeyScope::kAccount},
      {"/dashboard/", KeyScope::kRead},       {"/snapshots", KeyScope::kMonitors},
  };
  for (const Room& room : kRooms) {
    if (pattern.starts_with(room.prefix)) return room.scope;
  }
  return std::nullopt;
}

// Whether a key with these scopes may use a route.
constexpr bool MayUse(const domain::KeyScopes& scopes, std::string_view method,
                      std::string_view pattern) {
  const auto scope = ScopeOf(pattern);
  if (!scope) return scopes.all();
  // Everybody may see and change what he signs in with himself, and end his own sessions.
  if (pattern.starts_with("/dashboard/")) return true;
  const bool reads = method == "GET" && *scope != domain::KeyScope::kAccount;
  return scopes.Has(*scope) || (reads && scopes.Has(domain::KeyScope::kRead));
}

}  // namespace vedette::api
