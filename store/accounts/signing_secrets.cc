#include "store/accounts/signing_secrets.h"

#include <algorithm>
#include <stdexcept>
#include <thread>
#include <utility>

#include "base/crypto.h"
#include "base/json.h"
#include "config/security_config.h"
#include "store/audit.h"
#include "store/sealed.h"
#include "store/sql.h"

namespace vedette::store {
namespace {

constexpr std::string_view kSecretPrefix = "sk_whsec_";
constexpr std::size_t kSecretBytes = 32;
// By how much the clocks of two machines may differ within kSecretsKnownMax, generously.
constexpr std::chrono::milliseconds kClocksDiffer{50};

std::optional<std::string> Open(const std::vector<NamedKey>& keys, const std::string& key_id,
                                const std::string& sealed, const base::Uuid& id) {
  return OpenSealed(keys, {sealed, key_id}, id.ToString());
}

// The beginning and the end of a secret: enough to tell it from others, not to guess it.

// The next ones sealed with the keys `former`, from signing_secrets_to_reseal.
void ResealSecrets(Transaction& tx, const config::SecurityConfig& security,
                   const std::vector<std::string>& former, Resealed* done) {
  const std::vector<NamedKey> keys = NamedKeys(security);
  Rows<Column<"id", base::Uuid>, Column<"sealed", std::string>> sealed_now;
  const auto found =
      tx.Exec<"signing_secrets_to_reseal">("former_key_id"_a = former, "limit"_a = kResealBatch);
  for (const auto& row : found) {
    base::Uuid id;
    std::string sealed;
    std::string key_id;
    Columns(row).Into("id"_a = &id, "sealed"_a = BytesInto{&sealed},
                      "encryption_key_id"_a = &key_id);
    const auto secret = Open(keys, key_id, sealed, id);
    if (!secret) {
      ++done->unreadable;
      continue;
    }
    sealed_now.Add(id, Bytea(Seal(security, *secret, id.ToString()).bytes));
    ++done->resealed;
  }
  if (static_cast<int>(found.size()) == kResealBatch) done->done = false;
  if (sealed_now.empty()) return;
  tx.Exec<"signing_secrets_reseal">(
      sealed_now, "encryption_key_id"_a = EncryptionKeyId(security.encryption_key));
}

// The same of what is bound to an organisation: the headers that monitors send, what their steps
// type, and the addresses of channels. A page's session is left alone: where no key opens it, the
// next check logs in.
template <NameText to_reseal, NameText reseal>
void ResealBound(Transaction& tx, const config::SecurityConfig& security,
                 const std::vector<std::string>& former,
                 std::string (*binding)(const base::Uuid& org_id), Resealed* done) {
  const std::vector<NamedKey> keys = NamedKeys(security);
  Rows<Column<"id", base::Uuid>, Column<"sealed", std::string>> sealed_now;
  const auto found = tx.Exec<to_reseal>("former_key_id"_a = former, "limit"_a = kResealBatch);
  for (const auto& row : found) {
    base::Uuid id;
    base::Uuid org_id;
    Sealed sealed;
    Columns(row).Into("id"_a = &id, "org_id"_a = &org_id, "sealed"_a = BytesInto{&sealed.bytes},
                      "key_id"_a = &sealed.key_id);
    const std::string bound_to = binding(org_id);
    const auto plain = OpenSealed(keys, sealed, bound_to);
    if (!plain) {
      ++done->unreadable;
      continue;
    }
    sealed_now.Add(id, Bytea(Seal(security, *plain, bound_to).bytes));
    ++done->resealed;
  }
  if (static_cast<int>(found.size()) == kResealBatch) done->done = false;
  if (sealed_now.empty()) return;
  tx.Exec<reseal>(sealed_now, "encryption_key_id"_a = EncryptionKeyId(security.encryption_key));
}

}  // namespace

std::string SigningSecretPreview(const std::string& secret) {
  constexpr std::size_t kShown = 4;
  if (secret.size() < kSecretPrefix.size() + 4 * kShown) return "...";
  return std::string(kSecretPrefix) +
         std::string(secret.size() - kSecretPrefix.size() - kShown, '.') +
         secret.substr(secret.size() - kShown);
}

std::map<base::Uuid, OrgSecrets> ReadSigningSecrets(Session& session,
                                                    const std::vector<base::Uuid>& org_ids,
                                                    const config::SecurityConfig& security) {
  const std::vector<NamedKey> keys = NamedKeys(security);
  return InTransaction(session, [&](Transaction& tx) {
    std::map<base::Uuid, OrgSecrets> found;
    for (const base::Uuid& id : org_ids) found[id];
    for (const auto& row : tx.Exec<"signing_secrets_read">("org_ids"_a = org_ids)) {
      base::Uuid org_id;
      base::Uuid id;
      std::string sealed;
      std::string key_id;
      bool live = false;
      Columns(row).Into("org_id"_a = &org_id, "id"_a = &id, "sealed"_a = BytesInto{&sealed},
                        "encryption_key_id"_a = &key_id, "live"_a = &live);
      OrgSecrets& org = found[org_id];
      org.configured = true;
      if (!live) continue;
      auto secret = Open(keys, key_id, sealed, id);
      if (secret) {
        org.secrets.push_back(std::move(*secret));
      } else {
        org.readable = false;
      }
    }
    // Every rotation leaves one without an end, so a configured organisation without a live secret
    // means that somebody meddled with the table: nothing may go out unsigned.
    for (auto& [id, org] : found) {
      if (org.configured && org.secrets.empty()) org.readable = false;
    }
    return found;
  });
}

namespace {

// Newest first; without a preview where no key opens it.
std::vector<SigningSecretView> ReadViews(Transaction& tx, const base::Uuid& org_id,
                                         const std::vector<NamedKey>& keys) {
  std::vector<SigningSecretView> views;
  for (const auto& row :
       tx.Exec<"signing_secrets_of_org">("org_id"_a = org_id, "limit"_a = kSigningSecretsShown)) {
    SigningSecretView& view = views.emplace_back();
    std::string sealed;
    Columns(row).Into("id"_a = &view.id, "sealed"_a = BytesInto{&sealed},
                      "encryption_key_id"_a = &view.encryption_key_id,
                      "created_at"_a = &view.created_at, "retires_at"_a = &view.retires_at,
                      "live"_a = &view.live);
    const auto secret = Open(keys, view.encryption_key_id, sealed, view.id);
    if (secret) view.preview = SigningSecretPreview(*secret);
  }
  return views;
}

bool HasCurrent(Transaction& tx, const base::Uuid& org_id) {
  for (const auto& secret : ReadViews(tx, org_id, {})) {
    if (!secret.retires_at) return true;
  }
  return false;
}

enum class Where { kAnywhere, kNoneIsCurrent };
FirstSigningSecret MakeSigningSecret(Session& session, const base::Clock& clock,
                                     const base::Uuid& org_id, Where where,
                                     std::chrono::seconds overlap, int live_max,
                                     const config::SecurityConfig& security, AuditEntry audit) {
  if (security.encryption_key.empty()) {
    throw std::logic_error("a signing secret needs [security] encryption_key");
  }
  NewSigningSecret made;
  made.id = base::Uuid::V7(clock);
  made.secret = std::string(kSecretPrefix) + base::HexEncode(base::RandomBytes(kSecretBytes));
  const std::string sealed =
      base::AeadSeal(security.encryption_key, made.secret, made.id.ToString());
  audit.target = made.id.ToString();
  audit.org_id = org_id;
  return InTransaction(session, [&](Transaction& tx) -> FirstSigningSecret {
    // The lock keeps two rotations apart, so that one secret without an end is left.
    if (tx.Exec<"signing_secrets_lock_org">("org_id"_a = org_id).empty()) return {};
    if (where == Where::kNoneIsCurrent && HasCurrent(tx, org_id)) return {.exists = true};
    tx.Exec<"signing_secrets_retire_former">("org_id"_a = org_id, "overlap_s"_a = overlap.count());
    made.created_at = ReadOne<base::Timestamp>(tx.Exec<"signing_secret_insert">(
        "id"_a = made.id, "org_id"_a = org_id, "sealed"_a = Bytea(sealed),
        "encryption_key_id"_a = EncryptionKeyId(security.encryption_key)));
    tx.Exec<"signing_secrets_retire_surplus">("org_id"_a = org_id, "live_max"_a = live_max);
    InsertAudit(tx, clock, audit);
    return {.made = made};
  });
}

}  // namespace

std::optional<NewSigningSecret> RotateSigningSecret(Session& session, const base::Clock& clock,
                                                    const base::Uuid& org_id,
                                                    std::chrono::seconds overlap, int live_max,
                                                    const config::SecurityConfig& security,
                                                    AuditEntry audit) {
  return MakeSigningSecret(session, clock, org_id, Where::kAnywhere, overlap, live_max, security,
                           std::move(audit))
      .made;
}

FirstSigningSecret MakeFirstSigningSecret(Session& session, const base::Clock& clock,
                                          const base::Uuid& org_id, int live_max,
                                          const config::SecurityConfig& security,
                                          AuditEntry audit) {
  return MakeSigningSecret(session, clock, org_id, Where::kNoneIsCurrent, std::chrono::seconds(0),
                           live_max, security, std::move(audit));
}

RetireOutcome RetireSigningSecret(Session& session, const base::Clock& clock,
                                  const base::Uuid& org_id, const base::Uuid& secret_id,
                                  AuditEntry audit) {
  audit.target = secret_id.ToString();
  audit.org_id = org_id;
  return InTransaction(session, [&](Transaction& tx) {
    // The lock of a rotation, so that the current one is not another in between.
    tx.Exec<"signing_secrets_lock_org">("org_id"_a = org_id);
    const auto rows =
        tx.Exec<"signing_secret_retire">("org_id"_a = org_id, "secret_id"_a = secret_id);
    if (rows.empty()) return RetireOutcome::kNotFound;
    if (ReadOne<bool>(rows)) return RetireOutcome::kCurrent;
    InsertAudit(tx, clock, audit);
    return RetireOutcome::kDone;
  });
}

std::vector<SigningSecretView> ListSigningSecrets(Session& session, const base::Uuid& org_id,
                                                  const config::SecurityConfig& security) {
  const std::vector<NamedKey> keys = NamedKeys(security);
  return InTransaction(session, [&](Transaction& tx) { return ReadViews(tx, org_id, keys); });
}

std::vector<EncryptionKeyUse> ReadEncryptionKeys(Session& session,
                                                 const config::SecurityConfig& security) {
  using Place = EncryptionKeyUse::Place;
  std::vector<EncryptionKeyUse> uses;
  for (const NamedKey& key : NamedKeys(security)) {
    const Place place = key.key == security.encryption_key ? Place::kPresent : Place::kFormer;
    uses.push_back({.id = key.id, .place = place});
  }
  return InTransaction(session, [&](Transaction& tx) {
    std::vector<EncryptionKeyUse> found = uses;
    for (const auto& row : tx.Exec<"signing_secrets_by_key">()) {
      EncryptionKeyUse use;
      Columns(row).Into("key_id"_a = &use.id, "secrets"_a = &use.secrets,
                        "organisations"_a = &use.organisations, "monitors"_a = &use.monitors,
                        "channels"_a = &use.channels);
      const auto known = std::find_if(found.begin(), found.end(),
                                      [&](const auto& other) { return other.id == use.id; });
      if (known == found.end()) {
        found.push_back(std::move(use));
      } else {
        known->secrets = use.secrets;
        known->organisations = use.organisations;
        known->monitors = use.monitors;
        known->channels = use.channels;
      }
    }
    return found;
  });
}

Resealed ResealSigningSecrets(Session& session, const base::Clock& clock,
                              const config::SecurityConfig& security, AuditEntry audit) {
  const std::string present = EncryptionKeyId(security.encryption_key);
  std::vector<std::string> former;
  for (const NamedKey& key : NamedKeys(security)) {
    if (key.id != present) former.push_back(key.id);
  }
  audit.target = present;
  return InTransaction(session, [&](Transaction& tx) {
    Resealed done;
    ResealSecrets(tx, security, former, &done);
    ResealBound<"request_headers_to_reseal", "request_headers_reseal">(
        tx, security, former, RequestHeadersBinding, &done);
    ResealBound<"probe_secrets_to_reseal", "probe_secrets_reseal">(tx, security, former,
                                                                   ProbeSecretsBinding, &done);
    ResealBound<"channel_urls_to_reseal", "channel_urls_reseal">(tx, security, former,
                                                                 ChannelUrlBinding, &done);
    if (done.resealed == 0) {
      done.done = true;  // what is left cannot be opened
      return done;
    }
    audit.detail = base::Json{{"resealed", done.resealed}};
    InsertAudit(tx, clock, audit);
    return done;
  });
}

void AwaitSecretsInForce() {
  std::this_thread::sleep_for(kSecretsKnownMax + kClocksDiffer);
}

}  // namespace vedette::store
