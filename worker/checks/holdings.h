#pragma once

#include <cstddef>
#include <map>
#include <unordered_map>
#include <vector>

#include "base/uuid.h"
#include "worker/checks/held_chunk.h"

namespace vedette::worker {

// What a process holds: its chunks, their rows, and the checks of them that are in flight, in all
// and of each organisation. This is the only place that counts. Each call keeps these equations:
//
//   rows_held  = the sum of `rows` over the chunks that are held
//   bytes_held = the sum of `bytes` over the chunks that are held
//   rows_open  = the sum of `rows_open` over the chunks that are held, and over the organisations
//   in_flight  = the sum of `in_flight` over all chunks, also over those that are not held any more
//
// A count that would go below zero ends the process (base/assert.h). A plain container: no clock,
// no I/O; one thread. It must outlive every chunk that has a check in flight.
class Holdings {
 public:
  // Holds the chunk from here on. Its id is not held yet, and none of its checks is in flight.
  void Add(const ChunkPtr& chunk);

  // Does not hold it any more: it becomes kLost. Checks that are in flight stay counted until
  // LeaveFlight. False, and nothing happens, where it was not held.
  bool Remove(const ChunkPtr& chunk);

  // One more row of a held chunk has its outcome.
  void CloseRow(HeldChunk& chunk);

  // A check of a held chunk begins; it ends, whether the chunk is still held or not.
  void EnterFlight(HeldChunk& chunk);
  void LeaveFlight(HeldChunk& chunk);

  // The chunk of this id; null where none is held.
  ChunkPtr Find(const base::Uuid& id) const;
  // All that are held, as a copy, so that chunks may be removed while it is read.
  std::vector<ChunkPtr> All() const;
  const std::unordered_map<base::Uuid, ChunkPtr>& chunks() const { return chunks_; }

  // What is held of an organisation; null where that is nothing.
  const OrgLoad* FindOrg(const base::Uuid& org_id) const;
  // Whether nothing but this held chunk is held of its large tick's monitor. A chunk of small ticks
  // is always alone.
  bool AloneOfItsFlow(const HeldChunk& chunk) const;

  bool empty() const { return chunks_.empty(); }
  std::size_t rows_held() const { return rows_held_; }
  std::size_t bytes_held() const { return bytes_held_; }
  std::size_t rows_open() const { return rows_open_; }
  std::size_t in_flight() const { return in_flight_; }
  std::size_t organisations() const { return orgs_.size(); }  // that something is held of

 private:
  void ForgetOrgIfIdle(const HeldChunk& chunk);

  std::unordered_map<base::Uuid, ChunkPtr> chunks_;
  std::map<base::Uuid, OrgLoad> orgs_;  // nodes stay where they are: chunks point to them
  std::size_t rows_held_ = 0;
  std::size_t bytes_held_ = 0;
  std::size_t rows_open_ = 0;
  std::size_t in_flight_ = 0;
};

}  // namespace vedette::worker
