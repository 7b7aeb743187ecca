#pragma once

#include "api/call.h"

// OAuth's protocol routes: RFC 6749 4.4 with the client authentication of RFC 7523, RFC 7009 and
// RFC 7662. They take an assertion instead of a credential, so their calls have no caller.
namespace vedette::api {

inline constexpr std::size_t kFormBytesMax = 65536;

rest::Handled IssueToken(Call& call);
rest::Handled RevokeToken(Call& call);
rest::Handled IntrospectToken(Call& call);

}  // namespace vedette::api
