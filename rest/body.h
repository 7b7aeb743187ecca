#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "base/json.h"
#include "net/http_server.h"
#include "rest/reply.h"

// From a request's body to a JSON object. Pure.
namespace vedette::rest {

// What a port, or a route, accepts as a body.
struct BodyRules {
  // What no body at all stands for: nothing that could be read (400), or {}.
  enum class Absent { kMalformed, kEmptyObject };

  std::size_t bytes_max = 0;  // only told in the 413: the server keeps the limit
  std::string_view advice{};  // goes on with the sentence of the 413, such as "; use pages"
  Absent absent = Absent::kMalformed;
  // The one member that may be large, if there is one. If it is an array, its elements stay text,
  // so that only one of them at a time takes the memory of a parsed value; more elements than
  // `elements_max` are counted, but not kept.
  std::string_view large_member{};
  std::size_t elements_max = 0;
  base::JsonLimits json{};  // depth, members and values; of the elements the depth alone
};

// A body that is an object. `elements` point into the request's body.
struct JsonBody {
  base::Json members = base::Json::object();  // the large member is [] here, if it is an array
  std::optional<base::JsonElements> elements{};
};

// What the header and the length say: 413, 415, or nothing. A body of no type is taken for JSON, as
// is one of application/json or application/...+json in UTF-8.
std::optional<Reply> JudgeBody(const net::ServerRequest& request, const BodyRules& rules);

std::optional<base::JsonError> ParseBody(std::string_view text, const BodyRules& rules,
                                         JsonBody* out);

// JudgeBody, then the parsed body: else 413, 415, 400 for what is malformed, too deep or no object,
// or 422 for too many members or values.
Judged<JsonBody> ReadJsonBody(const net::ServerRequest& request, const BodyRules& rules);

// The bytes that parsing and reading a body takes at most beside its text, without looking closely:
// what its elements become, and the values outside of them. 0 for a small one: those that are being
// read at once are bounded by the threads that read them.
std::size_t ParseCost(std::string_view text, const BodyRules& rules);

}  // namespace vedette::rest
