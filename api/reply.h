#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/json.h"

namespace vedette::api {

// One whole answer. The request id, rate limit and content type headers are added by Answer.
struct Reply {
  int status = 200;
  std::string body;  // JSON text
  std::vector<std::pair<std::string, std::string>> headers{};
};

// What was judged, or the answer that says why not.
template <typename T>
using Judged = std::variant<T, Reply>;

// {"error": code, "message": message}. Codes are stable; messages are for people.
Reply ErrorReply(int status, std::string_view code, std::string_view message);

Reply NotFound(std::string_view what);  // "there is no such <what>"
Reply Conflict(std::string_view message);
// 503 with Retry-After.
Reply Unavailable(std::string_view message);

// One item of a 422's `detail` (interface 2.12).
struct ValidationItem {
  base::Json loc;  // array: ["body", "rows", 3, "domain"]
  std::string msg;
  std::string type;
  base::Json input = nullptr;
  base::Json ctx = nullptr;
};
Reply ValidationReply(const std::vector<ValidationItem>& items);

// A value as it is quoted in messages and items: long text cut, containers named by their kind.
base::Json Shortened(const base::Json& value);
std::string Quoted(std::string_view text);

}  // namespace vedette::api
