#include "worker/jobs/job_claimer.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "config/config.h"

namespace vedette::worker {
namespace {

std::vector<store::DueJobs> OfLane(const store::JobWalk& walk, domain::Lane lane) {
  std::vector<store::DueJobs> due;
  std::copy_if(walk.due.begin(), walk.due.end(), std::back_inserter(due),
               [lane](const store::DueJobs& jobs) { return jobs.lane == lane; });
  return due;
}

}  // namespace

JobClaimer::JobClaimer(base::EventLoop& loop, store::Pool& pool, const base::Clock& clock,
                       base::Logger log, const config::Config& config, std::set<domain::Lane> lanes,
                       const JobHoldings& holdings, double random, Hooks hooks)
    : clock_(clock),
      config_(config),
      lanes_(std::move(lanes)),
      holdings_(holdings),
      hooks_(std::move(hooks)),
      step_(loop, pool, log,
            {.failed = "claiming jobs failed", .poll = config.worker.poll_ms, .random = random},
            {.begin = [this] { return Begin(); },
             .finish = [this](Found found) { return OnFound(std::move(found)); }}) {
  for (const domain::Lane lane : lanes_) rounds_[lane] = {};
}

void JobClaimer::Wake() {
  if (step_.draining()) return;
  for (auto& [lane, rounds] : rounds_) {
    rounds.MayBeDue(step_.running() ? lease::Rounds::Walk::kUnderWay : lease::Rounds::Walk::kNone);
  }
  step_.Wake();
}

void JobClaimer::OnRoom() {
  room_ = RoomMeanwhile::kSome;
  if (!step_.running() && HasBacklog()) Wake();
}

// A lane that was full may have work that nobody has looked at.
bool JobClaimer::HasBacklog() const {
  return !passed_over_.empty() ||
         std::any_of(rounds_.begin(), rounds_.end(), [](const auto& of_lane) {
           return of_lane.second.some_left() || of_lane.second.some_unseen();
         });
}

bool JobClaimer::HasRoom(domain::Lane lane) const {
  return HasClaimRoom(config_.jobs, holdings_.Lane(lane), lane) &&
         holdings_.bytes_held() < config_.worker.rows_held_bytes_max;
}

bool JobClaimer::MoreOrganisations() const {
  return std::any_of(rounds_.begin(), rounds_.end(), [this](const auto& of_lane) {
    return of_lane.second.some_unseen() && HasRoom(of_lane.first);
  });
}

// A lane that was full when the run began is not any more.
bool JobClaimer::HasRoomWherePassedOver() const {
  return std::any_of(passed_over_.begin(), passed_over_.end(),
                     [this](domain::Lane lane) { return HasRoom(lane); });
}

// A lane that is full is not looked at, so that it delays no other.
JobClaimer::Run::Job JobClaimer::Begin() {
  store::LaneCursors cursors;
  passed_over_.clear();
  for (auto& [lane, rounds] : rounds_) {
    if (HasRoom(lane)) {
      cursors[lane] = rounds.Begin();
    } else {
      passed_over_.insert(lane);
    }
  }
  if (cursors.empty()) return nullptr;
  run_began_ = clock_.SinceBoot();
  return [cursors, n = config_.worker.orgs_per_walk_max](store::Session& session) -> Found {
    return store::WalkDueJobs(session, cursors, n);
  };
}

JobClaimer::Run::Then JobClaimer::OnFound(Found found) {
  if (const auto* walk = std::get_if<store::JobWalk>(&found)) return OnWalked(*walk);
  return OnClaimed(std::move(std::get<Claimed>(found)));
}

JobClaimer::Run::Then JobClaimer::OnWalked(const store::JobWalk& walk) {
  if (step_.draining()) return lease::kAtPoll;
  auto shares = ShareOut(walk);
  if (shares.empty()) {
    return MoreOrganisations() || HasRoomWherePassedOver() ? lease::kAtOnce : lease::kAtPoll;
  }
  room_ = RoomMeanwhile::kNone;  // what there is until now has been shared out
  return Claim(std::move(shares));
}

std::vector<store::JobShare> JobClaimer::ShareOut(const store::JobWalk& walk) {
  std::vector<store::JobShare> shares;
  auto bytes = holdings_.BytesOf(config_.worker.rows_held_bytes_max, config_.jobs.newcomer_share);
  for (const auto& [lane, next] : walk.next) {
    LaneTurns& turns = turns_[lane];
    const auto due = turns.InTurn(OfLane(walk, lane));
    const auto of_lane = WithinBytes(ShareLane(config_.jobs, holdings_, lane, due),
                                     ChunkBytesMax(config_.jobs), &bytes);
    turns.Shared(due, of_lane, holdings_);
    // What is claimed now may be all there was: then one walk more finds nothing.
    rounds_[lane].Walked(NextCursor(due, of_lane, next),
                         due.empty() ? lease::Rounds::Left::kNothing : lease::Rounds::Left::kSome);
    shares.insert(shares.end(), of_lane.begin(), of_lane.end());
  }
  return shares;
}

JobClaimer::Run::Job JobClaimer::Claim(std::vector<store::JobShare> shares) {
  return [shares = std::move(shares), token = base::Uuid::V4(), lease = config_.worker.lease_ms,
          known = hooks_.known, began = run_began_](store::Session& session) -> Found {
    const auto is_known = [&known](const base::Uuid& id) { return known->Find(id) != nullptr; };
    Claimed claimed = Load(store::ClaimJobChunks(session, shares, token, lease, is_known), *known);
    claimed.began = began;
    return claimed;
  };
}

// On the pool's thread: parts can be large.
JobClaimer::Claimed JobClaimer::Load(store::JobClaim claim, const KnownJobs& known) {
  Claimed out;
  out.now = claim.now;
  out.specs = std::move(claim.specs);
  for (store::ClaimedJobChunk& chunk : claim.chunks) {
    Loaded& loaded = out.chunks.emplace_back();
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

// A claim whose COMMIT is unknown does not come here: its chunks are found when their leases end.
JobClaimer::Run::Then JobClaimer::OnClaimed(Claimed claimed) {
  const bool got = !claimed.chunks.empty();
  // A claim takes a bounded number of chunks of each organisation: more may be left behind the
  // walk.
  for (const Loaded& loaded : claimed.chunks) {
    rounds_[loaded.chunk.lane].MayBeDue(lease::Rounds::Walk::kNone);
  }
  const bool room_came = room_ == RoomMeanwhile::kSome;
  hooks_.claimed(std::move(claimed));
  return got || room_came || MoreOrganisations() ? lease::kAtOnce : lease::kAtPoll;
}

}  // namespace vedette::worker
