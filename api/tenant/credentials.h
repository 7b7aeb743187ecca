#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "api/kit/sign_in.h"
#include "base/recent_map.h"
#include "base/uuid.h"
#include "net/http_server.h"

namespace vedette::api {

// Which credential a request shows, by its headers alone. Pure.

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
  bool from_cookie = false;
};

// The cookie of a session at the dashboard: a browser takes and sends it over https alone, and with
// requests of our own pages alone.
inline constexpr std::string_view kSessionCookie = "__Host-vedette";
using rest::CookieOf;
using rest::CsrfTokenOf;
using rest::SetCookie;

// Why a request shows none that could be good: what is answered, before any look at the database.
enum class CredentialFault {
  kMissing,         // no credential; or a scheme that is not Bearer, without a key
  kBadKey,          // x-api-key has what is no API key
  kTokenAsKey,      // a token in x-api-key
  kKeyAsToken,      // an API key as a bearer token
  kBadToken,        // a bearer token that is neither one of ours nor a JWT
  kTwoCredentials,  // x-api-key and Authorization: Bearer
  kRepeatedHeader,  // one of the two headers twice
  kNoCsrfToken,     // a cookie, and not the header that a change needs beside it
};

// An empty header is none. Another scheme than Bearer beside a key is a proxy's, and is not looked
// at; neither is a token in the query.
std::variant<Credential, CredentialFault> FindCredential(const net::ServerRequest& request);

// The user for whom the call is forwarded: the header Service-Forwarded-User, where it is not
// empty. What names nobody for certain (the header twice, bytes that are no UTF-8) becomes "", the
// id of nobody.
std::optional<std::string_view> ForwardedUser(const net::ServerRequest& request);

// Which organisation a key was of when it was last accepted here: whose turn a request takes until
// it is authenticated. A hint alone, every request is authenticated. Requests with keys that are
// not known here take one turn together, however many such keys are tried: so they are no way to
// get more turns than others, and need no limit by address, which would be one for all behind a
// load balancer. Knows at most `keys_max` keys, those used last. Any thread.
class KnownKeys {
 public:
  explicit KnownKeys(std::size_t keys_max) : keys_(keys_max) {}

  // `hash`: of the key, so that no key stays in memory.
  std::optional<base::Uuid> Find(const std::string& hash) {
    const std::lock_guard lock(mutex_);
    return keys_.Find(hash);
  }

  void Learn(const std::string& hash, const base::Uuid& org_id) {
    const std::lock_guard lock(mutex_);
    keys_.Insert(hash, org_id);
  }

  void Forget(const std::string& hash) {
    const std::lock_guard lock(mutex_);
    keys_.Erase(hash);
  }

 private:
  std::mutex mutex_;
  base::RecentMap<std::string, base::Uuid> keys_;  // guarded by mutex_
};

}  // namespace vedette::api
