#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rest/reply.h"

// What a route is, and how a request finds its own. A port's routes are one table of data;
// dispatch, 404, 405, body limits, metric labels and the tests that hold documents against the
// table read it.
namespace vedette::rest {

// What a route's requests carry. kUpload: a body that the handler reads in pieces.
enum class Body { kNone, kJson, kForm, kUpload };

// What every route says of itself. A port's Route derives from it and adds its handler and what
// else its requests need.
struct RouteHead {
  std::string_view method;
  std::string_view pattern;  // "/monitors/{monitor_id}": "{name}" stands for one segment
  Body body = Body::kNone;
  std::size_t body_bytes_max = 0;  // 0: the port's default
};

// What a request to a route without a body may send all the same; it is not read.
inline constexpr std::size_t kStrayBodyBytesMax = 65536;

// The limit of its requests' bodies.
inline std::size_t BodyBytesMax(const RouteHead& route, std::size_t by_default) {
  if (route.body == Body::kNone) return kStrayBodyBytesMax;
  return route.body_bytes_max == 0 ? by_default : route.body_bytes_max;
}

template <typename Route>
struct Match {
  const Route* route = nullptr;
  std::vector<std::string> params;  // decoded, in the order of the pattern
};

// The parameters where `path`, still percent-encoded, has the pattern. Every parameter has at least
// one character. A path with a bad escape has no pattern. Pure.
std::optional<std::vector<std::string>> MatchPattern(std::string_view pattern,
                                                     std::string_view path);

// 404; `hint`: where to look instead, for the end of the sentence.
Reply NoSuchPath(std::string_view path, std::string_view hint = {});
// 405; `allowed` becomes the Allow header.
Reply WrongMethod(std::string_view method, std::string_view allowed);

// Finds routes in a table, in which literal segments stand before parameters: the first match
// counts. The table must outlive this object. Immutable.
template <typename Route>
class Router {
 public:
  constexpr explicit Router(std::span<const Route> routes) : routes_(routes) {}

  // The route that has this method and path, if there is one.
  std::optional<Match<Route>> Find(std::string_view method, std::string_view path) const {
    for (const Route& route : routes_) {
      if (route.method != method) continue;
      if (auto params = MatchPattern(route.pattern, path)) {
        return Match<Route>{&route, std::move(*params)};
      }
    }
    return std::nullopt;
  }

  // The methods that the path has, as an Allow header has them; empty for an unknown path.
  std::string AllowedMethods(std::string_view path) const {
    std::string methods;
    for (const Route& route : routes_) {
      if (!MatchPattern(route.pattern, path)) continue;
      if (!methods.empty()) methods += ", ";
      methods += route.method;
    }
    return methods;
  }

  // The answer to a request that has no route; `hint` as NoSuchPath has it.
  Reply Refusal(std::string_view method, std::string_view path, std::string_view hint = {}) const {
    const std::string allowed = AllowedMethods(path);
    return allowed.empty() ? NoSuchPath(path, hint) : WrongMethod(method, allowed);
  }

  // For HttpService::BodyBytesMax.
  std::size_t BodyBytesMax(std::string_view method, std::string_view path,
                           std::size_t by_default) const {
    const auto match = Find(method, path);
    return match ? rest::BodyBytesMax(*match->route, by_default) : kStrayBodyBytesMax;
  }

 private:
  std::span<const Route> routes_;
};

}  // namespace vedette::rest
