#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/fair_share.h"
#include "base/uuid.h"
#include "lease/held_work.h"

namespace vedette::lease {

// Counts of what a pipeline holds, which never go below zero.

// `n` fewer. `sentence`: what is broken where there are not so many.
inline void TakeFrom(std::size_t* count, std::size_t n, std::string_view sentence) {
  base::Assert(*count >= n, sentence);
  *count -= n;
}

// What is free of `total`; nothing where more is used.
inline std::size_t LeftOf(std::size_t total, std::size_t used) {
  return total - std::min(total, used);
}

// What a process holds of one kind: its chunks, their rows, and the rows that are in flight, by
// lane and by organisation. This is the only place that counts. Each call keeps these equations,
// for each lane and for each organisation in it, of all chunks and of those that clients wait for:
//
//   chunks     = the chunks that are held
//   rows       = the sum of `row_count` over the chunks that are held
//   rows_open  = the sum of `rows_open` over the chunks that are held
//   bytes      = the sum of `bytes` over the chunks that are held
//   in_flight  = the sum of `in_flight` over all chunks, also over those that are not held any more
//
// Work is a HeldWork that has besides:
//
//   Lane, kLaneCount  an enum from 0 on, and how many there are; `lane()`: the chunk's
//   OrgLoad           a LaneLoad with Hold(work) and Drop(work), which count what is the kind's own
//   org               an OrgLoad*, valid while the chunk is held, or one of its rows is in flight
//   Waited()          whether a client waits for it
//
// A count that would go below zero ends the process (base/assert.h). A plain container: no clock,
// no I/O; one thread. It must outlive every chunk that has a row in flight.
template <typename Work>
class Holdings {
 public:
  using Ptr = std::shared_ptr<Work>;
  using Lane = typename Work::Lane;
  using OrgLoad = typename Work::OrgLoad;

  // Holds the chunk from here on. Its id is not held yet, and none of its rows is in flight.
  void Add(const Ptr& work) {
    base::Assert(work->Working() && work->in_flight == 0,
                 "A chunk is held before it is worked on.");
    const bool is_new = chunks_.emplace(work->id(), work).second;
    base::Assert(is_new, "A chunk is held once.");
    work->org = &orgs_[KeyOf(*work)];
    SetLoads(*work);
    for (Load* load : work->loads()) {
      ++load->chunks;
      load->rows += work->row_count;
      load->rows_open += work->rows_open;
      load->bytes += work->bytes;
    }
    bytes_held_ += work->bytes;
    work->org->Hold(*work);
  }

  // Does not hold it any more: it becomes kLost. Rows that are in flight stay counted until
  // LeaveFlight. False, and nothing happens, where it was not held.
  bool Remove(const Ptr& work) {
    const auto held = chunks_.find(work->id());
    if (held == chunks_.end() || held->second != work) return false;
    chunks_.erase(held);
    work->Enter(HeldWork::Phase::kLost);
    for (Load* load : work->loads()) {
      TakeFrom(&load->chunks, 1, "No more chunks leave than are held.");
      TakeFrom(&load->rows, work->row_count, "No more rows leave than are held.");
      TakeFrom(&load->rows_open, work->rows_open, "No more open rows leave than are held.");
      TakeFrom(&load->bytes, work->bytes, "No more bytes leave than are held.");
    }
    TakeFrom(&bytes_held_, work->bytes, "No more bytes leave than are held in all.");
    work->org->Drop(*work);
    ForgetOrgIfIdle(*work);
    return true;
  }

  // One more row of a held chunk has its end.
  void CloseRow(Work& work) {
    base::Assert(!work.Lost(), "Only a row of a held chunk has its end counted.");
    TakeFrom(&work.rows_open, 1, "No more rows of a chunk end than it has.");
    for (Load* load : work.loads()) {
      TakeFrom(&load->rows_open, 1, "No more rows end than are held.");
    }
  }

  // A row of a held chunk starts; it leaves, whether the chunk is still held or not.
  void EnterFlight(Work& work) {
    base::Assert(work.Working(), "Only a chunk that is worked on starts a row.");
    ++work.in_flight;
    for (Load* load : work.loads()) ++load->in_flight;
    base::Assert(work.in_flight <= work.rows_open, "A row in flight has no end yet.");
  }
  void LeaveFlight(Work& work) {
    TakeFrom(&work.in_flight, 1, "No more rows of a chunk leave than are in flight.");
    for (Load* load : work.loads()) {
      TakeFrom(&load->in_flight, 1, "No more rows leave than are in flight.");
    }
    ForgetOrgIfIdle(work);
  }

  // The chunk of this id; null where none is held.
  Ptr Find(const base::Uuid& id) const {
    const auto held = chunks_.find(id);
    return held == chunks_.end() ? nullptr : held->second;
  }
  // All that are held, as a copy, so that chunks may be removed while it is read.
  std::vector<Ptr> All() const {
    std::vector<Ptr> all;
    all.reserve(chunks_.size());
    for (const auto& [id, work] : chunks_) all.push_back(work);
    return all;
  }
  const std::unordered_map<base::Uuid, Ptr>& chunks() const { return chunks_; }
  bool empty() const { return chunks_.empty(); }

  const LaneLoad& InLane(Lane lane = {}) const { return lanes_.at(static_cast<std::size_t>(lane)); }
  // What is held of an organisation in a lane; null where that is nothing.
  const OrgLoad* FindOrg(const base::Uuid& org_id, Lane lane = {}) const {
    const auto found = orgs_.find({lane, org_id});
    return found == orgs_.end() ? nullptr : &found->second;
  }
  std::size_t organisations() const { return orgs_.size(); }  // in their lanes
  // The bytes that are held, in all lanes together; of each organisation, as shares of `total`.
  std::size_t bytes_held() const { return bytes_held_; }
  base::FairShares<base::Uuid> BytesOf(std::size_t total, double reserve) const {
    base::FairShares<base::Uuid> shares(total, reserve);
    for (const auto& [key, load] : orgs_) shares.Take(key.second, load.bytes);
    return shares;
  }

 private:
  using OrgKey = std::pair<Lane, base::Uuid>;

  static OrgKey KeyOf(const Work& work) { return {work.lane(), work.org_id}; }

  void SetLoads(Work& work) {
    LaneLoad& lane = lanes_.at(static_cast<std::size_t>(work.lane()));
    work.loads_ = {&lane, work.org, &lane.waited, &work.org->waited};
    work.load_count_ = work.Waited() ? 4 : 2;
  }

  void ForgetOrgIfIdle(const Work& work) {
    if (work.org->chunks > 0 || work.org->in_flight > 0) return;
    base::Assert(work.org->rows_open == 0, "Where no chunk is held, no row is.");
    orgs_.erase(KeyOf(work));
  }

  std::unordered_map<base::Uuid, Ptr> chunks_;
  // Nodes stay where they are: chunks point to them.
  std::map<OrgKey, OrgLoad> orgs_;
  std::array<LaneLoad, Work::kLaneCount> lanes_{};
  std::size_t bytes_held_ = 0;
};

}  // namespace vedette::lease
