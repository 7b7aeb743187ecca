#include "worker/jobs/job_holdings.h"

#include <string_view>

#include "base/assert.h"
#include "lease/counts.h"

namespace vedette::worker {
void JobHoldings::Add(const JobChunkPtr& chunk) {
  base::Assert(chunk->Working() && chunk->in_flight == 0,
               "A job chunk is held before it is worked on.");
  const bool is_new = chunks_.emplace(chunk->id(), chunk).second;
  base::Assert(is_new, "A job chunk is held once.");
  chunk->org = &orgs_[{chunk->lane(), chunk->claimed.org_id}];
  for (JobLoad* load : LoadsOf(*chunk)) {
    ++load->chunks;
    load->rows_open += chunk->rows_open;
  }
  chunk->org->bytes += chunk->bytes;
  bytes_held_ += chunk->bytes;
}

bool JobHoldings::Remove(const JobChunkPtr& chunk) {
  const auto held = chunks_.find(chunk->id());
  if (held == chunks_.end() || held->second != chunk) return false;
  chunks_.erase(held);
  chunk->Enter(HeldJobChunk::Phase::kLost);
  for (JobLoad* load : LoadsOf(*chunk)) {
    lease::TakeFrom(&load->chunks, 1, "No more job chunks leave than are held.");
    lease::TakeFrom(&load->rows_open, chunk->rows_open, "No more open rows leave than are held.");
  }
  lease::TakeFrom(&chunk->org->bytes, chunk->bytes,
                  "No more bytes leave than the organisation has.");
  lease::TakeFrom(&bytes_held_, chunk->bytes, "No more bytes leave than are held.");
  ForgetOrgIfIdle(*chunk);
  return true;
}

void JobHoldings::CloseRow(HeldJobChunk& chunk) {
  base::Assert(!chunk.Lost(), "Only a row of a held job chunk has its end counted.");
  lease::TakeFrom(&chunk.rows_open, 1, "No more rows of a job chunk end than it has.");
  for (JobLoad* load : LoadsOf(chunk)) {
    lease::TakeFrom(&load->rows_open, 1, "No more rows end than are held.");
  }
}

void JobHoldings::EnterFlight(HeldJobChunk& chunk) {
  base::Assert(chunk.Working(), "Only a job chunk that is worked on starts a row.");
  ++chunk.in_flight;
  for (JobLoad* load : LoadsOf(chunk)) ++load->in_flight;
  base::Assert(chunk.in_flight <= chunk.rows_open, "A row in flight has not ended.");
}

void JobHoldings::LeaveFlight(HeldJobChunk& chunk) {
  lease::TakeFrom(&chunk.in_flight, 1, "No more rows of a job chunk leave than are in flight.");
  for (JobLoad* load : LoadsOf(chunk)) {
    lease::TakeFrom(&load->in_flight, 1, "No more rows leave than are in flight.");
  }
  ForgetOrgIfIdle(chunk);
}

void JobHoldings::ForgetOrgIfIdle(const HeldJobChunk& chunk) {
  if (chunk.org->chunks > 0 || chunk.org->in_flight > 0) return;
  base::Assert(chunk.org->rows_open == 0, "Where no job chunk is held, no row is.");
  orgs_.erase({chunk.lane(), chunk.claimed.org_id});
}

std::vector<JobLoad*> JobHoldings::LoadsOf(HeldJobChunk& chunk) {
  LaneLoad& lane = LaneOf(chunk);
  if (!chunk.Waited()) return {&lane, chunk.org};
  return {&lane, &lane.waited, chunk.org, &chunk.org->waited};
}

LaneLoad& JobHoldings::LaneOf(const HeldJobChunk& chunk) {
  return lanes_.at(static_cast<std::size_t>(chunk.lane()));
}

const LaneLoad& JobHoldings::Lane(domain::Lane lane) const {
  return lanes_.at(static_cast<std::size_t>(lane));
}

base::FairShares<base::Uuid> JobHoldings::BytesOf(std::size_t total, double reserve) const {
  base::FairShares<base::Uuid> shares(total, reserve);
  for (const auto& [key, load] : orgs_) shares.Take(key.second, load.bytes);
  return shares;
}

JobChunkPtr JobHoldings::Find(const base::Uuid& id) const {
  const auto held = chunks_.find(id);
  return held == chunks_.end() ? nullptr : held->second;
}

std::vector<JobChunkPtr> JobHoldings::All() const {
  std::vector<JobChunkPtr> all;
  all.reserve(chunks_.size());
  for (const auto& [id, chunk] : chunks_) all.push_back(chunk);
  return all;
}

const JobOrgLoad* JobHoldings::FindOrg(domain::Lane lane, const base::Uuid& org_id) const {
  const auto found = orgs_.find({lane, org_id});
  return found == orgs_.end() ? nullptr : &found->second;
}

}  // namespace vedette::worker
