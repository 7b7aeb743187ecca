#pragma once

#include <string_view>
#include <variant>

#include "api/provider_keys.h"
#include "config/config_fwd.h"
#include "domain/auth/external_token.h"

// Bearer tokens of the operator's identity provider ([oidc]): from the text to whom it names. Pure.
namespace vedette::api {

// What has to happen before a token can be judged.
enum class KeysWanted {
  kFetch,  // its key is not known here: fetch, or wait for the fetch that is under way
  kNone,   // there are no keys to judge by, and there will be none soon
};

using TokenVerdict = std::variant<domain::ExternalToken, domain::JwtFault, KeysWanted>;

// Judges the claims, then the signature: what is refused whatever its key is causes no fetch. A
// token that a known key verifies never waits for a fetch; the keys are renewed beside it.
TokenVerdict JudgeProviderToken(std::string_view text, const config::Config& config,
                                const ProviderKeys::View& keys, base::Timestamp now);

}  // namespace vedette::api
