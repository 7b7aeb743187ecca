#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/uuid.h"

namespace vedette::domain {

// What a caller has shown to be let in. The numbers are stored: never renumber.
enum class PrincipalKind : std::uint8_t {
  kApiKey = 0,
  kOauthClient = 1,
  kUser = 2,
  kExternal = 3,
};
std::string_view PrincipalKindName(PrincipalKind kind);  // "api_key", ...

// The caller. A job keeps it as caller_kind and caller_id. Requests are counted by `id`: that of a
// key or a client is its own, however many tokens it has; that of a user stands for all his
// sessions.
struct Principal {
  PrincipalKind kind = PrincipalKind::kApiKey;
  base::Uuid id{};
  std::string label{};  // for the audit: "key vd_live_ab12cd", "client NAME", "user ID"
  std::optional<std::string> on_behalf_of{};  // the user whom the call names
};

// The principal of all sessions of a user: UUIDv5 of the organisation and the user's id.
base::Uuid UserPrincipal(const base::Uuid& org_id, std::string_view user_id);

}  // namespace vedette::domain
