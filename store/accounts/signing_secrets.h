#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "config/config_fwd.h"
#include "store/audit.h"
#include "store/sealed.h"
#include "store/session.h"

// The keys of outgoing webhooks (docs/webhooks.md), sealed in the database under the operator's
// encryption key. All functions throw as InTransaction does (store/session.h).
namespace vedette::store {

// What a signer needs to know of one organisation. Holds plaintext: do not log it.
struct OrgSecrets {
  // Whether the organisation ever got a secret: then nothing of it may go out unsigned.
  bool configured = false;
  // False when a live secret cannot be opened with any configured key: fail closed.
  bool readable = true;
  std::vector<std::string> secrets;  // live ones, newest first
};

// The secrets of the given organisations; every id has an entry in the answer.
std::map<base::Uuid, OrgSecrets> ReadSigningSecrets(Session& session,
                                                    const std::vector<base::Uuid>& org_ids,
                                                    const config::SecurityConfig& security);

// The code that signs goes by what it has read for at most that long, by CLOCK_BOOTTIME, counted
// from the beginning of the reading; after that it reads again or sends nothing.
inline constexpr std::chrono::milliseconds kSecretsKnownMax{1000};

struct NewSigningSecret {
  base::Uuid id;
  std::string secret;  // "sk_whsec_" and 64 hexadecimal digits; readable only here
  base::Timestamp created_at{};
};
// "sk_whsec_", dots, and the last four characters: what a list shows of a secret. Pure.
std::string SigningSecretPreview(const std::string& secret);

// Makes a new current secret. The former ones stay live for `overlap` (0: retired at once), unless
// they retire earlier already; of more than `live_max` the oldest are retired at once. Empty when
// there is no such organisation. Throws std::logic_error without an encryption key. Nobody is told
// of the new one before AwaitSecretsInForce() has returned.
std::optional<NewSigningSecret> RotateSigningSecret(Session& session, const base::Clock& clock,
                                                    const base::Uuid& org_id,
                                                    std::chrono::seconds overlap, int live_max,
                                                    const config::SecurityConfig& security,
                                                    AuditEntry audit);
struct FirstSigningSecret {
  bool exists = false;                     // a current one, which stays
  std::optional<NewSigningSecret> made{};  // empty otherwise where there is no such organisation
};
// The same only where there is no current one: of calls at the same time one makes it.
FirstSigningSecret MakeFirstSigningSecret(Session& session, const base::Clock& clock,
                                          const base::Uuid& org_id, int live_max,
                                          const config::SecurityConfig& security, AuditEntry audit);

enum class RetireOutcome { kDone, kNotFound, kCurrent };
// Retires a former secret at once, before its overlap is over. kCurrent: it is the one that has no
// end, without which nothing of the organisation could be signed. Nobody is told before
// AwaitSecretsInForce() has returned.
RetireOutcome RetireSigningSecret(Session& session, const base::Clock& clock,
                                  const base::Uuid& org_id, const base::Uuid& secret_id,
                                  AuditEntry audit);

// One secret as the operator sees it.
struct SigningSecretView {
  base::Uuid id;
  std::optional<std::string> preview;  // SigningSecretPreview; empty where it cannot be opened
  std::string encryption_key_id;
  base::Timestamp created_at{};
  std::optional<base::Timestamp> retires_at;  // empty: the current one
  bool live = false;
};
// Those of an organisation, newest first, at most kSigningSecretsShown; the older ones have all
// retired.
inline constexpr int kSigningSecretsShown = 100;
std::vector<SigningSecretView> ListSigningSecrets(Session& session, const base::Uuid& org_id,
                                                  const config::SecurityConfig& security);

// Live secrets by the encryption key that they are sealed with.
struct EncryptionKeyUse {
  enum class Place {
    kPresent,  // it is encryption_key
    kFormer,   // one of encryption_keys_old
    kUnknown,  // not configured here: its secrets cannot be opened
  };
  std::string id;
  Place place = Place::kUnknown;
  std::int64_t secrets = 0;
  std::int64_t organisations = 0;
  std::int64_t monitors = 0;  // whose request headers are sealed with it
  std::int64_t channels = 0;  // whose addresses are
};
// The keys that live secrets, request headers and addresses of channels are sealed with, and those
// that are configured.
std::vector<EncryptionKeyUse> ReadEncryptionKeys(Session& session,
                                                 const config::SecurityConfig& security);

struct Resealed {
  std::int64_t resealed = 0;
  std::int64_t unreadable = 0;  // sealed with a former key, but not with what it should be
  bool done = true;             // none is left of the former keys
};
// Seals secrets of the former keys, live or not, the request headers of monitors and the addresses
// of channels with the present one: the next kResealBatch of each, in one transaction. To repeat it
// is safe; signers see no difference.
inline constexpr int kResealBatch = 1000;
Resealed ResealSigningSecrets(Session& session, const base::Clock& clock,
                              const config::SecurityConfig& security, AuditEntry audit);

// Blocks for kSecretsKnownMax and a little: what was committed before is then in force everywhere,
// since nobody in the fleet goes by what was before.
void AwaitSecretsInForce();

}  // namespace vedette::store
