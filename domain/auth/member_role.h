#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace vedette::domain {

// What a member of an organisation may do at the dashboard, and with a session. The numbers are
// stored: never renumber. Each role may do what the one before it may:
//   kViewer   read monitors, runs, jobs, searches and credits
//   kMember   change them
//   kOwner    manage keys, secrets, deliveries, members, and read the audit and the usage
enum class MemberRole : std::uint8_t { kViewer = 0, kMember = 1, kOwner = 2 };

inline constexpr std::array<std::string_view, 3> kMemberRoleNames{"viewer", "member", "owner"};

constexpr std::string_view MemberRoleName(MemberRole role) {
  return kMemberRoleNames[static_cast<std::size_t>(role)];
}
constexpr std::optional<MemberRole> ParseMemberRole(std::string_view name) {
  for (std::size_t i = 0; i < kMemberRoleNames.size(); ++i) {
    if (kMemberRoleNames[i] == name) return static_cast<MemberRole>(i);
  }
  return std::nullopt;
}

}  // namespace vedette::domain
