#include "worker/checks/check_pipeline.h"

#include <algorithm>
#include <utility>

#include "config/parts.h"
#include "config/role_config.h"
#include "store/signals.h"

namespace vedette::worker {

CheckPipeline::CheckPipeline(base::EventLoop& loop, store::Pool& pool, store::Signals& signals,
                             const base::Clock& clock, metrics::Metrics& metrics,
                             const config::Config& config, std::map<domain::Tier, TierProbe> probes,
                             lease::SuspectSlot& slot, NotificationSink* sink, base::Logger log)
    : lease::Pipeline<CheckKind>(
          loop, pool, log,
          {.lease = config.worker.lease_ms,
           .drain_time_max = config.worker.drain_timeout_ms,
           .abandoned = "draining without the database: leases are left to end"},
          {.renew = store::RenewChunks,
           .give_back = lease::GiveBackAtOnce(store::ReleaseChunks),
           .offered = [&signals] { signals.Raise(store::Signal::kChunk); }}),
      metrics_(metrics),
      random_(std::random_device{}()),
      pauses_(loop, pool, clock, log,
              {.failed = "reading pauses failed", .poll = config.worker.control_read_ms},
              PauseHooks()),
      recorder_(loop, pool, signals, clock, metrics, config, sink, log, holdings_, RecorderHooks()),
      runner_(loop, clock, metrics, RoomLimitsOf(config), std::move(probes), sink, holdings_,
              config.worker.control_age_max_ms, log, RunnerHooks()),
      suspects_(loop, pool, clock, log, config.worker.claims_max, sink, slot, SuspectHooks()),
      claimer_(loop, pool, log, config, holdings_,
               std::uniform_real_distribution<double>()(random_), ClaimHooks()) {}

CheckPipeline::PauseWatch::Hooks CheckPipeline::PauseHooks() {
  PauseWatch::Hooks hooks;
  hooks.read = [this]() -> PauseWatch::Job {
    if (holdings_.empty()) return nullptr;
    return [since = control_since_](store::Session& session) {
      return store::ReadControlChanges(session, kPauseWindow, since);
    };
  };
  hooks.seen = [this](const store::ControlChanges& changes, std::chrono::nanoseconds began) {
    control_since_ = changes.complete_until;
    ApplyControl(changes, began, holdings_);
    runner_.Pump();
  };
  return hooks;
}

CheckRunner::Hooks CheckPipeline::RunnerHooks() {
  CheckRunner::Hooks hooks;
  hooks.result = [this](const ChunkPtr& chunk, CheckResult result) {
    recorder_.AddResult(chunk, std::move(result));
  };
  hooks.dropped = [this](const ChunkPtr& chunk) { GiveBackIfQuiet(chunk); };
  hooks.stale = [this] { pauses_.Wake(); };
  return hooks;
}

CheckSuspects::Hooks CheckPipeline::SuspectHooks() {
  CheckSuspects::Hooks hooks;
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

CheckClaimer::Hooks CheckPipeline::ClaimHooks() {
  CheckClaimer::Hooks hooks;
  hooks.backlog = [this] { return CheckClaimer::Backlog{runner_.RanOut(), runner_.RowsWaiting()}; };
  hooks.claimed = [this](const std::vector<ChunkPtr>& chunks, base::Timestamp now) {
    OnClaimed(chunks, now);
  };
  return hooks;
}

void CheckPipeline::Start() {
  StartEngine();
  pauses_.Start();
}

void CheckPipeline::OnClaimed(const std::vector<ChunkPtr>& chunks, base::Timestamp now) {
  for (const ChunkPtr& chunk : chunks) {
    const store::ClaimedChunk& claimed = chunk->claimed;
    // What is claimed ahead of its slot begins with it.
    if (claimed.claims == 1) {
      metrics_.ObserveScheduleLag(std::max(now, claimed.starts_at) - claimed.due_at);
    }
    Hold(chunk);
  }
  AllHeld();
}

void CheckPipeline::Begin(const ChunkPtr& chunk) {
  AddDecided(chunk);
  if (suspects_.Take(chunk)) return;
  if (chunk->rows_open > 0) runner_.Enqueue(chunk);
  // With nothing to check and nothing new there is still the chunk to close.
  if (chunk->Finished()) recorder_.Add(chunk);
}

// Rows that were recorded by an earlier holder, and those that the claim decided without a probe.
void CheckPipeline::AddDecided(const ChunkPtr& chunk) {
  for (std::size_t p = 0; p < chunk->parts.size(); ++p) {
    const store::LoadedPart& part = chunk->claimed.parts[p];
    const auto frequency = std::chrono::duration<double>(chunk->parts[p].spec->frequency);
    for (std::size_t r = 0; r < part.rows.size(); ++r) {
      if (part.rows[r].last_run_at) {
        const auto age =
            std::chrono::duration<double>(chunk->parts[p].looked_until - *part.rows[r].last_run_at);
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

void CheckPipeline::OnLeaseLost(const ChunkPtr& chunk) {
  log_.Warn("a lease was lost", {{"chunk", chunk->id().ToString()}});
  metrics_.AddLeaseLost(1);
  runner_.Pump();
}

}  // namespace vedette::worker
