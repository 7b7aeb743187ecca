#include "worker/checks/check_pipeline.h"

#include <utility>

#include "config/config.h"
#include "store/signals.h"

namespace vedette::worker {

CheckPipeline::CheckPipeline(base::EventLoop& loop, store::Pool& pool, store::Signals& signals,
                             const base::Clock& clock, metrics::Metrics& metrics,
                             const config::Config& config, std::map<domain::Tier, TierProbe> probes,
                             SuspectSlot& slot, NotificationSink* sink, base::Logger log)
    : clock_(clock),
      metrics_(metrics),
      log_(log),
      random_(std::random_device{}()),
      pauses_(config.worker.control_age_max_ms),
      leases_(loop, pool, log, config.worker.lease_ms, LeaseHooks(signals)),
      recorder_(loop, pool, signals, clock, metrics, config, sink, log, holdings_,
                {.ended =
                     [this](const ChunkPtr& chunk) {
                       Forget(chunk);
                       claimer_.OnRoom();
                     },
                 .give_back =
                     [this](const ChunkPtr& chunk) {
                       GiveBack(chunk);
                       claimer_.OnRoom();
                     }}),
      runner_(loop, clock, metrics, RoomLimitsOf(config), std::move(probes), sink, holdings_,
              pauses_, log, RunnerHooks()),
      suspects_(loop, pool, clock, log, config.worker.claims_max, sink, slot, SuspectHooks()),
      claimer_(loop, pool, clock, log, config, holdings_,
               std::uniform_real_distribution<double>()(random_),
               {.backlog =
                    [this] {
                      return Claimer::Backlog{runner_.RanOut(), runner_.RowsWaiting()};
                    },
                .claimed = [this](Claimer::Claimed claimed) { OnClaimed(std::move(claimed)); }}),
      read_pauses_(loop, pool, log,
                   {.failed = "reading pauses failed", .poll = config.worker.control_read_ms},
                   PauseHooks()),
      drain_(loop, config.worker.drain_timeout_ms, DrainHooks()) {}

lease::LeaseKeeper::Hooks CheckPipeline::LeaseHooks(store::Signals& signals) {
  lease::LeaseKeeper::Hooks hooks;
  hooks.renew = [](store::Session& session, const std::vector<store::Lease>& leases,
                   std::chrono::milliseconds lease) {
    return store::RenewChunks(session, leases, lease);
  };
  hooks.give_back = [](store::Session& session, const std::vector<store::Lease>& leases) {
    store::ReleaseChunks(session, leases);
  };
  hooks.lost = [this](const base::Uuid& id) { OnLeaseLost(id); };
  hooks.given_back = [this, &signals] {
    signals.Raise(store::Signal::kChunk);
    drain_.Check();
  };
  return hooks;
}

// Reads only while something is held: the claim itself is the first read of a chunk's monitors.
// Where a read fails the next one tries, and until one succeeds no check starts.
lease::Step<store::ControlChanges>::Hooks CheckPipeline::PauseHooks() {
  using Reads = lease::Step<store::ControlChanges>;
  Reads::Hooks hooks;
  hooks.begin = [this]() -> Reads::Job {
    if (holdings_.empty()) return nullptr;
    pauses_began_ = clock_.SinceBoot();
    return [](store::Session& session) { return store::ReadControlChanges(session, kPauseWindow); };
  };
  hooks.finish = [this](const store::ControlChanges& changes) -> Reads::Then {
    pauses_.Apply(changes, pauses_began_, holdings_);
    runner_.Pump();
    return lease::kAtPoll;
  };
  return hooks;
}

CheckRunner::Hooks CheckPipeline::RunnerHooks() {
  CheckRunner::Hooks hooks;
  hooks.result = [this](const ChunkPtr& chunk, CheckResult result) {
    recorder_.AddResult(chunk, std::move(result));
  };
  hooks.dropped = [this](const ChunkPtr& chunk) { GiveBackIfQuiet(chunk); };
  hooks.stale = [this] {
    if (!read_pauses_.running()) read_pauses_.Wake();
  };
  return hooks;
}

Suspects::Hooks CheckPipeline::SuspectHooks() {
  Suspects::Hooks hooks;
  hooks.start = [this](const ChunkPtr& chunk) {
    runner_.Enqueue(chunk);
    runner_.Pump();
  };
  hooks.result = [this](const ChunkPtr& chunk, CheckResult result) {
    recorder_.AddResult(chunk, std::move(result));
  };
  hooks.forget = [this](const ChunkPtr& chunk) { Forget(chunk); };
  hooks.claim = [this] { claimer_.Wake(); };
  return hooks;
}

lease::Drain::Hooks CheckPipeline::DrainHooks() {
  lease::Drain::Hooks hooks;
  hooks.idle = [this] { return holdings_.empty() && !claimer_.running() && leases_.idle(); };
  hooks.overdue = [this] { StopWaiting(); };
  hooks.abandon = [this] { ForgetAll(); };
  return hooks;
}

void CheckPipeline::Start() {
  claimer_.Start();
  leases_.Start();
  read_pauses_.Start();
}

void CheckPipeline::OnClaimed(Claimer::Claimed claimed) {
  for (const ChunkPtr& chunk : claimed.chunks) Hold(chunk, claimed.now);
  if (drain_.begun()) {
    GiveAllBack();
  } else {
    runner_.Pump();
  }
}

void CheckPipeline::Hold(const ChunkPtr& chunk, base::Timestamp now) {
  // Its lease here had ended (the database was away, the process stood still), and it came back.
  if (const ChunkPtr former = holdings_.Find(chunk->claimed.id)) {
    metrics_.AddLeaseLost(1);
    Forget(former);
  }
  holdings_.Add(chunk);
  leases_.Hold(chunk->lease());
  if (chunk->claimed.claims == 1) metrics_.ObserveScheduleLag(now - chunk->claimed.due_at);
  AddDecided(chunk, now);
  if (suspects_.Take(chunk)) return;
  if (chunk->rows_open > 0) runner_.Enqueue(chunk);
  // With nothing to check and nothing new there is still the chunk to close.
  if (chunk->Finished()) recorder_.Add(chunk);
}

// Rows that were recorded by an earlier holder, and those that the claim decided without a probe.
void CheckPipeline::AddDecided(const ChunkPtr& chunk, base::Timestamp now) {
  for (std::size_t p = 0; p < chunk->parts.size(); ++p) {
    const store::LoadedPart& part = chunk->claimed.parts[p];
    const auto frequency = std::chrono::duration<double>(chunk->parts[p].spec->frequency);
    for (std::size_t r = 0; r < part.rows.size(); ++r) {
      if (part.rows[r].last_run_at) {
        const auto age = std::chrono::duration<double>(now - *part.rows[r].last_run_at);
        metrics_.ObserveRowFreshness(age / frequency);
      }
      if (!part.decided[r]) continue;
      if (part.rows[r].done) {
        chunk->parts[p].outcomes[r] = static_cast<char>(*part.decided[r]);
        holdings_.CloseRow(*chunk);
      } else {
        recorder_.AddResult(chunk, {{p, r}, *part.decided[r], nullptr});
      }
    }
  }
}

void CheckPipeline::OnLeaseLost(const base::Uuid& chunk_id) {
  const ChunkPtr chunk = holdings_.Find(chunk_id);
  if (!chunk) return;
  // Gone is also what was recorded to its end meanwhile: its record tells.
  if (chunk->BeingRecorded()) {
    leases_.Hold(chunk->lease());
    return;
  }
  log_.Warn("a lease was lost", {{"chunk", chunk_id.ToString()}});
  metrics_.AddLeaseLost(1);
  Forget(chunk);
  runner_.Pump();
}

void CheckPipeline::Forget(const ChunkPtr& chunk) {
  if (!holdings_.Remove(chunk)) return;
  leases_.Drop(chunk->claimed.id);
  recorder_.Drop(chunk);
  suspects_.Leave(chunk);
  drain_.Check();
}

// Nothing of the chunk is in flight, being recorded or left to be recorded.
void CheckPipeline::GiveBack(const ChunkPtr& chunk) {
  if (chunk->Lost()) return;
  leases_.GiveBack({chunk->claimed.id});
  Forget(chunk);
}

void CheckPipeline::GiveBackIfQuiet(const ChunkPtr& chunk) {
  if (!chunk->Leaving() || !chunk->Quiet() || chunk->BeingRecorded()) return;
  if (!chunk->unrecorded.empty() || chunk->Finished()) {
    recorder_.Add(chunk);
  } else {
    GiveBack(chunk);
  }
}

void CheckPipeline::Drain(std::function<void()> done) {
  claimer_.Drain([this] { drain_.Check(); });
  drain_.Begin(std::move(done));
  GiveAllBack();
}

void CheckPipeline::GiveAllBack() {
  for (const auto& [id, chunk] : holdings_.chunks()) {
    if (chunk->Working()) chunk->Enter(HeldChunk::Phase::kGivingBack);
  }
  runner_.DropWaiting();
  for (const ChunkPtr& chunk : holdings_.All()) GiveBackIfQuiet(chunk);
  recorder_.Flush();
}

// Out of time: what is in flight is not waited for any more.
void CheckPipeline::StopWaiting() {
  for (const auto& [id, chunk] : holdings_.chunks()) chunk->Enter(HeldChunk::Phase::kDeaf);
  for (const ChunkPtr& chunk : holdings_.All()) GiveBackIfQuiet(chunk);
  recorder_.Flush();
}

// The database takes nothing either. Leases that could not be given back end by themselves.
void CheckPipeline::ForgetAll() {
  log_.Warn("draining without the database: leases are left to end",
            {{"chunks", holdings_.chunks().size()}});
  recorder_.Abandon();
  for (const ChunkPtr& chunk : holdings_.All()) Forget(chunk);
}

}  // namespace vedette::worker
