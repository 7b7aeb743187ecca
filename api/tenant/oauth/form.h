#pragma once

#include <map>
#include <string>
#include <string_view>
#include <variant>

#include "api/kit/reply.h"
#include "config/config_fwd.h"
#include "net/http_server.h"

namespace vedette::api {

// The bodies and the errors of OAuth's protocol routes (RFC 6749). Pure.

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
Form ReadForm(const net::ServerRequest& request, std::size_t bytes_max);

// The issuer of tokens. Pure.

inline constexpr std::string_view kOauthMetadataPath = "/.well-known/oauth-authorization-server";
inline constexpr std::string_view kTokenPath = "/oauth/token";
inline constexpr std::string_view kRevokePath = "/oauth/revoke";
inline constexpr std::string_view kIntrospectPath = "/oauth/introspect";

// [api] public_url, or the address where the API listens on loopback, never what a request says of
// itself. Empty where neither is there, or OAuth is switched off: then there are no tokens.
std::string IssuerOf(const config::Config& config);

// What an operator is to know of the issuer at the start: that there is none, so that clients get
// no tokens, or that tokens go through plain HTTP. Empty where all is well.
std::string IssuerNote(const config::Config& config);

// The document of RFC 8414; a 404 without an issuer.
rest::Reply OauthMetadata(const config::Config& config);
rest::Reply NoOauth();  // that 404

}  // namespace vedette::api
