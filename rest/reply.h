#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/json.h"

// The answers of a JSON API as values. Pure.
namespace vedette::rest {

using Header = std::pair<std::string, std::string>;

// One whole answer. The headers that a port gives with every answer are added by Answer, unless the
// reply has its own header of that name; so a reply without a Content-Type is JSON.
struct Reply {
  int status = 200;
  std::string body;
  std::vector<Header> headers{};
};

// What was judged, or the reply that says why not.
template <typename T>
using Judged = std::variant<T, Reply>;

Reply JsonReply(int status, const base::Json& body);

// {"error": code, "message": message}. Codes are stable; messages are for people.
Reply ErrorReply(int status, std::string_view code, std::string_view message);

Reply NotFound(std::string_view what);  // "there is no such <what>"
Reply Conflict(std::string_view message);
Reply InvalidCursor();  // 400

// The seconds of every Retry-After that stands for "soon".
inline constexpr std::string_view kRetryAfterSeconds = "5";
// 503 with Retry-After. The code is "unavailable" unless it is named.
Reply Unavailable(std::string_view message);
Reply Unavailable(std::string_view code, std::string_view message);

// One item of a 422's `detail` (interface 2.12).
struct ValidationItem {
  base::Json loc;  // array: ["body", "rows", 3, "domain"]
  std::string msg;
  std::string type;
  base::Json input = nullptr;
  base::Json ctx = nullptr;  // object or null
};
Reply ValidationReply(const std::vector<ValidationItem>& items);

// A value as it is quoted in messages and items: long text is cut between two characters, an object
// or an array is named by its kind.
base::Json Shortened(const base::Json& value);
std::string Quoted(std::string_view text);

}  // namespace vedette::rest
