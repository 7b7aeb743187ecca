#include "domain/auth/principal.h"

#include <array>

#include "domain/text/name_table.h"

namespace vedette::domain {
namespace {

using namespace std::string_view_literals;

constexpr std::array kKinds{"api_key"sv, "oauth_client"sv, "user"sv, "external"sv};

}  // namespace

std::string_view PrincipalKindName(PrincipalKind kind) {
  return NameIn(kKinds, kind);
}

base::Uuid UserPrincipal(const base::Uuid& org_id, std::string_view user_id) {
  return base::Uuid::V5(org_id, user_id);
}

}  // namespace vedette::domain
