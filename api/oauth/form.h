#pragma once

#include <map>
#include <string>
#include <string_view>
#include <variant>

#include "net/http_server.h"
#include "rest/reply.h"

// The bodies and the errors of OAuth's protocol routes (RFC 6749). Pure.
namespace vedette::api {

// {"error", "error_description", "message"}: OAuth names the sentence otherwise than this API does,
// so it stands twice.
rest::Reply OauthError(int status, std::string_view error, std::string_view description);

// A refusal that any route may give, such as a 429 or a 503, in the shape of these routes. Anything
// else is as it was.
rest::Reply AsOauthError(rest::Reply reply);

inline constexpr std::size_t kFormValueBytesMax = 8192;

// application/x-www-form-urlencoded by name. Else 413, 415, or 400: a parameter twice, a value over
// kFormValueBytesMax, or what cannot be decoded.
using Form = std::map<std::string, std::string, std::less<>>;
rest::Judged<Form> ReadForm(const net::ServerRequest& request, std::size_t bytes_max);

}  // namespace vedette::api
