#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/json_text.h"
#include "store/audit.h"
#include "store/session.h"

// The audit as a chain, in which nothing can be changed or taken away unseen: each entry has
//
//   details = sha256(salt || [actor, target, reason, detail, remote_address, on_behalf_of])
//   hash    = sha256(hash before || [seq, id, at, action, org_id, principal_kind, principal_id,
//                                    details in hexadecimal digits])
//
// where a list is compact JSON of the members that the entry is shown with. What may name a person
// is covered by its digest alone, so that it can be erased, and its salt with it, while the chain
// stays one.
//
// Entries are written without a place in the chain, and nobody waits for anybody. SealAudit gives
// them places soon after they are committed, in the order in which it finds them: `seq` counts
// without a gap, and an entry whose transaction takes long comes later, never between.
namespace vedette::store {

inline constexpr std::size_t kAuditHashBytes = 32;
inline constexpr int kSealedPerRun = 500;

// A place in the chain. 0 and zeros: before the first entry.
struct ChainPlace {
  std::int64_t seq = 0;
  std::string hash;  // kAuditHashBytes
};

struct AuditChain {
  ChainPlace head;        // the last sealed entry
  ChainPlace checkpoint;  // the last entry that retention has deleted: the chain goes on behind it
};

// One entry with its place.
struct SealedRecord {
  AuditRecord entry;
  std::int64_t seq = 0;
  std::optional<std::string> salt;  // nothing where the entry was erased
  std::string details;
  std::string hash;
  std::optional<base::Timestamp> erased_at;
};

// An entry as it is shown, which is what the chain covers.
base::Json AuditJson(const AuditRecord& record);
// The same with seq, salt, details and hash (in hexadecimal digits) and erased_at.
base::Json SealedJson(const SealedRecord& record);

// The digests of an entry as it is shown; `seq` of the second one is the entry's. Bytes. Pure.
std::string AuditDetails(std::string_view salt, const base::Json& entry);
std::string AuditHash(std::string_view hash_before, std::int64_t seq, const base::Json& entry,
                      std::string_view details);

// Seals the oldest entries that have no place yet, at most kSealedPerRun, and says how many. Two
// processes at it wait for each other; writers of entries wait for nobody. Throws as InTransaction.
int SealAudit(Session& session);

// Throw as InTransaction does.
AuditChain ReadAuditChain(Session& session);
// The entries behind the place `after`, in order.
std::vector<SealedRecord> ListSealed(Session& session, std::int64_t after, int limit);

}  // namespace vedette::store
