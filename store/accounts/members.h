#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "domain/auth/member_role.h"
#include "store/audit.h"
#include "store/session.h"

// Members of organisations, and the invitations by which they become that. An invitation's way:
//
//   (none) --invite--> waiting --its link is used--> gone; its holder is a member
//                         |
//                         +--withdrawn, or 72 hours are over--> gone
//
// All functions throw as InTransaction does (store/session.h). Addresses are lower case.
namespace vedette::store {

inline constexpr std::chrono::hours kInvitationLife{72};
inline constexpr int kInvitationsMax = 100;  // that wait, of an organisation
inline constexpr int kMembersMax = 1'000;    // of an organisation, that a list shows
inline constexpr std::string_view kInvitationPrefix = "vd_inv_";

struct NewInvitation {
  std::string email;
  domain::MemberRole role = domain::MemberRole::kViewer;
  std::string invited_by;
  std::string cell{};  // that gives it out (domain/auth/cell.h)
};
struct InviteOutcome {
  enum class Kind { kDone, kNoOrganisation, kTooMany };
  Kind kind = Kind::kDone;
  base::Uuid id;
  std::string token;  // readable only here
  base::Timestamp expires_at;
};
InviteOutcome Invite(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                     const NewInvitation& order, AuditEntry audit);

// An invitation that waits.
struct Invitation {
  base::Uuid org_id;
  std::string email;
  domain::MemberRole role = domain::MemberRole::kViewer;
  std::string organisation;             // its name
  std::optional<std::string> password;  // as stored, of who has one already
};
std::optional<Invitation> FindInvitation(Session& session, const std::string& token);

// Takes the invitation and makes its holder a member; `password`, as stored, becomes his unless
// it is. Of two calls with one token one is true. False, and the invitation is spent, where the
// address has got another password since it was looked up.
bool AcceptInvitation(Session& session, const base::Clock& clock, const std::string& token,
                      const std::string& password, AuditEntry audit);

struct WaitingInvitation {
  base::Uuid id;
  std::string email;
  domain::MemberRole role = domain::MemberRole::kViewer;
  std::string invited_by;
  base::Timestamp created_at;
  base::Timestamp expires_at;
};
std::vector<WaitingInvitation> ListInvitations(Session& session, const base::Uuid& org_id);
// False when the organisation has no such invitation.
bool WithdrawInvitation(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                        const base::Uuid& id, AuditEntry audit);

struct Membership {
  base::Uuid org_id;
  std::string organisation;  // its name
  domain::MemberRole role = domain::MemberRole::kViewer;
};
struct Person {
  std::string password;  // as stored
  std::vector<Membership> memberships;
};
// Empty where nobody has the address.
std::optional<Person> FindPerson(Session& session, const std::string& email);

struct OrganisationMember {
  std::string email;
  domain::MemberRole role = domain::MemberRole::kViewer;
  base::Timestamp created_at;
  std::int64_t sessions = 0;  // live ones
};
std::vector<OrganisationMember> ListMembers(Session& session, const base::Uuid& org_id);

// kLastOwner: there would be no owner any more.
enum class MemberOutcome { kDone, kNotFound, kLastOwner };
MemberOutcome ChangeMember(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                           const std::string& email, domain::MemberRole role, AuditEntry audit);
// Ends his sessions in this organisation, too.
MemberOutcome RemoveMember(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                           const std::string& email, AuditEntry audit);

// Ends the sessions of the user in this organisation, and in all others of which he is a member.
void EndSessionsOf(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                   const std::string& user_id, AuditEntry audit);

// The session that a token is of.
struct OwnSession {
  base::Uuid id;
  std::string user_id;
  base::Timestamp expires_at;
  std::optional<domain::MemberRole> role;  // empty: a user of the operator's dashboard
  std::string organisation;                // its name
};
std::optional<OwnSession> FindSession(Session& session, std::string_view token);

}  // namespace vedette::store
