#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/fair_share.h"
#include "base/uuid.h"
#include "domain/job.h"
#include "worker/jobs/held_job_chunk.h"

namespace vedette::worker {

// What a process holds of jobs: chunks, their rows, and the rows of them that are in flight, by
// lane and by organisation. This is the only place that counts. Each call keeps these equations,
// for each lane and for each organisation in it, of all chunks and of those that clients wait for:
//
//   chunks     = the chunks that are held
//   rows_open  = the sum of `rows_open` over the chunks that are held
//   in_flight  = the sum of `in_flight` over all chunks, also over those that are not held any more
//   bytes      = the sum of `bytes` over the chunks that are held
//
// A count that would go below zero ends the process (base/assert.h). A plain container: no clock,
// no I/O; one thread. It must outlive every chunk that has a row in flight.
class JobHoldings {
 public:
  // Holds the chunk from here on. Its id is not held yet, and none of its rows is in flight.
  void Add(const JobChunkPtr& chunk);

  // Does not hold it any more: it becomes kLost. Rows that are in flight stay counted until
  // LeaveFlight. False, and nothing happens, where it was not held.
  bool Remove(const JobChunkPtr& chunk);

  // One more row of a held chunk has ended.
  void CloseRow(HeldJobChunk& chunk);

  // A row of a held chunk starts; it is in flight no more, whether the chunk is still held or not.
  void EnterFlight(HeldJobChunk& chunk);
  void LeaveFlight(HeldJobChunk& chunk);

  // The chunk of this id; null where none is held.
  JobChunkPtr Find(const base::Uuid& id) const;
  // All that are held, as a copy, so that chunks may be removed while it is read.
  std::vector<JobChunkPtr> All() const;
  const std::unordered_map<base::Uuid, JobChunkPtr>& chunks() const { return chunks_; }
  bool empty() const { return chunks_.empty(); }

  const LaneLoad& Lane(domain::Lane lane) const;
  // What is held of an organisation in a lane; null where that is nothing.
  const JobOrgLoad* FindOrg(domain::Lane lane, const base::Uuid& org_id) const;
  // The bytes that are held, in all lanes together; of each organisation, as shares of `total`.
  std::size_t bytes_held() const { return bytes_held_; }
  base::FairShares<base::Uuid> BytesOf(std::size_t total, double reserve) const;

 private:
  using OrgKey = std::pair<domain::Lane, base::Uuid>;

  LaneLoad& LaneOf(const HeldJobChunk& chunk);
  // All that a chunk is counted in.
  std::vector<JobLoad*> LoadsOf(HeldJobChunk& chunk);
  void ForgetOrgIfIdle(const HeldJobChunk& chunk);

  std::unordered_map<base::Uuid, JobChunkPtr> chunks_;
  std::map<OrgKey, JobOrgLoad> orgs_;  // nodes stay where they are: chunks point to them
  std::array<LaneLoad, domain::kLaneCount> lanes_{};
  std::size_t bytes_held_ = 0;
};

}  // namespace vedette::worker
