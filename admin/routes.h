#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "admin/handlers.h"

namespace vedette::admin {

// What the port serves. Exactly one of the handlers is set.
struct Route {
  // kHealth: without a token, and on the health port too.
  enum class Access { kHealth, kOpen, kToken };

  std::string_view method;
  std::string_view pattern;  // {id} stands for a UUID, {file} for one segment
  Access access;
  Answer (*immediate)(const Parts&, const Call&) = nullptr;
  Answer (*stored)(const Parts&, store::Session&, const Call&) = nullptr;
  std::optional<Answer> (*portioned)(const Parts&, store::Session&, const Call&,
                                     store::ReplayProgress*) = nullptr;
};

std::span<const Route> Routes();

struct RouteMatch {
  const Route* route = nullptr;
  // Where no route has this method: those that the path has, in the table's order. Empty: no such
  // path.
  std::vector<std::string_view> allowed;
  std::vector<std::string> values;  // of the placeholders, still percent-encoded
};
RouteMatch FindRoute(std::string_view method, std::string_view path);

}  // namespace vedette::admin
