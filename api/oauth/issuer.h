#pragma once

#include <string>

#include "config/config_fwd.h"
#include "rest/reply.h"

// Who issues tokens here. Pure.
namespace vedette::api {

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
