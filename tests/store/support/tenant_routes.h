#pragma once

#include <string>
#include <vector>

#include "api/tenant/handlers.h"
#include "net/http_server.h"

// The table of routes, for tests that hold on every route.
namespace vedette::test {

// A request of the route without any credential. What its path names, `named`, is not there.
inline net::ServerRequest BareRequest(const api::Route& route, const std::string& named = "none") {
  net::ServerRequest request;
  request.method = route.method;
  request.path = route.pattern;
  for (std::size_t open = request.path.find('{'); open != std::string::npos;
       open = request.path.find('{')) {
    request.path.replace(open, request.path.find('}') - open + 1, named);
  }
  request.target = request.path;
  return request;
}

// The routes that take a credential.
inline std::vector<const api::Route*> CredentialRoutes() {
  std::vector<const api::Route*> routes;
  for (const api::Route& route : api::Routes()) {
    const bool by_itself =
        route.access == rest::Access::kAssertion || route.access == rest::Access::kSignedLink;
    if (route.access != rest::Access::kOpen && !by_itself) {
      routes.push_back(&route);
    }
  }
  return routes;
}

}  // namespace vedette::test
