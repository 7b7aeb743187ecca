#pragma once

#include <optional>
#include <string_view>
#include <variant>

#include "net/http_server.h"

// Which credential a request shows, by its headers alone. Pure.
namespace vedette::api {

// The text points into the request. What a bearer token of ours is, a client's or a session's, is
// for the store to say.
struct Credential {
  enum class Kind {
    kApiKey,
    kToken,  // one of ours
    kJwt,    // what may be one of the operator's identity provider
  };
  Kind kind = Kind::kApiKey;
  std::string_view text;
};

// Why a request shows none that could be good: what is answered, before any look at the database.
enum class CredentialFault {
  kMissing,         // no credential; or a scheme that is not Bearer, without a key
  kBadKey,          // x-api-key has what is no API key
  kTokenAsKey,      // a token in x-api-key
  kKeyAsToken,      // an API key as a bearer token
  kBadToken,        // a bearer token that is neither one of ours nor a JWT
  kTwoCredentials,  // x-api-key and Authorization: Bearer
  kRepeatedHeader,  // one of the two headers twice
};

// An empty header is none. Another scheme than Bearer beside a key is a proxy's, and is not looked
// at; neither is a token in the query.
std::variant<Credential, CredentialFault> FindCredential(const net::ServerRequest& request);

// The user for whom the call is forwarded: the header Service-Forwarded-User, where it is not
// empty. What names nobody for certain (the header twice, bytes that are no UTF-8) becomes "", the
// id of nobody.
std::optional<std::string_view> ForwardedUser(const net::ServerRequest& request);

}  // namespace vedette::api
