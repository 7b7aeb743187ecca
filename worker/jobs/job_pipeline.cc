#include "worker/jobs/job_pipeline.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/assert.h"
#include "config/config.h"

namespace vedette::worker {

std::set<domain::Lane> ServedLanes(const config::Config& config) {
  std::set<domain::Lane> lanes;
  for (const std::string& name : config.worker.lanes) {
    const auto lane = domain::ParseLane(name);
    if (!lane) continue;
    if (*lane == domain::Lane::kSmtp && config.smtp.hello_name.empty()) continue;
    lanes.insert(*lane);
  }
  return lanes;
}

JobPipeline::JobPipeline(base::EventLoop& loop, store::Pool& pool, store::Signals& signals,
                         const base::Clock& clock, metrics::Metrics& metrics,
                         const config::Config& config, const std::vector<RowBlock*>& blocks,
                         SuspectSlot& slot, base::Logger log)
    : clock_(clock),
      metrics_(metrics),
      log_(log),
      random_(std::random_device{}()),
      runs_(blocks),
      leases_(loop, pool, log, config.worker.lease_ms, LeaseHooks()),
      recorder_(loop, pool, signals, clock, metrics, config, log, holdings_, RecorderHooks()),
      pump_(loop, clock, metrics, config, holdings_, PumpHooks()),
      parts_(loop, pool, clock, metrics, config, log, holdings_, PartHooks()),
      watch_(loop, pool, clock, log, holdings_, WatchHooks()),
      serial_(loop, pool, log, config.worker.claims_max, slot, SerialHooks()),
      claimer_(loop, pool, clock, log, config, ServedLanes(config), holdings_,
               std::uniform_real_distribution<double>()(random_),
               {.known = runs_.Known(),
                .claimed = [this](JobClaimer::Claimed claimed) { OnClaimed(std::move(claimed)); }}),
      put_back_(loop, pool, log, {.failed = "putting job chunks back failed"},
                PutBackHooks(signals)),
      drain_(loop, config.worker.drain_timeout_ms, DrainHooks()) {}

lease::LeaseKeeper::Hooks JobPipeline::LeaseHooks() {
  lease::LeaseKeeper::Hooks hooks;
  hooks.renew = [](store::Session& session, const std::vector<store::Lease>& leases,
                   std::chrono::milliseconds lease) {
    return store::RenewJobChunks(session, leases, lease);
  };
  hooks.lost = [this](const base::Uuid& id) {
    if (const JobChunkPtr chunk = holdings_.Find(id)) OnLost(chunk);
  };
  return hooks;
}

JobRecorder::Hooks JobPipeline::RecorderHooks() {
  JobRecorder::Hooks hooks;
  hooks.ended = [this](const JobChunkPtr& chunk) {
    Forget(chunk);
    claimer_.OnRoom();
  };
  hooks.recorded = [this](const JobChunkPtr& chunk) { OnRecorded(chunk); };
  hooks.give_back = [this](const JobChunkPtr& chunk) {
    PutBack(chunk, std::chrono::milliseconds(0));
    claimer_.OnRoom();
  };
  return hooks;
}

RowPump::Hooks JobPipeline::PumpHooks() {
  RowPump::Hooks hooks;
  hooks.ended = [this](const JobChunkPtr& chunk, std::size_t row, RowDone done) {
    recorder_.AddEnd(chunk, row, std::move(done));
  };
  hooks.later = [this](const JobChunkPtr& chunk, std::size_t row, RowLater later) {
    recorder_.AddLater(chunk, row, std::move(later));
  };
  hooks.dropped = [this](const JobChunkPtr& chunk) { PutBackIfQuiet(chunk); };
  hooks.stale = [this] { watch_.Wake(); };
  return hooks;
}

PartPump::Hooks JobPipeline::PartHooks() {
  PartPump::Hooks hooks;
  hooks.made = [this](const JobChunkPtr& chunk, PartOutput made) {
    recorder_.AddMade(chunk, std::move(made));
  };
  hooks.fault = [this](const JobChunkPtr& chunk, store::JobFault fault) {
    recorder_.AddFault(chunk, std::move(fault));
  };
  hooks.failed = [this](const JobChunkPtr& chunk) {
    PutBack(chunk, kPartAgain);
    claimer_.OnRoom();
  };
  hooks.dropped = [this](const JobChunkPtr& chunk) { PutBackIfQuiet(chunk); };
  return hooks;
}

HeldWatch::Hooks JobPipeline::WatchHooks() {
  HeldWatch::Hooks hooks;
  hooks.lost = [this](const JobChunkPtr& chunk) { OnLost(chunk); };
  hooks.locked = [this](const JobChunkPtr& chunk) { Stop(chunk); };
  hooks.looked = [this] { pump_.DropWaiting(); };
  return hooks;
}

SerialRows::Hooks JobPipeline::SerialHooks() {
  SerialRows::Hooks hooks;
  hooks.start = [this](const JobChunkPtr& chunk, std::size_t row) { pump_.StartRow(chunk, row); };
  hooks.start_whole = [this](const JobChunkPtr& chunk) { parts_.StartAlone(chunk); };
  hooks.ended = [this](const JobChunkPtr& chunk, std::size_t row, RowDone done) {
    recorder_.AddEnd(chunk, row, std::move(done));
  };
  hooks.fault = [this](const JobChunkPtr& chunk, store::JobFault fault) {
    recorder_.AddFault(chunk, std::move(fault));
  };
  hooks.forget = [this](const JobChunkPtr& chunk) { Forget(chunk); };
  return hooks;
}

// One statement at a time puts back what has gathered. Where it fails, the leases end by
// themselves.
lease::Step<bool>::Hooks JobPipeline::PutBackHooks(store::Signals& signals) {
  lease::Step<bool>::Hooks hooks;
  hooks.begin = [this]() -> lease::Step<bool>::Job {
    if (put_backs_.empty()) return nullptr;
    return [chunks = std::exchange(put_backs_, {})](store::Session& session) {
      store::PutBackJobChunks(session, chunks);
      return true;
    };
  };
  hooks.finish = [&signals](bool /*done*/) -> lease::Step<bool>::Then {
    signals.Raise(store::Signal::kJobChunk);
    return lease::kAtPoll;
  };
  hooks.rested = [this] { drain_.Check(); };
  return hooks;
}

lease::Drain::Hooks JobPipeline::DrainHooks() {
  lease::Drain::Hooks hooks;
  hooks.idle = [this] {
    return holdings_.empty() && !claimer_.running() && put_backs_.empty() && !put_back_.running();
  };
  hooks.overdue = [this] { StopWaiting(); };
  hooks.abandon = [this] { ForgetAll(); };
  return hooks;
}

void JobPipeline::Start() {
  claimer_.Start();
  leases_.Start();
  watch_.Start();
}

void JobPipeline::OnClaimed(JobClaimer::Claimed claimed) {
  for (JobClaimer::Loaded& loaded : std::exchange(claimed.chunks, {})) {
    Hold(std::move(loaded), claimed);
  }
  runs_.Trim();
  if (drain_.begun()) {
    StopAll();
  } else {
    pump_.Pump();
    parts_.ShowHeld();
  }
}

// From here on the chunk is this process's: it is held, or goes back at once.
void JobPipeline::Hold(JobClaimer::Loaded loaded, const JobClaimer::Claimed& claimed) {
  BlockRunPtr run = runs_.Bind(loaded.chunk, claimed.specs);
  if (!run) {
    SendBack(loaded.chunk.lease, kUnknownBlockWait);
    return;
  }
  // Its lease here had ended (the database was away, the process stood still), and it came back.
  if (const JobChunkPtr former = holdings_.Find(loaded.chunk.lease.id)) {
    metrics_.AddLeaseLost(1);
    Forget(former);
  }
  const JobChunkPtr chunk = MakeHeldJobChunk(std::move(loaded.chunk), std::move(run));
  if (chunk->IsWhole()) {
    chunk->SetWhole();
  } else if (auto* rows = std::get_if<std::vector<JobRow>>(&loaded.rows)) {
    chunk->SetRows(std::move(*rows));
  } else if (!chunk->fault) {
    chunk->fault.emplace().error = std::get<UnreadablePart>(loaded.rows).sentence;
  }
  chunk->known_held = claimed.began;
  chunk->deadline = claimed.began + (chunk->job().deadline_at - claimed.now);
  holdings_.Add(chunk);
  leases_.Hold(chunk->lease());
  Begin(chunk);
}

void JobPipeline::Begin(const JobChunkPtr& chunk) {
  if (chunk->CanEnd()) {
    recorder_.Add(chunk);  // an earlier holder recorded the last row, but not the part
  } else if (chunk->Resting() && !chunk->claimed.suspect) {
    OnRecorded(chunk);  // it came before the time of its rows
  } else if (serial_.Take(chunk)) {
    return;
  } else if (chunk->IsWhole()) {
    parts_.Start(chunk);
  } else {
    pump_.Enqueue(chunk);
  }
}

void JobPipeline::OnLost(const JobChunkPtr& chunk) {
  // Gone is also what was recorded to its end meanwhile: its record tells.
  if (chunk->BeingRecorded()) {
    leases_.Hold(chunk->lease());
    return;
  }
  log_.Info("a job chunk is not held any more: its job has ended, or its lease was lost",
            {{"chunk", chunk->id().ToString()}});
  Forget(chunk);
  claimer_.OnRoom();
}

// Nothing of the chunk is left to be recorded.
void JobPipeline::OnRecorded(const JobChunkPtr& chunk) {
  if (chunk->Leaving()) {
    PutBackIfQuiet(chunk);
  } else if (chunk->Working() && chunk->Resting()) {
    const auto wait =
        std::chrono::ceil<std::chrono::milliseconds>(chunk->RestsUntil() - clock_.Now());
    PutBack(chunk, std::max<std::chrono::milliseconds>(wait, kLaterMin), chunk->RestsFor());
    claimer_.OnRoom();
  } else if (chunk->Working() && chunk->mode == HeldJobChunk::Mode::kSerial) {
    serial_.OnRecorded(chunk);
  } else {
    claimer_.OnRoom();  // some of its rows have ended
  }
}

void JobPipeline::Forget(const JobChunkPtr& chunk) {
  if (!holdings_.Remove(chunk)) return;
  parts_.ShowHeld();
  leases_.Drop(chunk->id());
  serial_.Leave(chunk);
  drain_.Check();
}

// Nothing of the chunk is in flight, being recorded or left to be recorded.
void JobPipeline::PutBack(const JobChunkPtr& chunk, std::chrono::milliseconds delay,
                          domain::JobWait waits_for) {
  if (chunk->Lost()) return;
  SendBack(chunk->lease(), delay, waits_for);
  Forget(chunk);
}

void JobPipeline::SendBack(const store::Lease& lease, std::chrono::milliseconds delay,
                           domain::JobWait waits_for) {
  put_backs_.push_back({lease, delay, waits_for});
  put_back_.Wake();
}

// No further row of the chunk starts; it goes back when what is in flight has ended.
void JobPipeline::Stop(const JobChunkPtr& chunk) {
  if (!chunk->Working()) return;
  chunk->Enter(HeldJobChunk::Phase::kGivingBack);
  PutBackIfQuiet(chunk);
}

void JobPipeline::PutBackIfQuiet(const JobChunkPtr& chunk) {
  if (!chunk->Leaving() || !chunk->Quiet() || chunk->BeingRecorded()) return;
  if (chunk->unrecorded.any() || chunk->CanEnd()) {
    recorder_.Add(chunk);
  } else {
    PutBack(chunk, std::chrono::milliseconds(0));
  }
}

void JobPipeline::Drain(std::function<void()> done) {
  claimer_.Drain([this] { drain_.Check(); });
  drain_.Begin(std::move(done));
  StopAll();
}

void JobPipeline::StopAll() {
  for (const JobChunkPtr& chunk : holdings_.All()) Stop(chunk);
  pump_.DropWaiting();
  recorder_.Flush();
}

// Out of time: what is in flight is not waited for any more.
void JobPipeline::StopWaiting() {
  for (const JobChunkPtr& chunk : holdings_.All()) {
    chunk->Enter(HeldJobChunk::Phase::kDeaf);
    PutBackIfQuiet(chunk);
  }
  recorder_.Flush();
}

// The database takes nothing either. Leases that could not be given back end by themselves.
void JobPipeline::ForgetAll() {
  log_.Warn("draining jobs without the database: leases are left to end",
            {{"chunks", holdings_.chunks().size()}});
  recorder_.Abandon();
  for (const JobChunkPtr& chunk : holdings_.All()) Forget(chunk);
}

}  // namespace vedette::worker
