#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "domain/auth/member_role.h"
#include "store/accounts/sign_in.h"
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
  std::optional<base::Uuid> team_id;  // that he is limited to; no owner is
  std::string invited_by;
  std::string cell{};  // that gives it out (domain/auth/cell.h)
};
struct InviteOutcome {
  enum class Kind { kDone, kNoOrganisation, kNoTeam, kLastOwner, kTooMany };
  Kind kind = Kind::kDone;
  base::Uuid id;
  std::string token;  // readable only here
  base::Timestamp expires_at;
};
// An invitation that waits for the same address ends. kLastOwner: the address is the last owner's,
// and the invitation would make him something else.
InviteOutcome Invite(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                     const NewInvitation& order, AuditEntry audit);

// An invitation that waits.
struct Invitation {
  base::Uuid org_id;
  std::string email;
  domain::MemberRole role = domain::MemberRole::kViewer;
  std::string organisation;             // its name
  std::optional<std::string> password;  // as stored, of who has one that lets him in somewhere
  bool has_passkey = false;             // likewise
  bool by_provider = false;             // he is a member whom the provider alone lets in

  // Whether a holder of the link alone is let in: he says what he signs in with from then on.
  bool is_new() const { return !password && !has_passkey; }
};
// By the SHA-256 of its token, which is what the second function makes of the token. They throw
// OrganisationAway (store/place.h).
std::optional<Invitation> FindInvitationBy(Session& session, const std::string& token_sha256);
std::optional<Invitation> FindInvitation(Session& session, const std::string& token);

// What the holder of an invitation has shown, or what he signs in with from then on.
struct HolderShows {
  // The password as stored: it becomes his where he has nothing yet, and must be his otherwise.
  std::optional<std::string> password;
  std::optional<NewPasskey> passkey;       // becomes his where he has nothing yet
  std::optional<std::string> own_passkey;  // the credential of one that he had and has shown
  bool by_provider = false;                // the identity provider has vouched for the address
};
enum class Acceptance {
  kDone,
  // There is none (any more); or the address has got something else to sign in with since it was
  // looked up, or its passkey could not be kept.
  kGone,
  kLastOwner,   // it would take the organisation's last owner away
  kByProvider,  // its holder is a member by the identity provider, which alone lets him in
};
// Takes the invitation and makes its holder a member. Of two calls with one token one is kDone.
// Other invitations of the address to the organisation end. Where it is not kDone the invitation
// stays, as where it throws OrganisationAway.
Acceptance AcceptInvitation(Session& session, const base::Clock& clock,
                            const std::string& token_sha256, const HolderShows& shows,
                            AuditEntry audit);

struct WaitingInvitation {
  base::Uuid id;
  std::string email;
  domain::MemberRole role = domain::MemberRole::kViewer;
  std::optional<base::Uuid> team_id;
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
  bool by_provider = false;               // he comes in by the identity provider alone
  bool claimed = false;                   // and only while its tokens name the organisation
  std::optional<std::string> lives_at{};  // the other cell to which it has moved
};
struct Person {
  std::optional<std::string> password;  // as stored
  std::vector<Membership> memberships;
};
// Memberships of a person, read in a transaction that goes on; the oldest first.
std::vector<Membership> MembershipsOf(Transaction& tx, const std::string& email);
// Without anything where nobody has the address.
Person FindPerson(Session& session, const std::string& email);

// Makes the person for whose address the identity provider has vouched a member, of the role that
// bearer tokens of the provider have, of the organisation and the team that it has named: by its id
// or its external_id. Nothing happens where he is a member, or where there is no such organisation
// or team; but who is one by such a claim becomes one of its team. Gives the organisation. Throws
// OrganisationAway.
std::optional<base::Uuid> ClaimMembership(Session& session, const base::Clock& clock,
                                          const std::string& email, const std::string& organisation,
                                          const std::optional<base::Uuid>& team_id,
                                          AuditEntry audit);

struct OrganisationMember {
  std::string email;
  domain::MemberRole role = domain::MemberRole::kViewer;
  std::optional<base::Uuid> team_id;
  bool by_provider = false;
  base::Timestamp created_at;
  std::int64_t sessions = 0;  // live ones
};
std::vector<OrganisationMember> ListMembers(Session& session, const base::Uuid& org_id);

struct TeamName {
  base::Uuid id;
  std::string name;
};
// What members can be limited to.
std::vector<TeamName> ListTeams(Session& session, const base::Uuid& org_id);

// kLastOwner: there would be no owner any more. kOwnerOfTeam: an owner is of the whole
// organisation.
enum class MemberOutcome { kDone, kNotFound, kNoTeam, kLastOwner, kOwnerOfTeam };
struct MemberChange {
  domain::MemberRole role = domain::MemberRole::kViewer;
  bool sets_team = false;  // otherwise he stays of his team
  std::optional<base::Uuid> team_id;
};
MemberOutcome ChangeMember(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                           const std::string& email, const MemberChange& change, AuditEntry audit);
// Ends his sessions in this organisation, too.
MemberOutcome RemoveMember(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                           const std::string& email, AuditEntry audit);
// The same of any user, by the operator.
MemberOutcome RemoveOrgUser(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                            const std::string& user_id, AuditEntry audit);

// Ends the sessions of the user in this organisation, and in all others here of which he is a
// member; in those that the identity provider opens only where it has let him in (`by_provider`):
// another may have taken the address before its owner.
void EndSessionsOf(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                   const std::string& user_id, bool by_provider, AuditEntry audit);

// The session that a token is of.
struct OwnSession {
  base::Uuid id;
  std::string token_sha256;
  std::string user_id;
  base::Timestamp expires_at;
  std::chrono::microseconds age{};
  std::optional<domain::MemberRole> role;  // empty: a user of the operator's dashboard
  bool by_provider = false;                // of a member whom the identity provider alone lets in
  std::string organisation;                // its name
  std::optional<TeamName> team;            // of a member that is limited to one
};
std::optional<OwnSession> FindSession(Session& session, std::string_view token);

}  // namespace vedette::store
