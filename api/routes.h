#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/call.h"

// The one table of routes: it serves dispatch, 404 and 405, body limits, metric labels and the test
// that holds it against openapi.yaml.
namespace vedette::api {

enum class Body { kNone, kJson, kUpload };

struct Route {
  std::string_view method;
  std::string_view pattern;  // "{name}" stands for one segment
  Body body = Body::kNone;
  // Null for a document that is served to everybody.
  Handler handler = nullptr;
};

std::span<const Route> Routes();

struct Match {
  const Route* route = nullptr;
  std::vector<std::string> params;
};

// The route, if one has this method and path; the path is still percent-encoded.
std::optional<Match> FindRoute(std::string_view method, std::string_view path);

// The methods that the path has, as an Allow header has them; empty for an unknown path.
std::string AllowedMethods(std::string_view path);

}  // namespace vedette::api
