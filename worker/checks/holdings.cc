#include "worker/checks/holdings.h"

#include <string_view>

#include "base/assert.h"
#include "lease/counts.h"

namespace vedette::worker {
void Holdings::Add(const ChunkPtr& chunk) {
  base::Assert(chunk->Working() && chunk->in_flight == 0,
               "A chunk is held before it is worked on.");
  const bool is_new = chunks_.emplace(chunk->claimed.id, chunk).second;
  base::Assert(is_new, "A chunk is held once.");
  rows_held_ += chunk->rows;
  bytes_held_ += chunk->bytes;
  rows_open_ += chunk->rows_open;
  OrgLoad& org = orgs_[chunk->claimed.org_id];
  chunk->org = &org;
  ++org.chunks;
  org.rows_open += chunk->rows_open;
  if (chunk->claimed.large) ++org.large_chunks[chunk->flow()];
}

bool Holdings::Remove(const ChunkPtr& chunk) {
  const auto held = chunks_.find(chunk->claimed.id);
  if (held == chunks_.end() || held->second != chunk) return false;
  chunks_.erase(held);
  chunk->Enter(HeldChunk::Phase::kLost);
  OrgLoad& org = *chunk->org;
  lease::TakeFrom(&rows_held_, chunk->rows, "No more rows leave than are held.");
  lease::TakeFrom(&bytes_held_, chunk->bytes, "No more bytes leave than are held.");
  lease::TakeFrom(&rows_open_, chunk->rows_open, "No more open rows leave than are held.");
  lease::TakeFrom(&org.rows_open, chunk->rows_open,
                  "No more open rows leave than the organisation has.");
  lease::TakeFrom(&org.chunks, 1, "No more chunks leave than the organisation has.");
  if (chunk->claimed.large) {
    const auto large = org.large_chunks.find(chunk->flow());
    base::Assert(large != org.large_chunks.end(), "A held chunk of a large tick is counted.");
    if (--large->second == 0) org.large_chunks.erase(large);
  }
  ForgetOrgIfIdle(*chunk);
  return true;
}

void Holdings::CloseRow(HeldChunk& chunk) {
  base::Assert(!chunk.Lost(), "Only a row of a held chunk has its outcome counted.");
  lease::TakeFrom(&chunk.rows_open, 1, "No more rows of a chunk end than it has.");
  lease::TakeFrom(&chunk.org->rows_open, 1,
                  "No more rows of an organisation end than are held of it.");
  lease::TakeFrom(&rows_open_, 1, "No more rows end than are held.");
}

void Holdings::EnterFlight(HeldChunk& chunk) {
  base::Assert(chunk.Working(), "Only a chunk that is worked on starts a check.");
  ++chunk.in_flight;
  ++chunk.org->in_flight;
  ++in_flight_;
  base::Assert(chunk.in_flight <= chunk.rows_open, "A check in flight is one of an open row.");
}

void Holdings::LeaveFlight(HeldChunk& chunk) {
  lease::TakeFrom(&in_flight_, 1, "No more checks end than are in flight.");
  lease::TakeFrom(&chunk.in_flight, 1, "No more checks of a chunk end than are in flight.");
  lease::TakeFrom(&chunk.org->in_flight, 1,
                  "No more checks of an organisation end than are in flight.");
  ForgetOrgIfIdle(chunk);
}

void Holdings::ForgetOrgIfIdle(const HeldChunk& chunk) {
  if (chunk.org->chunks > 0 || chunk.org->in_flight > 0) return;
  base::Assert(chunk.org->rows_open == 0, "Where no chunk is held, no row is.");
  orgs_.erase(chunk.claimed.org_id);
}

ChunkPtr Holdings::Find(const base::Uuid& id) const {
  const auto held = chunks_.find(id);
  return held == chunks_.end() ? nullptr : held->second;
}

std::vector<ChunkPtr> Holdings::All() const {
  std::vector<ChunkPtr> all;
  all.reserve(chunks_.size());
  for (const auto& [id, chunk] : chunks_) all.push_back(chunk);
  return all;
}

const OrgLoad* Holdings::FindOrg(const base::Uuid& org_id) const {
  const auto found = orgs_.find(org_id);
  return found == orgs_.end() ? nullptr : &found->second;
}

bool Holdings::AloneOfItsFlow(const HeldChunk& chunk) const {
  if (!chunk.claimed.large) return true;
  const auto large = chunk.org->large_chunks.find(chunk.flow());
  return large == chunk.org->large_chunks.end() || large->second == 1;
}

}  // namespace vedette::worker
