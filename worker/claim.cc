// How a worker gets its chunks.

#include <algorithm>
#include <utility>

#include "base/json.h"
#include "domain/limits.h"
#include "store/poison.h"
#include "worker/worker.h"

namespace vedette::worker {
namespace {

// The least by which claiming ahead grows.
constexpr std::size_t kRowsAheadStep = 16;
// Rows of held chunks for one that is without an outcome: chunks whose last checks take long do not
// keep a worker from claiming more, up to this.
constexpr std::size_t kHeldPerOpen = 4;

std::shared_ptr<const ProbeSpec> MakeProbeSpec(const store::MonitorSpec& spec,
                                               const std::string& watched_text) {
  auto probe_spec = std::make_shared<ProbeSpec>();
  probe_spec->monitor_id = spec.monitor_id;
  probe_spec->subject_type = spec.subject_type;
  probe_spec->tier = spec.tier;
  probe_spec->research_plan = spec.research_plan;
  const base::Json watched = base::ParseJsonOrThrow(watched_text);
  for (const auto& [name, description] : watched.items()) {
    probe_spec->watched.push_back({name, description.get<std::string>()});
  }
  return probe_spec;
}

}  // namespace

// Rows that may be held without an outcome: what is in flight, and what is claimed ahead.
std::size_t Worker::RowsMax() const {
  return static_cast<std::size_t>(config_.worker.checks_in_flight_max) + rows_ahead_;
}

std::size_t Worker::FreeSlots() const {
  const auto slots = static_cast<std::size_t>(config_.worker.checks_in_flight_max);
  return slots - std::min(slots, in_flight_);
}

Room Worker::RoomNow() const {
  const auto chunk_rows_max = static_cast<std::size_t>(config_.worker.chunk_rows_max);
  Room room;
  room.rows_max = RowsMax();
  room.rows_open = rows_open_;
  const std::size_t held_max = kHeldPerOpen * room.rows_max;
  room.rows_left = held_max - std::min(held_max, rows_held_);
  const std::size_t over_max = held_max + room.rows_max + chunk_rows_max;
  room.rows_left_for_slots = over_max - std::min(over_max, rows_held_);
  room.slots_max = static_cast<std::size_t>(config_.worker.checks_in_flight_max);
  room.in_flight = in_flight_;
  room.newcomer_share = config_.worker.newcomer_share;
  return room;
}

std::vector<store::ClaimShare> Worker::Shares(const std::vector<store::DueOrg>& due) const {
  std::vector<Asking> asking;
  asking.reserve(due.size());
  for (const store::DueOrg& org : due) {
    Asking& a = asking.emplace_back();
    a.org_id = org.org_id;
    a.first_rows = static_cast<std::size_t>(org.rows);
    const auto it = orgs_.find(org.org_id);
    if (it == orgs_.end()) continue;
    a.rows_open = it->second.rows_open;
    a.in_flight = it->second.in_flight;
    a.newcomer = !org.large_monitor_id || !it->second.large_chunks.contains(*org.large_monitor_id);
  }
  return ShareOut(asking, RoomNow());
}

// How far to claim ahead follows from what claims find: a worker that ran out of rows while it
// claimed wants more the next time; one whose rows waited wants fewer, so that slow checks are left
// to workers that can start them at once.
void Worker::AdjustRowsAhead(bool was_busy) {
  const auto ahead_max = static_cast<std::size_t>(config_.worker.rows_ahead_max);
  if (startable_.empty() && FreeSlots() > 0) {
    if (was_busy) rows_ahead_ = std::min(std::max(rows_ahead_ * 2, kRowsAheadStep), ahead_max);
    return;
  }
  std::size_t waiting = 0;
  startable_.ForEach([&waiting](const std::shared_ptr<ActiveChunk>& chunk) {
    waiting += chunk->rows_open - chunk->in_flight;
  });
  if (waiting > rows_ahead_ / 2) rows_ahead_ -= (rows_ahead_ + 7) / 8;
}

void Worker::Claim() {
  if (drained_) return;
  if (claiming_) {
    claim_again_ = true;
    return;
  }
  claiming_ = true;
  claim_again_ = false;
  const bool was_busy = rows_held_ > 0;
  const auto began = clock_.SinceBoot();
  store::RunAsync<store::OrgWalk>(
      pool_, loop_,
      [cursor = walk_cursor_, n = config_.worker.orgs_per_walk_max](store::Session& session) {
        return store::WalkDueOrganisations(session, cursor, n);
      },
      [this, alive = alive_, began, was_busy](std::variant<store::OrgWalk, store::Failure> result) {
        if (!*alive) return;
        claiming_ = false;
        auto* walk = std::get_if<store::OrgWalk>(&result);
        if (walk == nullptr) return;  // the poll tries again
        const bool more_orgs = !walk->next_cursor.is_nil();
        work_left_ = more_orgs || !walk->due.empty();
        if (drained_) {
          DrainStep();
          return;
        }
        if (rows_open_ >= RowsMax() && FreeSlots() == 0) return;  // goes on with what is recorded
        const auto shares = Shares(walk->due);
        // Whoever got nothing this time comes first the next time.
        walk_cursor_ = shares.size() < walk->due.size() && !shares.empty() ? shares.back().org_id
                                                                           : walk->next_cursor;
        if (shares.empty()) {
          // A newcomer may have become due after the walk looked, and nobody wakes us again for it.
          if (more_orgs || claim_again_) Claim();
          return;
        }
        claiming_ = true;
        store::RunAsync<Claimed>(
            pool_, loop_,
            [shares, token = base::Uuid::V4(), lease = config_.worker.lease_ms,
             prices = prices_mc_](store::Session& session) {
              return ReadSpecs(store::ClaimChunks(session, shares, token, lease, prices));
            },
            [this, alive = alive_, began,
             was_busy](std::variant<Claimed, store::Failure> result_of_claim) {
              if (!*alive) return;
              claiming_ = false;
              if (auto* claimed = std::get_if<Claimed>(&result_of_claim)) {
                if (!claimed->claim.chunks.empty()) AdjustRowsAhead(was_busy);
                OnClaimed(std::move(*claimed), began);
              } else {
                // A claim whose COMMIT is unknown is found when its lease ends.
                log_.Warn("claiming failed",
                          {{"error", std::get<store::Failure>(result_of_claim).message}});
                if (drained_) DrainStep();
              }
            });
      });
}

// On the store's thread: reading large structs would hold up the loop. The text goes as it is read.
Worker::Claimed Worker::ReadSpecs(store::Claim claim) {
  Claimed out;
  for (const auto& [id, spec] : claim.specs) {
    const std::string watched = std::move(claim.watched.at(id));
    out.probe_specs.emplace(id, MakeProbeSpec(*spec, watched));
  }
  out.claim = std::move(claim);
  return out;
}

void Worker::OnClaimed(Claimed claimed, std::chrono::nanoseconds began) {
  const bool got = !claimed.claim.chunks.empty();
  for (auto& chunk : claimed.claim.chunks) Ingest(std::move(chunk), claimed, began);
  if (drained_) {
    GiveAllBack();
    return;
  }
  Pump();
  if (got || claim_again_ || !walk_cursor_.is_nil()) Claim();
}

void Worker::Ingest(store::ClaimedChunk&& claimed, const Claimed& from,
                    std::chrono::nanoseconds began) {
  const store::Claim& claim = from.claim;
  auto chunk = std::make_shared<ActiveChunk>();
  chunk->claimed = std::move(claimed);
  // Its lease here had ended (the database was away, the process stood still), and it came back.
  if (const auto it = chunks_.find(chunk->claimed.id); it != chunks_.end()) {
    const auto former = it->second;
    metrics_.AddLeaseLost(1);
    former->lost = true;
    Forget(former);
  }
  chunk->looked_until = claim.now;
  chunk->loaded_began = began;
  if (chunk->claimed.claims == 1) {
    metrics_.ObserveScheduleLag(claim.now - chunk->claimed.due_at);
  }
  std::size_t rows = 0;
  for (auto& part : chunk->claimed.parts) {
    ActivePart& active = chunk->parts.emplace_back();
    active.spec = claim.specs.at(part.part.monitor_id);
    active.probe_spec = from.probe_specs.at(part.part.monitor_id);
    active.monitor_active = active.spec->monitor_active;
    active.org_runs = active.spec->org_runs;
    active.outcomes.assign(part.rows.size(), 0);
    rows += part.rows.size();
  }
  chunk->rows_open = rows;
  rows_held_ += rows;
  rows_open_ += rows;
  chunk->org = &orgs_[chunk->claimed.org_id];
  chunk->org->rows_open += rows;
  ++chunk->org->chunks;
  if (chunk->claimed.large) ++chunk->org->large_chunks[chunk->flow()];
  chunks_.emplace(chunk->claimed.id, chunk);
  for (std::size_t p = 0; p < chunk->parts.size(); ++p) {
    const store::LoadedPart& part = chunk->claimed.parts[p];
    const auto frequency = std::chrono::duration<double>(chunk->parts[p].spec->frequency);
    for (std::size_t r = 0; r < part.rows.size(); ++r) {
      if (part.rows[r].last_run_at) {
        const auto age = std::chrono::duration<double>(claim.now - *part.rows[r].last_run_at);
        metrics_.ObserveRowFreshness(age / frequency);
      }
      if (!part.decided[r]) continue;
      if (part.rows[r].done) {
        chunk->parts[p].outcomes[r] = static_cast<char>(*part.decided[r]);
        CloseRow(chunk.get());
      } else {
        AddResult(chunk, {p, r}, *part.decided[r], nullptr);
      }
    }
  }
  if (HandlePoison(chunk)) return;
  if (chunk->rows_open > 0) MakeStartable(chunk);
  // With nothing to check and nothing new there is still the chunk to close.
  if (chunk->Finished()) recorder_.Add(chunk);
}

// A chunk whose workers died claims_max times is halved, until the row that kills is alone (design
// 4). Its neighbours died with it, so being alone proves nothing yet: such rows have claims_max
// last tries, one row at a time. Another organisation's row may end the process meanwhile, which is
// why one death is not enough (G10). Who dies in each of them is a failed check. True when the
// chunk is not to be worked on now.
bool Worker::HandlePoison(const std::shared_ptr<ActiveChunk>& chunk) {
  if (chunk->claimed.claims <= config_.worker.claims_max || chunk->rows_open == 0) return false;
  log_.Warn("a chunk's workers died repeatedly", {{"chunk", chunk->claimed.id.ToString()},
                                                  {"claims", chunk->claimed.claims},
                                                  {"rows", chunk->rows_open}});
  if (chunk->rows_open == 1) {
    if (chunk->claimed.claims >= store::kLastTryClaims + config_.worker.claims_max) {
      Condemn(chunk);
    } else {
      suspects_.push_back(chunk);
      TrySuspect();
    }
    return true;
  }
  chunk->lost = true;
  Forget(chunk);
  store::RunAsync<bool>(
      pool_, loop_,
      [lease = chunk->lease(), clock = &clock_](store::Session& session) {
        return store::SplitChunk(session, *clock, lease);
      },
      [this, alive = alive_](std::variant<bool, store::Failure>) {
        if (*alive) Claim();
      });
  return true;
}

// The one open row is a failed check.
void Worker::Condemn(const std::shared_ptr<ActiveChunk>& chunk) {
  for (std::size_t p = 0; p < chunk->parts.size(); ++p) {
    const std::size_t r = chunk->parts[p].outcomes.find('\0');
    if (r == std::string::npos) continue;
    AddResult(chunk, {p, r}, domain::Outcome::kFailed,
              FailureEffects(*chunk, {p, r},
                             "probe_crashed: this check ended its process each time it was tried",
                             clock_, sink_));
    return;
  }
}

// Starts the last try of the next suspect, if none is under way, once the database knows of it.
void Worker::TrySuspect() {
  while (!last_try_ && !suspects_.empty()) {
    auto chunk = std::move(suspects_.front());
    suspects_.pop_front();
    if (!chunk->lost && !chunk->giving_back) last_try_ = std::move(chunk);
  }
  if (!last_try_ || last_try_->last_try_marked) return;
  last_try_->last_try_marked = true;
  store::RunAsync<bool>(
      pool_, loop_,
      [lease = last_try_->lease()](store::Session& session) {
        return store::MarkLastTry(session, lease);
      },
      [this, chunk = last_try_, alive = alive_](std::variant<bool, store::Failure> result) {
        if (!*alive || chunk->lost || chunk->giving_back) return;
        const bool* marked = std::get_if<bool>(&result);
        if (marked == nullptr || !*marked) {  // whoever finds it when its lease ends goes on
          chunk->lost = true;
          Forget(chunk);
          return;
        }
        MakeStartable(chunk);
        Pump();
      });
}

}  // namespace vedette::worker
