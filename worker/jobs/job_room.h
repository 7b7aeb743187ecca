#pragma once

#include <cstddef>
#include <vector>

#include "base/fair_share.h"
#include "base/uuid.h"
#include "config/config_fwd.h"
#include "domain/job/job.h"
#include "lease/share_out.h"
#include "store/jobs/claim.h"
#include "worker/jobs/held_job_chunk.h"

// How much a process may start and claim of jobs, by what it holds. Pure.
//
//   slots of a lane:   |------------ any rank ------------|-- waited_share: rank 0 alone --|
//
// Rows of both ranks fill the slots from the left; the last ones are kept for rows that a client
// waits for. Within what its rank may use, an organisation that is alone leaves newcomer_share
// free, and organisations that ask for more than there is share equally (G10). What an organisation
// holds of the other rows does not count against those that its clients wait for: neither in its
// share, nor in the last slots where parts that came whole reach into them.
namespace vedette::worker {

// Chunks of an organisation in one claim. Its first due chunk says how many of them fill its share
// of the room; this bounds what is held where the chunks after it are larger.
inline constexpr std::size_t kJobChunksPerShareMax = 16;

// Rows in flight that a lane has slots for.
std::size_t SlotsOf(const config::JobsConfig& config, domain::Lane lane);

// What rows of a rank may use of a lane.
lease::Room JobRoomOf(const config::JobsConfig& config, const lease::LaneLoad& load,
                      domain::Lane lane, int rank);

// A row of this rank may start, as far as the lane is concerned.
bool HasFreeSlot(const config::JobsConfig& config, const lease::LaneLoad& load, domain::Lane lane,
                 int rank);

// A claim may bring more of the lane.
bool HasClaimRoom(const config::JobsConfig& config, const lease::LaneLoad& load, domain::Lane lane);

// What a chunk that is not loaded counts with: its rows and what earlier holders recorded of it.
std::size_t ChunkBytesMax(const config::JobsConfig& config);

// What is left of a claim's shares within the bytes that organisations may hold (`bytes`, in which
// it is counted from here on): each takes chunks up to its share of them, so that what is held goes
// beyond their total by one chunk at most (G11).
std::vector<store::JobShare> WithinBytes(std::vector<store::JobShare> shares,
                                         std::size_t chunk_bytes,
                                         base::FairShares<base::Uuid>* bytes);

// Shares the room of one lane out among the organisations that have chunks due there: first for the
// chunks that clients wait for, then for the others. In the order of `due`, all of which is of
// `lane`; each organisation at most once.
std::vector<store::JobShare> ShareLane(const config::JobsConfig& config,
                                       const JobHoldings& holdings, domain::Lane lane,
                                       const std::vector<store::DueJobs>& due);

// The next scan of a lane begins behind the last organisation that got a share where others
// came away with nothing, so that these come first; else where the scan ended (`scanned_to`).
base::Uuid NextCursor(const std::vector<store::DueJobs>& due,
                      const std::vector<store::JobShare>& shares, const base::Uuid& scanned_to);

// Whose turn it is where there is not room for everybody in a lane. Scans go by the ids of
// organisations, and many of them find no room; so the first one that came away with nothing is
// remembered, and is the first one to be given room, wherever a scan begins. A plain value.
class LaneTurns {
 public:
  // `due` of a lane, by organisation, in turn.
  std::vector<store::DueJobs> InTurn(std::vector<store::DueJobs> due) const;
  // What is due, in turn, has got these shares.
  void Shared(const std::vector<store::DueJobs>& due, const std::vector<store::JobShare>& shares,
              const JobHoldings& holdings);

 private:
  base::Uuid next_;  // nil: nobody came away with nothing
};

}  // namespace vedette::worker
