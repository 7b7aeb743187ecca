#pragma once

#include <string>
#include <utility>
#include <vector>

#include "net/http_server.h"

namespace vedette::test {

// A request as the server would have read it, without a body, for handlers that are called
// directly.
inline net::ServerRequest ServerRequestOf(
    const std::string& method, const std::string& target,
    std::vector<std::pair<std::string, std::string>> headers) {
  net::ServerRequest request;
  request.method = method;
  request.target = target;
  const auto mark = target.find('?');
  request.path = target.substr(0, mark);
  if (mark != std::string::npos) request.query = target.substr(mark + 1);
  request.headers = std::move(headers);
  return request;
}

}  // namespace vedette::test
