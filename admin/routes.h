#pragma once

#include <span>
#include <string_view>

#include "admin/handlers.h"
#include "rest/router.h"

namespace vedette::admin {

// What the port serves. Exactly one of the handlers is set, or the path. In a pattern {id} stands
// for a UUID; {file}, {user} and {kid} for one segment.
struct Route : rest::RouteHead {
  // kHealth: without a token, and on the health port too.
  enum class Access { kHealth, kOpen, kToken };

  Access access = Access::kToken;
  rest::Reply (*immediate)(const Parts&, const Call&) = nullptr;
  rest::Reply (*stored)(const Parts&, store::Session&, const Call&) = nullptr;
  std::optional<rest::Reply> (*portioned)(const Parts&, store::Session&, const Call&,
                                          store::ReplayProgress*) = nullptr;
  rest::Handled (*waiting)(const Parts&, store::Session&, const Call&, const Waiting&) = nullptr;
  // Of the public API, asked for the organisation that the first {id} names (tenant_api.h); {id}
  // stands for the last one here.
  std::string_view tenant_path{};
};

std::span<const Route> Routes();
const rest::Router<Route>& Router();

}  // namespace vedette::admin
