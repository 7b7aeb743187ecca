#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "config/config.h"
#include "store/audit.h"
#include "store/session.h"

// The keys of outgoing webhooks (interface 6.2), sealed in the database under the operator's
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
};

// Makes a new current secret. The former ones stay live for `overlap` (0: retired at once), unless
// they retire earlier already; of more than `live_max` the oldest are retired at once. Empty when
// there is no such organisation. Throws std::logic_error without an encryption key. Nobody is told
// of the new one before AwaitSecretsInForce() has returned.
std::optional<NewSigningSecret> RotateSigningSecret(Session& session, const base::Clock& clock,
                                                    const base::Uuid& org_id,
                                                    std::chrono::seconds overlap, int live_max,
                                                    const config::SecurityConfig& security,
                                                    AuditEntry audit);

// Blocks for kSecretsKnownMax and a little: what was committed before is then in force everywhere,
// since nobody in the fleet goes by what was before.
void AwaitSecretsInForce();

// Names an encryption key without telling it: the first 8 hexadecimal digits of its SHA-256.
std::string EncryptionKeyId(std::string_view key);

}  // namespace vedette::store
