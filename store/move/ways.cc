#include "base/crypto.h"
#include "base/password.h"
#include "store/move/ways_sql.h"

namespace vedette::store {
namespace {

constexpr std::size_t kUnknownChars = 43;

// What move_ways is asked: the organisation, and its members at the old side.
Wire::Parameters OfMembers(Wire& source, const std::string& org_id) {
  const auto members = source.Named("move_members", {{"org_id", org_id}});
  return {{"org_id", org_id}, {"emails", members.front().front().value_or("[]")}};
}

}  // namespace

std::vector<std::string> Strangers(Wire& source, Wire& target, const std::string& org_id) {
  const auto of = OfMembers(source, org_id);
  const auto here = source.Named("move_ways", of);
  const auto there = target.Named("move_ways", of);
  std::vector<std::string> strangers;
  for (std::size_t i = 0; i < here.size(); ++i) {
    const bool is_known = there.at(i).at(2) == "t";
    if (is_known && there[i][1] != here[i].at(1)) strangers.push_back(here[i][0].value_or(""));
  }
  return strangers;
}

void HoldWays(Wire& source, Wire& target, const std::string& org_id) {
  for (const auto& row : source.Named("move_ways", OfMembers(source, org_id))) {
    target.Named("ways_lock", {{"email", row.front().value_or("")}});
  }
}

void ResetWays(Wire& target, const std::string& org_id, const std::vector<std::string>& emails) {
  if (emails.empty()) return;
  const std::string unknown = base::HashPassword(base::RandomBase62(kUnknownChars));
  for (const std::string& email : emails) {
    target.Named("passkeys_delete", {{"email", email}});
    target.Named("password_change", {{"email", email}, {"password", unknown}});
    target.Named("move_end_sign_in", {{"email", email}});
    target.Named("move_audit_reset", {{"email", email}, {"org_id", org_id}});
  }
}

}  // namespace vedette::store
