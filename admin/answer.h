#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "net/http_server.h"

namespace vedette::admin {

// What a handler answers; a value, the request's refusal included.
using Answer = net::ServerResponse;

Answer JsonAnswer(int status, const base::Json& body);
// Of what is JSON text already.
Answer JsonTextAnswer(int status, std::string body);

// {"error": code, "message": message}
Answer ErrorAnswer(int status, std::string_view code, std::string_view message);
Answer NotFound(std::string_view what);  // "no such monitor"
Answer Conflict(std::string_view code, std::string_view message);
// 503, nothing happened; with Retry-After.
Answer TryLater(std::string_view code, std::string_view message);

// One item of a 422 (interface 2.12).
struct Invalid {
  base::Json loc;  // ["body", "name"]
  std::string msg;
  std::string type;
  base::Json input;
  base::Json ctx;  // object or null
};
Answer InvalidAnswer(const std::vector<Invalid>& items);

}  // namespace vedette::admin
