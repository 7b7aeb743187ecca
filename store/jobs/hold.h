#pragma once

#include <chrono>
#include <vector>

#include "base/uuid.h"
#include "store/lease.h"
#include "store/session.h"

// What a worker does to chunks that it holds, besides recording them. A renewal waits for no lock;
// each other statement locks chunks in the order of their ids. All functions throw as InTransaction
// does.
namespace vedette::store {

// Extends the leases; returns the chunks that are still held. The others are lost: taken over by
// another process, or gone with the end of their job. The lease of a chunk that somebody has locked
// at this moment is extended by the next renewal.
std::vector<base::Uuid> RenewJobChunks(Session& session, const std::vector<Lease>& leases,
                                       std::chrono::milliseconds lease);

// Gives chunks back. One without a delay is due at once, before what waits, and the claim is not
// counted. Another one is due after its delay, as one whose rows are all to be tried later, and
// claims count from zero.
void GiveBackJobChunks(Session& session, const std::vector<GiveBack>& chunks);

// A chunk that is still this process's.
struct HeldJobChunk {
  base::Uuid id;
  bool may_run = true;  // false while its organisation is locked: it starts no row, and is kept
};
// The chunks that are still held, in the order of their ids; the lease is the switch by which a job
// is stopped (G5). A row starts only if a call that began less than kJobHeldFresh ago returned its
// chunk with may_run.
std::vector<HeldJobChunk> ReadHeldJobChunks(Session& session, const std::vector<Lease>& leases);
inline constexpr std::chrono::seconds kJobHeldFresh{4};

// Commits that `row` (an index in the part, or kSuspectPart) has its last try now: a worker that
// claims the chunk with it fails it. False when the lease was lost. A record clears it.
bool MarkJobSuspect(Session& session, const Lease& lease, int row);

}  // namespace vedette::store
