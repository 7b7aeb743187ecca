#include "store/accounts/sign_in.h"

#include <algorithm>
#include <utility>

#include "base/crypto.h"
#include "domain/auth/cell.h"
#include "domain/auth/principal.h"
#include "store/accounts/auth.h"
#include "store/accounts/members.h"
#include "store/place.h"
#include "store/sql.h"

namespace vedette::store {
namespace {

std::string OneTimeHash(std::string_view secret) {
  return base::Sha256(secret);
}

std::optional<Binding> ReadBinding(const pqxx::result& rows) {
  if (rows.empty()) return std::nullopt;
  Binding binding;
  Columns(rows.at(0))
      .Into("email"_a = &binding.email, "org_id"_a = &binding.org_id,
            "invitation_sha256"_a = OptionalBytesInto{&binding.invitation_sha256});
  return binding;
}

base::Timestamp Put(Transaction& tx, OneTimePurpose purpose, std::string_view secret,
                    std::chrono::seconds life, const Binding& binding) {
  std::optional<std::string> invitation;
  if (binding.invitation_sha256) invitation = Bytea(*binding.invitation_sha256);
  return ReadOne<base::Timestamp>(tx.Exec<"onetime_insert">(
      "secret_sha256"_a = Bytea(OneTimeHash(secret)), "purpose"_a = static_cast<int>(purpose),
      "email"_a = binding.email, "org_id"_a = binding.org_id, "invitation_sha256"_a = invitation,
      "ttl_s"_a = life.count()));
}

std::optional<Binding> Take(Transaction& tx, OneTimePurpose purpose, std::string_view secret) {
  return ReadBinding(tx.Exec<"onetime_take">("secret_sha256"_a = Bytea(OneTimeHash(secret)),
                                             "purpose"_a = static_cast<int>(purpose)));
}

// That of the organisation; null where there is none.
const Membership* Find(const std::vector<Membership>& all, const base::Uuid& org_id) {
  const auto one =
      std::find_if(all.begin(), all.end(), [&](const auto& m) { return m.org_id == org_id; });
  return one == all.end() ? nullptr : &*one;
}

bool IsStored(const pqxx::result& password, const std::string& shown) {
  return !password.empty() && ReadOne<std::string>(password) == shown;
}

std::optional<StoredPasskey> ReadPasskey(Transaction& tx, const std::string& credential_id) {
  const auto rows = tx.Exec<"passkey_find">("credential_id"_a = Bytea(credential_id));
  if (rows.empty()) return std::nullopt;
  base::Uuid id;
  std::string email;
  std::string der;
  int algorithm = 0;
  std::int64_t sign_count = 0;
  Columns(rows.at(0))
      .Into("id"_a = &id, "email"_a = &email, "public_key"_a = BytesInto{&der},
            "algorithm"_a = &algorithm, "sign_count"_a = &sign_count);
  auto key = base::PublicKey::FromDer(der);
  if (!std::holds_alternative<base::PublicKey>(key)) return std::nullopt;
  return StoredPasskey{
      id,
      email,
      {std::get<base::PublicKey>(std::move(key)), static_cast<base::SignatureAlgorithm>(algorithm),
       static_cast<std::uint32_t>(sign_count)}};
}

// Whether a link to a new password is good still: its person may have gone, or have become a member
// elsewhere, since it was made.
bool MayReset(Transaction& tx, OneTimePurpose purpose, const Binding& binding) {
  if (!binding.email || !binding.org_id) return false;
  const auto all = MembershipsOf(tx, *binding.email);
  const Membership* own = Find(all, *binding.org_id);
  if (own == nullptr || own->by_provider) return false;
  return purpose == OneTimePurpose::kReset || all.size() == 1;
}

// Another password, after which nobody is signed in by the one before. No password signs in where
// the identity provider does: who has one may be a stranger who took the address first.
void SetPassword(Transaction& tx, const std::string& email, const std::string& password) {
  tx.Exec<"password_change">("email"_a = email, "password"_a = password);
  for (const Membership& one : MembershipsOf(tx, email)) {
    if (one.by_provider) continue;
    tx.Exec<"sessions_of_user_end">("principal_id"_a = domain::UserPrincipal(one.org_id, email));
  }
  for (const auto purpose : {OneTimePurpose::kChoice, OneTimePurpose::kReset,
                             OneTimePurpose::kOwnerReset, OneTimePurpose::kPasskeyNew}) {
    tx.Exec<"onetime_withdraw">("purpose"_a = static_cast<int>(purpose), "email"_a = email);
  }
}

}  // namespace

std::optional<StoredPasskey> FindPasskey(Session& session, const std::string& credential_id) {
  return Read(session, [&](Transaction& tx) { return ReadPasskey(tx, credential_id); });
}

bool UsePasskey(Session& session, const StoredPasskey& passkey, std::uint32_t sign_count) {
  return InTransaction(session, [&](Transaction& tx) {
    return !tx.Exec<"passkey_use">(
                  "id"_a = passkey.id, "sign_count"_a = static_cast<std::int64_t>(sign_count),
                  "known_count"_a = static_cast<std::int64_t>(passkey.known.sign_count))
                .empty();
  });
}

std::vector<PasskeyView> ListPasskeys(Session& session, const std::string& email) {
  return Read(session, [&](Transaction& tx) {
    std::vector<PasskeyView> passkeys;
    for (const auto& row : tx.Exec<"passkeys_list">("email"_a = email)) {
      PasskeyView& one = passkeys.emplace_back();
      Columns(row).Into("id"_a = &one.id, "credential_id"_a = BytesInto{&one.credential_id},
                        "name"_a = &one.name, "created_at"_a = &one.created_at,
                        "last_used_at"_a = &one.last_used_at);
    }
    return passkeys;
  });
}

std::optional<base::Uuid> InsertPasskey(Transaction& tx, const base::Clock& clock,
                                        const std::string& email, const NewPasskey& passkey) {
  const base::Uuid id = base::Uuid::V7(clock);
  const auto inserted = tx.Exec<"passkey_insert">(
      "id"_a = id, "email"_a = email, "credential_id"_a = Bytea(passkey.made.credential_id),
      "public_key"_a = Bytea(passkey.made.key.Der()),
      "algorithm"_a = static_cast<int>(passkey.made.algorithm),
      "sign_count"_a = static_cast<std::int64_t>(passkey.made.sign_count), "name"_a = passkey.name,
      "passkeys_max"_a = kPasskeysMax);
  return inserted.empty() ? std::nullopt : std::optional(id);
}

bool AreStillHis(Transaction& tx, const std::string& email, const ShownWays& shown) {
  tx.Exec<"ways_lock">("email"_a = email);
  if (shown.password && !IsStored(tx.Exec<"password_get">("email"_a = email), *shown.password)) {
    return false;
  }
  if (shown.passkey) {
    const auto passkey = ReadPasskey(tx, *shown.passkey);
    if (!passkey || passkey->email != email) return false;
  }
  if (shown.session_sha256 &&
      tx.Exec<"membership_session">("token_sha256"_a = Bytea(*shown.session_sha256)).empty()) {
    return false;
  }
  if (!shown.choice) return true;
  const auto taken = Take(tx, shown.choice->purpose, shown.choice->secret);
  return taken && taken->email == email;
}

bool OfferChoice(Session& session, const ShownWays::Choice& choice, std::chrono::seconds life,
                 const std::string& email, const ShownWays& shown,
                 const std::optional<base::Uuid>& named) {
  return InTransaction(session, [&](Transaction& tx) {
    if (!AreStillHis(tx, email, shown)) return false;
    Put(tx, choice.purpose, choice.secret, life,
        {.email = email, .org_id = named, .invitation_sha256 = std::nullopt});
    return true;
  });
}

AddedPasskey AddPasskey(Session& session, const base::Clock& clock, const std::string& email,
                        const NewPasskey& passkey, const ShownWays& shown, AuditEntry audit) {
  using Kind = AddedPasskey::Kind;
  return InTransaction(session, [&](Transaction& tx) -> AddedPasskey {
    if (!AreStillHis(tx, email, shown)) return {Kind::kNotShown, {}};
    const auto id = InsertPasskey(tx, clock, email, passkey);
    if (!id) return {Kind::kTooMany, {}};
    audit.target = id->ToString();
    InsertAudit(tx, clock, audit);
    return {Kind::kDone, *id};
  });
}

RemovePasskeyOutcome RemovePasskey(Session& session, const base::Clock& clock,
                                   const std::string& email, const base::Uuid& id,
                                   AuditEntry audit) {
  audit.target = id.ToString();
  return InTransaction(session, [&](Transaction& tx) {
    tx.Exec<"ways_lock">("email"_a = email);
    bool known = false;
    const auto all = tx.Exec<"passkeys_list">("email"_a = email);
    for (const auto& row : all) {
      base::Uuid one;
      Columns(row).Into("id"_a = &one);
      known = known || one == id;
    }
    if (!known) return RemovePasskeyOutcome::kNotFound;
    if (all.size() == 1 && tx.Exec<"password_get">("email"_a = email).empty()) {
      return RemovePasskeyOutcome::kLastWay;
    }
    tx.Exec<"passkey_delete">("email"_a = email, "id"_a = id);
    // Which passkey has offered a choice is not kept.
    tx.Exec<"onetime_withdraw">("purpose"_a = static_cast<int>(OneTimePurpose::kChoice),
                                "email"_a = email);
    InsertAudit(tx, clock, audit);
    return RemovePasskeyOutcome::kDone;
  });
}

base::Timestamp PutOneTimeSecret(Session& session, OneTimePurpose purpose, std::string_view secret,
                                 std::chrono::seconds life, const Binding& binding) {
  return InTransaction(session,
                       [&](Transaction& tx) { return Put(tx, purpose, secret, life, binding); });
}

std::optional<Binding> FindOneTimeSecret(Session& session, OneTimePurpose purpose,
                                         std::string_view secret) {
  return Read(session, [&](Transaction& tx) {
    return ReadBinding(tx.Exec<"onetime_find">("secret_sha256"_a = Bytea(OneTimeHash(secret)),
                                               "purpose"_a = static_cast<int>(purpose)));
  });
}

std::optional<Binding> TakeOneTimeSecret(Session& session, OneTimePurpose purpose,
                                         std::string_view secret) {
  return InTransaction(session, [&](Transaction& tx) { return Take(tx, purpose, secret); });
}

ResetLink MakeReset(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                    const std::string& email, const ResetOrder& order, AuditEntry audit) {
  using Kind = ResetLink::Kind;
  ResetLink link;
  link.token = domain::CellPrefix(kResetPrefix, order.cell) + base::RandomBase62(kTokenRandomChars);
  audit.org_id = org_id;
  audit.target = email;
  link.kind = InTransaction(session, [&](Transaction& tx) {
    tx.Exec<"ways_lock">("email"_a = email);
    const auto all = MembershipsOf(tx, email);
    const Membership* own = Find(all, org_id);
    if (own == nullptr) return Kind::kNotFound;
    if (own->by_provider) return Kind::kByProvider;
    if (order.by_owner && all.size() > 1) return Kind::kElsewhere;
    for (const auto purpose : {OneTimePurpose::kReset, OneTimePurpose::kOwnerReset}) {
      tx.Exec<"onetime_withdraw">("purpose"_a = static_cast<int>(purpose), "email"_a = email);
    }
    link.expires_at =
        Put(tx, order.by_owner ? OneTimePurpose::kOwnerReset : OneTimePurpose::kReset, link.token,
            kResetLife, {.email = email, .org_id = org_id, .invitation_sha256 = std::nullopt});
    InsertAudit(tx, clock, audit);
    return Kind::kDone;
  });
  if (link.kind != Kind::kDone) link.token.clear();
  return link;
}

std::optional<std::string> FindReset(Session& session, const std::string& token) {
  return InTransaction(session, [&](Transaction& tx) -> std::optional<std::string> {
    for (const auto purpose : {OneTimePurpose::kReset, OneTimePurpose::kOwnerReset}) {
      const auto found = ReadBinding(tx.Exec<"onetime_find">(
          "secret_sha256"_a = Bytea(OneTimeHash(token)), "purpose"_a = static_cast<int>(purpose)));
      if (!found || !MayReset(tx, purpose, *found)) continue;
      HoldHere(tx, *found->org_id);
      return found->email;
    }
    return std::nullopt;
  });
}

bool TakeReset(Session& session, const base::Clock& clock, const std::string& token,
               const std::string& password, AuditEntry audit) {
  return InTransaction(session, [&](Transaction& tx) {
    OneTimePurpose purpose = OneTimePurpose::kReset;
    auto binding = Take(tx, purpose, token);
    if (!binding) binding = Take(tx, purpose = OneTimePurpose::kOwnerReset, token);
    if (!binding || !binding->email || !binding->org_id) return false;
    const std::string& email = *binding->email;
    HoldHere(tx, *binding->org_id);
    tx.Exec<"ways_lock">("email"_a = email);
    if (!MayReset(tx, purpose, *binding)) return false;
    tx.Exec<"passkeys_delete">("email"_a = email);
    SetPassword(tx, email, password);
    audit.org_id = *binding->org_id;
    audit.target = email;
    InsertAudit(tx, clock, audit);
    return true;
  });
}

bool ChangePassword(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                    const std::string& email, const std::string& password, const ShownWays& shown,
                    AuditEntry audit) {
  audit.org_id = org_id;
  audit.target = email;
  return InTransaction(session, [&](Transaction& tx) {
    if (!AreStillHis(tx, email, shown)) return false;
    SetPassword(tx, email, password);
    InsertAudit(tx, clock, audit);
    return true;
  });
}

}  // namespace vedette::store
