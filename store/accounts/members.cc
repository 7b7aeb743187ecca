#include "store/accounts/members.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/crypto.h"
#include "base/json.h"
#include "domain/auth/cell.h"
#include "domain/auth/principal.h"
#include "store/accounts/auth.h"
#include "store/place.h"
#include "store/sql.h"

namespace vedette::store {
namespace {

std::string HashOf(std::string_view token) {
  return base::Sha256(token);
}

// Locks the organisation's members; what `email` is among them.
struct LockedMembers {
  std::optional<domain::MemberRole> role;  // empty: he is no member
  std::optional<base::Uuid> team_id;       // of the member
  bool by_provider = false;                // likewise
  bool other_owner = false;                // whether somebody else is one

  bool last_owner() const { return role == domain::MemberRole::kOwner && !other_owner; }
};
LockedMembers LockMembers(Transaction& tx, const base::Uuid& org_id, const std::string& email) {
  LockedMembers locked;
  for (const auto& row : tx.Exec<"members_lock">("org_id"_a = org_id)) {
    std::string user_id;
    domain::MemberRole role{};
    std::optional<base::Uuid> team_id;
    bool by_provider = false;
    Columns(row).Into("user_id"_a = &user_id, "role"_a = &role, "team_id"_a = &team_id,
                      "by_provider"_a = &by_provider);
    if (user_id == email) {
      locked.role = role;
      locked.team_id = team_id;
      locked.by_provider = by_provider;
    } else if (role == domain::MemberRole::kOwner) {
      locked.other_owner = true;
    }
  }
  return locked;
}

bool IsTeam(Transaction& tx, const base::Uuid& org_id, const base::Uuid& team_id) {
  return !tx.Exec<"team_hold">("org_id"_a = org_id, "team_id"_a = team_id).empty();
}

base::Json RoleAndTeam(domain::MemberRole role, const std::optional<base::Uuid>& team_id) {
  base::Json detail{{"role", domain::MemberRoleName(role)}};
  if (team_id) detail["team_id"] = team_id->ToString();
  return detail;
}

}  // namespace

InviteOutcome Invite(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                     const NewInvitation& order, AuditEntry audit) {
  using Kind = InviteOutcome::Kind;
  InviteOutcome made;
  made.id = base::Uuid::V7(clock);
  made.token =
      domain::CellPrefix(kInvitationPrefix, order.cell) + base::RandomBase62(kTokenRandomChars);
  audit.org_id = org_id;
  audit.target = made.id.ToString();
  audit.detail = RoleAndTeam(order.role, order.team_id);
  made.kind = InTransaction(session, [&](Transaction& tx) {
    // The organisation, as it may have no member to lock yet.
    if (tx.Exec<"org_lock">("org_id"_a = org_id).empty()) return Kind::kNoOrganisation;
    if (order.team_id && !IsTeam(tx, org_id, *order.team_id)) return Kind::kNoTeam;
    const LockedMembers locked = LockMembers(tx, org_id, order.email);
    if (order.role != domain::MemberRole::kOwner && locked.last_owner()) return Kind::kLastOwner;
    tx.Exec<"invitations_end">("org_id"_a = org_id, "email"_a = order.email);
    const auto inserted = tx.Exec<"invitation_insert">(
        "id"_a = made.id, "org_id"_a = org_id, "email"_a = order.email, "role"_a = order.role,
        "team_id"_a = order.team_id, "token_sha256"_a = Bytea(HashOf(made.token)),
        "invited_by"_a = order.invited_by,
        "ttl_s"_a = std::chrono::seconds(kInvitationLife).count(),
        "invitations_max"_a = kInvitationsMax);
    if (inserted.empty()) return Kind::kTooMany;
    made.expires_at = ReadOne<base::Timestamp>(inserted);
    InsertAudit(tx, clock, audit);
    return Kind::kDone;
  });
  if (made.kind != Kind::kDone) made.token.clear();
  return made;
}

std::optional<Invitation> FindInvitation(Session& session, const std::string& token) {
  return FindInvitationBy(session, HashOf(token));
}

std::optional<Invitation> FindInvitationBy(Session& session, const std::string& token_sha256) {
  return Read(session, [&](Transaction& tx) -> std::optional<Invitation> {
    const auto rows = tx.Exec<"invitation_find">("token_sha256"_a = Bytea(token_sha256));
    if (rows.empty()) return std::nullopt;
    Invitation found;
    OrganisationPlace place;
    Columns(rows.at(0))
        .Into("org_id"_a = &found.org_id, "email"_a = &found.email, "role"_a = &found.role,
              "organisation"_a = &found.organisation, "lives_at"_a = &place.lives_at,
              "moving_until"_a = &place.moving_until, "password"_a = &found.password,
              "has_passkey"_a = &found.has_passkey, "by_provider"_a = &found.by_provider);
    CheckIsHere(place);
    return found;
  });
}

namespace {

// What lets in nowhere (any more) is not asked for: it may be forgotten, or a stranger's, and
// nobody could replace it.
void DropIdleWays(Transaction& tx, const std::string& email) {
  const auto all = MembershipsOf(tx, email);
  if (!std::all_of(all.begin(), all.end(), [](const auto& one) { return one.by_provider; })) return;
  tx.Exec<"passkeys_delete">("email"_a = email);
  tx.Exec<"password_delete">("email"_a = email);
}

// Whether what the holder has shown is enough, once what is new is his.
bool AdmitHolder(Transaction& tx, const base::Clock& clock, const std::string& email,
                 const HolderShows& shows) {
  if (shows.by_provider) return true;
  if (shows.own_passkey) return AreStillHis(tx, email, {.passkey = shows.own_passkey});
  tx.Exec<"ways_lock">("email"_a = email);
  DropIdleWays(tx, email);
  const bool has_passkey = ReadOne<std::int64_t>(tx.Exec<"passkeys_count">("email"_a = email)) > 0;
  const bool is_new = !has_passkey && tx.Exec<"password_get">("email"_a = email).empty();
  if (shows.passkey) {
    if (!is_new || !InsertPasskey(tx, clock, email, *shows.passkey)) return false;
    if (!shows.password) return true;
  }
  if (!shows.password) return false;
  // A process of the version before locks nothing.
  if (is_new) tx.Exec<"password_set">("email"_a = email, "password"_a = *shows.password);
  // The address has had another password since it was looked up: by another invitation, whose
  // holder would be let in here too.
  return AreStillHis(tx, email, {.password = shows.password});
}

// Thrown inside a transaction to roll it back, so that the invitation stays.
struct NotAccepted {
  Acceptance why;
};

void Accept(Transaction& tx, const base::Clock& clock, const std::string& token_sha256,
            const HolderShows& shows, AuditEntry audit) {
  const auto found = tx.Exec<"invitation_org">("token_sha256"_a = Bytea(token_sha256));
  if (found.empty()) throw NotAccepted{Acceptance::kGone};
  // Members before invitations, as everywhere.
  base::Uuid org_id;
  std::string email;
  Columns(found.at(0)).Into("org_id"_a = &org_id, "email"_a = &email);
  HoldHere(tx, org_id);
  const LockedMembers locked = LockMembers(tx, org_id, email);
  if (locked.by_provider && !shows.by_provider) throw NotAccepted{Acceptance::kByProvider};
  const auto taken = tx.Exec<"invitation_take">("token_sha256"_a = Bytea(token_sha256));
  if (taken.empty()) throw NotAccepted{Acceptance::kGone};
  domain::MemberRole role{};
  std::optional<base::Uuid> team_id;
  Columns(taken.at(0)).Into("role"_a = &role, "team_id"_a = &team_id);
  if (role != domain::MemberRole::kOwner && locked.last_owner()) {
    throw NotAccepted{Acceptance::kLastOwner};
  }
  if (!AdmitHolder(tx, clock, email, shows)) throw NotAccepted{Acceptance::kGone};
  tx.Exec<"invitations_end">("org_id"_a = org_id, "email"_a = email);
  tx.Exec<"membership_put">("org_id"_a = org_id, "email"_a = email, "role"_a = role,
                            "team_id"_a = team_id, "by_provider"_a = shows.by_provider);
  audit.org_id = org_id;
  audit.target = email;
  InsertAudit(tx, clock, audit);
}

}  // namespace

Acceptance AcceptInvitation(Session& session, const base::Clock& clock,
                            const std::string& token_sha256, const HolderShows& shows,
                            AuditEntry audit) {
  try {
    InTransaction(session, [&](Transaction& tx) { Accept(tx, clock, token_sha256, shows, audit); });
  } catch (const NotAccepted& not_accepted) {
    return not_accepted.why;
  }
  return Acceptance::kDone;
}

std::vector<WaitingInvitation> ListInvitations(Session& session, const base::Uuid& org_id) {
  return Read(session, [&](Transaction& tx) {
    std::vector<WaitingInvitation> waiting;
    for (const auto& row : tx.Exec<"invitations_list">("org_id"_a = org_id)) {
      WaitingInvitation& one = waiting.emplace_back();
      Columns(row).Into("id"_a = &one.id, "email"_a = &one.email, "role"_a = &one.role,
                        "team_id"_a = &one.team_id, "invited_by"_a = &one.invited_by,
                        "created_at"_a = &one.created_at, "expires_at"_a = &one.expires_at);
    }
    return waiting;
  });
}

bool WithdrawInvitation(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                        const base::Uuid& id, AuditEntry audit) {
  audit.org_id = org_id;
  audit.target = id.ToString();
  return InTransaction(session, [&](Transaction& tx) {
    if (tx.Exec<"invitation_delete">("org_id"_a = org_id, "id"_a = id).empty()) return false;
    InsertAudit(tx, clock, audit);
    return true;
  });
}

std::vector<Membership> MembershipsOf(Transaction& tx, const std::string& email) {
  std::vector<Membership> all;
  for (const auto& row : tx.Exec<"membership_all">("email"_a = email)) {
    Membership& one = all.emplace_back();
    Columns(row).Into("org_id"_a = &one.org_id, "lives_at"_a = &one.lives_at,
                      "organisation"_a = &one.organisation, "role"_a = &one.role,
                      "by_provider"_a = &one.by_provider, "claimed"_a = &one.claimed);
  }
  return all;
}

Person FindPerson(Session& session, const std::string& email) {
  return InTransaction(session, [&](Transaction& tx) {
    Person person;
    const auto rows = tx.Exec<"password_get">("email"_a = email);
    if (!rows.empty()) person.password = ReadOne<std::string>(rows);
    person.memberships = MembershipsOf(tx, email);
    return person;
  });
}

std::optional<base::Uuid> ClaimMembership(Session& session, const base::Clock& clock,
                                          const std::string& email, const std::string& organisation,
                                          const std::optional<base::Uuid>& team_id,
                                          AuditEntry audit) {
  return InTransaction(session, [&](Transaction& tx) -> std::optional<base::Uuid> {
    const auto named = tx.Exec<"membership_named">("team_id"_a = team_id,
                                                   "claimed_id"_a = base::Uuid::Parse(organisation),
                                                   "organisation"_a = organisation);
    if (named.empty()) return std::nullopt;
    const auto org_id = ReadOne<base::Uuid>(named);
    const auto changed =
        tx.Exec<"membership_claim">("org_id"_a = org_id, "email"_a = email, "team_id"_a = team_id);
    if (changed.empty()) return org_id;
    HoldHere(tx, org_id);
    audit.org_id = org_id;
    audit.target = email;
    audit.detail = RoleAndTeam(ReadOne<domain::MemberRole>(changed), team_id);
    InsertAudit(tx, clock, audit);
    return org_id;
  });
}

std::vector<OrganisationMember> ListMembers(Session& session, const base::Uuid& org_id) {
  return Read(session, [&](Transaction& tx) {
    std::vector<OrganisationMember> members;
    for (const auto& row : tx.Exec<"members_list">("org_id"_a = org_id)) {
      OrganisationMember& one = members.emplace_back();
      Columns(row).Into("email"_a = &one.email, "role"_a = &one.role, "team_id"_a = &one.team_id,
                        "by_provider"_a = &one.by_provider, "created_at"_a = &one.created_at,
                        "sessions"_a = &one.sessions);
    }
    return members;
  });
}

std::vector<TeamName> ListTeams(Session& session, const base::Uuid& org_id) {
  return Read(session, [&](Transaction& tx) {
    std::vector<TeamName> teams;
    for (const auto& row : tx.Exec<"team_names">("org_id"_a = org_id)) {
      TeamName& one = teams.emplace_back();
      Columns(row).Into("id"_a = &one.id, "name"_a = &one.name);
    }
    return teams;
  });
}

MemberOutcome ChangeMember(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                           const std::string& email, const MemberChange& change, AuditEntry audit) {
  audit.org_id = org_id;
  audit.target = email;
  return InTransaction(session, [&](Transaction& tx) {
    const LockedMembers locked = LockMembers(tx, org_id, email);
    if (!locked.role) return MemberOutcome::kNotFound;
    if (change.sets_team && change.team_id && !IsTeam(tx, org_id, *change.team_id)) {
      return MemberOutcome::kNoTeam;
    }
    const auto team_id = change.sets_team ? change.team_id : locked.team_id;
    const bool is_owner = change.role == domain::MemberRole::kOwner;
    if (is_owner && team_id) return MemberOutcome::kOwnerOfTeam;
    if (!is_owner && locked.last_owner()) return MemberOutcome::kLastOwner;
    tx.Exec<"membership_set_role">("org_id"_a = org_id, "email"_a = email, "role"_a = change.role,
                                   "team_id"_a = team_id);
    tx.Exec<"invitations_end">("org_id"_a = org_id, "email"_a = email);
    audit.detail = RoleAndTeam(change.role, team_id);
    InsertAudit(tx, clock, audit);
    return MemberOutcome::kDone;
  });
}

namespace {

// `members_alone`: no user of the operator's own dashboard.
MemberOutcome Remove(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                     const std::string& user_id, bool members_alone, AuditEntry audit) {
  audit.org_id = org_id;
  audit.target = user_id;
  return InTransaction(session, [&](Transaction& tx) {
    const LockedMembers locked = LockMembers(tx, org_id, user_id);
    if (members_alone && !locked.role) return MemberOutcome::kNotFound;
    if (locked.last_owner()) return MemberOutcome::kLastOwner;
    if (tx.Exec<"org_user_delete">("org_id"_a = org_id, "user_id"_a = user_id).empty()) {
      return MemberOutcome::kNotFound;
    }
    tx.Exec<"invitations_end">("org_id"_a = org_id, "email"_a = user_id);
    tx.Exec<"sessions_of_user_end">("principal_id"_a = domain::UserPrincipal(org_id, user_id));
    InsertAudit(tx, clock, audit);
    return MemberOutcome::kDone;
  });
}

}  // namespace

MemberOutcome RemoveMember(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                           const std::string& email, AuditEntry audit) {
  return Remove(session, clock, org_id, email, true, std::move(audit));
}

MemberOutcome RemoveOrgUser(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                            const std::string& user_id, AuditEntry audit) {
  return Remove(session, clock, org_id, user_id, false, std::move(audit));
}

void EndSessionsOf(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                   const std::string& user_id, bool by_provider, AuditEntry audit) {
  audit.target = user_id;
  InTransaction(session, [&](Transaction& tx) {
    // A choice that is under way opens none behind this.
    tx.Exec<"ways_lock">("email"_a = user_id);
    for (const auto purpose : {OneTimePurpose::kChoice, OneTimePurpose::kProviderChoice}) {
      if (purpose == OneTimePurpose::kProviderChoice && !by_provider) continue;
      tx.Exec<"onetime_withdraw">("purpose"_a = static_cast<int>(purpose), "email"_a = user_id);
    }
    std::set<base::Uuid> organisations{org_id};
    for (const Membership& one : MembershipsOf(tx, user_id)) {
      if (!one.lives_at && (by_provider || !one.by_provider)) organisations.insert(one.org_id);
    }
    for (const base::Uuid& one : organisations) {
      tx.Exec<"sessions_of_user_end">("principal_id"_a = domain::UserPrincipal(one, user_id));
      audit.org_id = one;
      InsertAudit(tx, clock, audit);
    }
  });
}

std::optional<OwnSession> FindSession(Session& session, std::string_view token) {
  return Read(session, [&](Transaction& tx) -> std::optional<OwnSession> {
    const auto rows = tx.Exec<"membership_session">("token_sha256"_a = Bytea(HashOf(token)));
    if (rows.empty()) return std::nullopt;
    OwnSession own;
    own.token_sha256 = HashOf(token);
    base::Timestamp created_at;
    base::Timestamp moment;
    std::optional<base::Uuid> team_id;
    std::optional<std::string> team;
    Columns(rows.at(0))
        .Into("id"_a = &own.id, "user_id"_a = &own.user_id, "created_at"_a = &created_at,
              "expires_at"_a = &own.expires_at, "role"_a = &own.role,
              "by_provider"_a = &own.by_provider, "organisation"_a = &own.organisation,
              "team_id"_a = &team_id, "team"_a = &team, "moment"_a = &moment);
    own.age = moment - created_at;
    if (team_id) own.team = TeamName{*team_id, team.value_or("")};
    return own;
  });
}

}  // namespace vedette::store
