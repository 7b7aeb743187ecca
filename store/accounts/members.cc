#include "store/accounts/members.h"

#include <set>
#include <utility>

#include "base/crypto.h"
#include "base/json.h"
#include "domain/auth/cell.h"
#include "domain/auth/principal.h"
#include "store/accounts/auth.h"
#include "store/sql.h"

namespace vedette::store {
namespace {

std::string HashOf(std::string_view token) {
  return base::Sha256(token);
}

// Locks the organisation's members; whether somebody else than `email` is an owner, and whether he
// is a member.
struct LockedMembers {
  bool known = false;
  bool other_owner = false;
};
LockedMembers LockMembers(Transaction& tx, const base::Uuid& org_id, const std::string& email) {
  LockedMembers locked;
  for (const auto& row : tx.Exec<"members_lock">("org_id"_a = org_id)) {
    std::string user_id;
    domain::MemberRole role{};
    Columns(row).Into("user_id"_a = &user_id, "role"_a = &role);
    if (user_id == email) {
      locked.known = true;
    } else if (role == domain::MemberRole::kOwner) {
      locked.other_owner = true;
    }
  }
  return locked;
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
  audit.detail = base::Json{{"role", domain::MemberRoleName(order.role)}};
  made.kind = InTransaction(session, [&](Transaction& tx) {
    if (tx.Exec<"org_exists">("org_id"_a = org_id).empty()) return Kind::kNoOrganisation;
    const auto inserted = tx.Exec<"invitation_insert">(
        "id"_a = made.id, "org_id"_a = org_id, "email"_a = order.email, "role"_a = order.role,
        "token_sha256"_a = Bytea(HashOf(made.token)), "invited_by"_a = order.invited_by,
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
  return Read(session, [&](Transaction& tx) -> std::optional<Invitation> {
    const auto rows = tx.Exec<"invitation_find">("token_sha256"_a = Bytea(HashOf(token)));
    if (rows.empty()) return std::nullopt;
    Invitation found;
    Columns(rows.at(0))
        .Into("org_id"_a = &found.org_id, "email"_a = &found.email, "role"_a = &found.role,
              "organisation"_a = &found.organisation, "password"_a = &found.password);
    return found;
  });
}

bool AcceptInvitation(Session& session, const base::Clock& clock, const std::string& token,
                      const std::string& password, AuditEntry audit) {
  return InTransaction(session, [&](Transaction& tx) {
    const auto taken = tx.Exec<"invitation_take">("token_sha256"_a = Bytea(HashOf(token)));
    if (taken.empty()) return false;
    base::Uuid org_id;
    std::string email;
    domain::MemberRole role{};
    Columns(taken.at(0)).Into("org_id"_a = &org_id, "email"_a = &email, "role"_a = &role);
    tx.Exec<"password_set">("email"_a = email, "password"_a = password);
    // The address has had another password since it was looked up: by another invitation, whose
    // holder would be let in here too.
    if (ReadOne<std::string>(tx.Exec<"password_get">("email"_a = email)) != password) return false;
    tx.Exec<"membership_put">("org_id"_a = org_id, "email"_a = email, "role"_a = role);
    audit.org_id = org_id;
    audit.target = email;
    InsertAudit(tx, clock, audit);
    return true;
  });
}

std::vector<WaitingInvitation> ListInvitations(Session& session, const base::Uuid& org_id) {
  return Read(session, [&](Transaction& tx) {
    std::vector<WaitingInvitation> waiting;
    for (const auto& row : tx.Exec<"invitations_list">("org_id"_a = org_id)) {
      WaitingInvitation& one = waiting.emplace_back();
      Columns(row).Into("id"_a = &one.id, "email"_a = &one.email, "role"_a = &one.role,
                        "invited_by"_a = &one.invited_by, "created_at"_a = &one.created_at,
                        "expires_at"_a = &one.expires_at);
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

std::optional<Person> FindPerson(Session& session, const std::string& email) {
  return InTransaction(session, [&](Transaction& tx) -> std::optional<Person> {
    const auto rows = tx.Exec<"password_get">("email"_a = email);
    if (rows.empty()) return std::nullopt;
    Person person;
    person.password = ReadOne<std::string>(rows);
    for (const auto& row : tx.Exec<"membership_all">("email"_a = email)) {
      Membership& one = person.memberships.emplace_back();
      Columns(row).Into("org_id"_a = &one.org_id, "organisation"_a = &one.organisation,
                        "role"_a = &one.role);
    }
    return person;
  });
}

std::vector<OrganisationMember> ListMembers(Session& session, const base::Uuid& org_id) {
  return Read(session, [&](Transaction& tx) {
    std::vector<OrganisationMember> members;
    for (const auto& row : tx.Exec<"members_list">("org_id"_a = org_id)) {
      OrganisationMember& one = members.emplace_back();
      Columns(row).Into("email"_a = &one.email, "role"_a = &one.role,
                        "created_at"_a = &one.created_at, "sessions"_a = &one.sessions);
    }
    return members;
  });
}

MemberOutcome ChangeMember(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                           const std::string& email, domain::MemberRole role, AuditEntry audit) {
  audit.org_id = org_id;
  audit.target = email;
  audit.detail = base::Json{{"role", domain::MemberRoleName(role)}};
  return InTransaction(session, [&](Transaction& tx) {
    const LockedMembers locked = LockMembers(tx, org_id, email);
    if (!locked.known) return MemberOutcome::kNotFound;
    if (role != domain::MemberRole::kOwner && !locked.other_owner) return MemberOutcome::kLastOwner;
    tx.Exec<"membership_set_role">("org_id"_a = org_id, "email"_a = email, "role"_a = role);
    InsertAudit(tx, clock, audit);
    return MemberOutcome::kDone;
  });
}

MemberOutcome RemoveMember(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                           const std::string& email, AuditEntry audit) {
  audit.org_id = org_id;
  audit.target = email;
  return InTransaction(session, [&](Transaction& tx) {
    const LockedMembers locked = LockMembers(tx, org_id, email);
    if (!locked.known) return MemberOutcome::kNotFound;
    if (!locked.other_owner) return MemberOutcome::kLastOwner;
    tx.Exec<"org_user_delete">("org_id"_a = org_id, "user_id"_a = email);
    tx.Exec<"sessions_of_user_end">("principal_id"_a = domain::UserPrincipal(org_id, email));
    InsertAudit(tx, clock, audit);
    return MemberOutcome::kDone;
  });
}

void EndSessionsOf(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                   const std::string& user_id, AuditEntry audit) {
  audit.target = user_id;
  InTransaction(session, [&](Transaction& tx) {
    std::set<base::Uuid> organisations{org_id};
    for (const auto& row : tx.Exec<"membership_all">("email"_a = user_id)) {
      base::Uuid one;
      Columns(row).Into("org_id"_a = &one);
      organisations.insert(one);
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
    Columns(rows.at(0))
        .Into("id"_a = &own.id, "user_id"_a = &own.user_id, "expires_at"_a = &own.expires_at,
              "role"_a = &own.role, "organisation"_a = &own.organisation);
    return own;
  });
}

}  // namespace vedette::store
