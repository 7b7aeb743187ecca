#pragma once

#include <cstdint>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "store/audit.h"
#include "store/session.h"

namespace vedette::store {

class Transaction;  // store/sql.h; only store/ has any

inline constexpr int kDigestsPerCut = 100;   // of one transaction
inline constexpr int kSlotsPerLook = 1'000;  // of schedules, that one look tells

// Cuts the digests of channels that are due: what waits for a channel becomes one notification, or
// one a recipient; where nothing waits there is none. Any process may take the next ones, and one
// that dies leaves them as they were. Returns how many channels it looked at. Throws as
// InTransaction.
int CutDigests(Session& session, const base::Clock& clock);

// The channels that an organisation is told of itself by (domain/channel/channel.h), in the order
// in which they were given, without those that were deleted. They throw as InTransaction.
std::vector<base::Uuid> ReadNoticeChannels(Session& session, const base::Uuid& org_id);
void SetNoticeChannels(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                       const std::vector<base::Uuid>& channel_ids, const AuditEntry& audit);

// Looks what organisations that have such channels are to be told, and tells each occurrence once:
// it is over where it is not so any more. So it does with what became of the slots of workflows'
// schedules that have channels. `least_mc`: a balance below it pays nothing. One process
// looks at a time. Returns how many occurrences are new. Throws as InTransaction.
int TellNotices(Session& session, const base::Clock& clock, std::int64_t least_mc);

// Internal to store/channels/: makes what waits for the channel's digest one notification, or one a
// recipient, inside the caller's transaction, which has locked the channel. Returns how much
// waited.
std::int64_t CutDigest(Transaction& tx, const base::Clock& clock, const base::Uuid& channel_id);

}  // namespace vedette::store
