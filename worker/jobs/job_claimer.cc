#include "worker/jobs/job_claimer.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "config/jobs_config.h"
#include "config/parts.h"
#include "config/role_config.h"

namespace vedette::worker {
namespace {

std::vector<store::DueJobs> OfLane(const store::JobScan& scan, domain::Lane lane) {
  std::vector<store::DueJobs> due;
  std::copy_if(scan.due.begin(), scan.due.end(), std::back_inserter(due),
               [lane](const store::DueJobs& jobs) { return jobs.lane == lane; });
  return due;
}

// On the pool's thread: parts can be large.
ClaimedJobs Load(store::JobClaim claim, const KnownJobs& known) {
  ClaimedJobs out;
  out.now = claim.now;
  out.read_at = claim.read_at;
  out.specs = std::move(claim.specs);
  for (store::ClaimedJobChunk& chunk : claim.chunks) {
    ClaimedJobs::Loaded& loaded = out.chunks.emplace_back();
    if (chunk.lane == domain::Lane::kTransform) {
      loaded.chunk = std::move(chunk);
      continue;
    }
    const auto spec = out.specs.find(chunk.job_id);
    if (spec != out.specs.end()) {
      loaded.rows = ReadPart(chunk, *spec->second, claim.now);
    } else if (const auto of_known = known.Find(chunk.job_id)) {
      loaded.rows = ReadPart(chunk, *of_known, claim.now);
    } else {
      loaded.rows = UnreadablePart{"the specs of a job could not be read"};
    }
    chunk.rows_json.reset();
    chunk.done_json.reset();
    loaded.chunk = std::move(chunk);
  }
  return out;
}

}  // namespace

JobClaimer::JobClaimer(base::EventLoop& loop, store::Pool& pool, base::Logger log,
                       const config::Config& config, const std::set<domain::Lane>& lanes,
                       const JobHoldings& holdings, double random, Hooks hooks)
    : lease::Claimer<JobKind>(
          loop, pool, log,
          {.failed = "claiming jobs failed", .poll = config.worker.poll_ms, .random = random},
          lanes),
      config_(config),
      holdings_(holdings),
      hooks_(std::move(hooks)) {}

bool JobClaimer::HasRoom(domain::Lane lane) const {
  return HasClaimRoom(config_.jobs, holdings_.InLane(lane), lane) &&
         holdings_.bytes_held() < config_.worker.rows_held_bytes_max;
}

JobClaimer::Job JobClaimer::ScanFrom(const Cursors& cursors) {
  return [cursors, n = config_.worker.orgs_per_scan_max,
          bounds = bounds_](store::Session& session) -> Found {
    return store::ScanDueJobs(session, cursors, n, bounds.get());
  };
}

std::vector<store::JobShare> JobClaimer::ShareOut(const store::JobScan& scan) {
  std::vector<store::JobShare> shares;
  auto bytes = holdings_.BytesOf(config_.worker.rows_held_bytes_max, config_.jobs.newcomer_share);
  for (const auto& [lane, next] : scan.next) {
    LaneTurns& turns = turns_[lane];
    const auto due = turns.InTurn(OfLane(scan, lane));
    const auto of_lane = WithinBytes(ShareLane(config_.jobs, holdings_, lane, due),
                                     ChunkBytesMax(config_.jobs), &bytes);
    turns.Shared(due, of_lane, holdings_);
    // What is claimed now may be all there was: then one scan more finds nothing.
    RoundsOf(lane).Scanned(NextCursor(due, of_lane, next), due.empty()
                                                               ? lease::Rounds::Left::kNothing
                                                               : lease::Rounds::Left::kSome);
    shares.insert(shares.end(), of_lane.begin(), of_lane.end());
  }
  return shares;
}

JobClaimer::Job JobClaimer::Claim(std::vector<store::JobShare> shares) {
  return [shares = std::move(shares), token = base::Uuid::V4(), lease = config_.worker.lease_ms,
          known = hooks_.known, bounds = bounds_](store::Session& session) -> Found {
    const auto is_known = [&known](const base::Uuid& id) { return known->Find(id) != nullptr; };
    return Load(store::ClaimJobChunks(session, shares, token, lease, is_known, bounds.get()),
                *known);
  };
}

JobClaimer::Brought JobClaimer::OnClaimed(ClaimedJobs claimed) {
  const Brought brought = claimed.chunks.empty() ? Brought::kNothing : Brought::kSome;
  // A claim takes a bounded number of chunks of each organisation: more may be left behind the
  // scan.
  for (const ClaimedJobs::Loaded& loaded : claimed.chunks) {
    RoundsOf(loaded.chunk.lane).MayBeDue(lease::Rounds::Scan::kNone);
  }
  hooks_.claimed(std::move(claimed));
  return brought;
}

}  // namespace vedette::worker
