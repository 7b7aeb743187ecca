#include "worker/jobs/job_room.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "config/jobs_config.h"
#include "lease/holdings.h"

namespace vedette::worker {
namespace {

// Rows that are held for one slot: chunks come whole, and one that goes into a free slot may bring
// more rows than there are slots.
constexpr std::size_t kHeldPerSlot = 2;

std::vector<lease::Asking> AskingOf(const std::vector<store::DueJobs>& due,
                                    const JobHoldings& holdings, domain::Lane lane, int rank) {
  std::vector<lease::Asking> asking;
  for (const store::DueJobs& org : due) {
    if (org.rank != rank) continue;
    lease::Asking& a = asking.emplace_back();
    a.org_id = org.org_id;
    const bool whole = lane == domain::Lane::kTransform;
    a.first_rows = whole ? 1 : static_cast<std::size_t>(std::max(org.rows, 1));
    const lease::OrgLoad* held = holdings.FindOrg(org.org_id, lane);
    if (held == nullptr) continue;
    const lease::Load& load = rank == kRankWaited ? held->waited : *held;
    a.rows_open = whole ? load.chunks : load.rows_open;
    a.in_flight = load.in_flight;
  }
  return asking;
}

// The slots of a lane that are not kept for rows that a client waits for: at least one, however few
// there are.
std::size_t SlotsForEverybody(const config::JobsConfig& config, domain::Lane lane) {
  const std::size_t slots = SlotsOf(config, lane);
  const double kept = std::floor(static_cast<double>(slots) * config.waited_share);
  return std::max<std::size_t>(slots - static_cast<std::size_t>(kept), 1);
}

}  // namespace

std::size_t SlotsOf(const config::JobsConfig& config, domain::Lane lane) {
  switch (lane) {
    case domain::Lane::kTransform:
      return static_cast<std::size_t>(config.slots_transform);
    case domain::Lane::kLookup:
      return static_cast<std::size_t>(config.slots_lookup);
    case domain::Lane::kSmtp:
      return static_cast<std::size_t>(config.slots_smtp);
    case domain::Lane::kResearch:
      return static_cast<std::size_t>(config.slots_research);
  }
  return 0;
}

lease::Room JobRoomOf(const config::JobsConfig& config, const lease::LaneLoad& load,
                      domain::Lane lane, int rank) {
  const std::size_t slots = SlotsOf(config, lane);
  const std::size_t for_everybody = SlotsForEverybody(config, lane);
  lease::Room room;
  room.slots_max = rank == kRankWaited ? slots : for_everybody;
  room.in_flight = load.in_flight;
  room.newcomer_share = config.newcomer_share;
  if (lane == domain::Lane::kTransform) {
    // A part is one piece of work, which is held until it is recorded.
    room.rows_max = static_cast<std::size_t>(config.parts_held_max);
    room.rows_open = load.chunks;
    room.rows_left = lease::LeftOf(room.rows_max, load.chunks);
  } else {
    room.rows_max = room.slots_max;
    room.rows_open = load.rows_open;
    if (rank == kRankWaited) {
      const std::size_t others = load.rows_open - load.waited.rows_open;
      room.rows_open = std::min(others, for_everybody) + load.waited.rows_open;
    }
    room.rows_left = lease::LeftOf(kHeldPerSlot * room.slots_max, load.rows_open);
  }
  room.rows_left_for_slots = room.rows_left;
  return room;
}

bool HasFreeSlot(const config::JobsConfig& config, const lease::LaneLoad& load, domain::Lane lane,
                 int rank) {
  return load.in_flight < JobRoomOf(config, load, lane, rank).slots_max;
}

bool HasClaimRoom(const config::JobsConfig& config, const lease::LaneLoad& load,
                  domain::Lane lane) {
  const lease::Room room = JobRoomOf(config, load, lane, kRankWaited);
  const bool ahead = lane == domain::Lane::kTransform;  // parts are claimed before they can start
  return (ahead || room.in_flight < room.slots_max) && room.rows_left > 0;
}

std::size_t ChunkBytesMax(const config::JobsConfig& config) {
  return 2 * config.part_bytes_max;
}

std::vector<store::JobShare> WithinBytes(std::vector<store::JobShare> shares,
                                         std::size_t chunk_bytes,
                                         base::FairShares<base::Uuid>* bytes) {
  for (store::JobShare& share : shares) {
    int chunks = 0;
    for (; chunks < share.chunks_max && bytes->MayTake(share.org_id); ++chunks) {
      bytes->Take(share.org_id, chunk_bytes);
    }
    share.chunks_max = chunks;
  }
  std::erase_if(shares, [](const store::JobShare& share) { return share.chunks_max == 0; });
  return shares;
}

std::vector<store::JobShare> ShareLane(const config::JobsConfig& config,
                                       const JobHoldings& holdings, domain::Lane lane,
                                       const std::vector<store::DueJobs>& due) {
  struct Taken {
    std::size_t chunks = 0;
    int rank_max = kRankWaited;
  };
  std::map<base::Uuid, Taken> taken;
  lease::LaneLoad load = holdings.InLane(lane);
  for (int rank = 0; rank < kRankCount; ++rank) {
    const auto asking = AskingOf(due, holdings, lane, rank);
    for (const auto& share : lease::ShareOut(asking, JobRoomOf(config, load, lane, rank))) {
      const auto chunks =
          std::min(static_cast<std::size_t>(share.chunks_max), kJobChunksPerShareMax);
      Taken& org = taken[share.org_id];
      org.chunks += chunks;
      org.rank_max = rank;
      // What rank 0 takes here is not there for rank 1.
      if (rank == kRankWaited) {
        for (lease::Load* of : {static_cast<lease::Load*>(&load), &load.waited}) {
          of->rows_open += static_cast<std::size_t>(share.rows_max);
          of->chunks += chunks;
        }
      }
    }
  }
  std::vector<store::JobShare> shares;
  for (const store::DueJobs& org : due) {
    const auto found = taken.find(org.org_id);
    if (found == taken.end()) continue;
    shares.push_back({lane, org.org_id, found->second.rank_max,
                      static_cast<int>(std::min(found->second.chunks, kJobChunksPerShareMax))});
    taken.erase(found);
  }
  return shares;
}

base::Uuid NextCursor(const std::vector<store::DueJobs>& due,
                      const std::vector<store::JobShare>& shares, const base::Uuid& scanned_to) {
  std::set<base::Uuid> organisations;
  for (const store::DueJobs& jobs : due) organisations.insert(jobs.org_id);
  return lease::NextCursor(organisations.size(), shares, scanned_to);
}

std::vector<store::DueJobs> LaneTurns::InTurn(std::vector<store::DueJobs> due) const {
  const auto first = std::find_if(due.begin(), due.end(), [this](const store::DueJobs& jobs) {
    return !(jobs.org_id < next_);
  });
  std::rotate(due.begin(), first, due.end());
  return due;
}

void LaneTurns::Shared(const std::vector<store::DueJobs>& due,
                       const std::vector<store::JobShare>& shares, const JobHoldings& holdings) {
  const auto is_of = [](const base::Uuid& org) {
    return [&org](const auto& other) { return other.org_id == org; };
  };
  // An organisation that holds nothing is given something while there is any room.
  const auto left_out = std::find_if(due.begin(), due.end(), [&](const store::DueJobs& jobs) {
    return std::none_of(shares.begin(), shares.end(), is_of(jobs.org_id)) &&
           holdings.FindOrg(jobs.org_id, jobs.lane) == nullptr;
  });
  if (left_out != due.end() && shares.empty() && !next_.is_nil())
    return;  // nobody's turn has passed
  const bool seen = std::any_of(due.begin(), due.end(), is_of(next_));
  if (left_out != due.end()) {
    next_ = left_out->org_id;
  } else if (seen) {
    next_ = {};
  }
}

}  // namespace vedette::worker
