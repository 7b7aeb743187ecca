#include "worker/jobs/job_pipeline.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "base/assert.h"
#include "config/lookup_config.h"
#include "config/parts.h"
#include "config/role_config.h"
#include "store/jobs/claim.h"

namespace vedette::worker {

HeldWatch::HeldWatch(base::EventLoop& loop, store::Pool& pool, const base::Clock& clock,
                     base::Logger log, const JobHoldings& holdings, Hooks hooks)
    : holdings_(holdings),
      hooks_(std::move(hooks)),
      watch_(loop, pool, clock, log,
             {.failed = "looking which job chunks are held failed", .poll = kHeldReadEvery},
             {.read = [this] { return Ask(); },
              .seen = [this](const Look& look,
                             std::chrono::nanoseconds began) { OnLooked(look, began); }}) {}

HeldWatch::Looks::Job HeldWatch::Ask() const {
  if (holdings_.empty()) return nullptr;
  std::vector<store::Lease> asked;
  asked.reserve(holdings_.chunks().size());
  for (const auto& [id, chunk] : holdings_.chunks()) asked.push_back(chunk->lease);
  return [asked = std::move(asked)](store::Session& session) {
    return Look{asked, store::ReadHeldJobChunks(session, asked)};
  };
}

void HeldWatch::OnLooked(const Look& look, std::chrono::nanoseconds began) {
  std::map<base::Uuid, bool> may_run;
  for (const store::JobLeaseState& held : look.held) may_run.emplace(held.id, held.may_run);
  for (const store::Lease& lease : look.asked) {
    const JobChunkPtr chunk = holdings_.Find(lease.id);
    // Recorded, given back or claimed again meanwhile: the answer is about another lease.
    if (!chunk || chunk->lease.token != lease.token) continue;
    const auto held = may_run.find(lease.id);
    if (held == may_run.end()) {
      hooks_.lost(chunk);
    } else if (!held->second) {
      hooks_.locked(chunk);
    } else {
      chunk->known_since = std::max(chunk->known_since, began);
    }
  }
  hooks_.looked();
}

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
                         lease::SuspectSlot& slot, base::Logger log)
    : lease::Pipeline<JobKind>(
          loop, pool, log,
          {.lease = config.worker.lease_ms,
           .drain_time_max = config.worker.drain_timeout_ms,
           .abandoned = "draining jobs without the database: leases are left to end"},
          {.renew = store::RenewJobChunks,
           .give_back = store::GiveBackJobChunks,
           .offered = [&signals] { signals.Raise(store::Signal::kJobChunk); }}),
      clock_(clock),
      metrics_(metrics),
      random_(std::random_device{}()),
      runs_(blocks),
      recorder_(loop, pool, signals, clock, metrics, config, log, holdings_, RecorderHooks()),
      pump_(loop, clock, metrics, config, holdings_, PumpHooks()),
      parts_(loop, pool, clock, metrics, config, log, holdings_, PartHooks()),
      watch_(loop, pool, clock, log, holdings_, WatchHooks()),
      serial_(loop, pool, log, config.worker.claims_max, slot, SerialHooks()),
      claimer_(loop, pool, log, config, ServedLanes(config), holdings_,
               std::uniform_real_distribution<double>()(random_),
               {.known = runs_.Known(),
                .claimed = [this](ClaimedJobs claimed) { OnClaimed(std::move(claimed)); }}) {}

RowPump::Hooks JobPipeline::PumpHooks() {
  RowPump::Hooks hooks;
  hooks.ended = [this](const JobChunkPtr& chunk, std::size_t row, RowDone done) {
    recorder_.AddEnd(chunk, row, std::move(done));
  };
  hooks.later = [this](const JobChunkPtr& chunk, std::size_t row, RowLater later) {
    recorder_.AddLater(chunk, row, std::move(later));
  };
  hooks.dropped = [this](const JobChunkPtr& chunk) { GiveBackIfQuiet(chunk); };
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
    GiveBack(chunk, kPartAgain);
    claimer_.OnRoom();
  };
  hooks.dropped = [this](const JobChunkPtr& chunk) { GiveBackIfQuiet(chunk); };
  return hooks;
}

HeldWatch::Hooks JobPipeline::WatchHooks() {
  HeldWatch::Hooks hooks;
  hooks.lost = [this](const JobChunkPtr& chunk) { Lose(chunk); };
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

void JobPipeline::Start() {
  StartEngine();
  watch_.Start();
}

void JobPipeline::OnClaimed(ClaimedJobs claimed) {
  for (ClaimedJobs::Loaded& loaded : std::exchange(claimed.chunks, {})) {
    HoldOrRefuse(std::move(loaded), claimed);
  }
  runs_.Trim();
  AllHeld();
}

void JobPipeline::Pump() {
  pump_.Pump();
  parts_.ShowHeld();
}

// The chunk is this process's from here on: it is held, or goes back at once.
void JobPipeline::HoldOrRefuse(ClaimedJobs::Loaded loaded, const ClaimedJobs& claimed) {
  BlockRunPtr run = runs_.Bind(loaded.chunk, claimed.specs);
  if (!run) {
    Refuse(loaded.chunk.lease, kUnknownBlockWait);
    return;
  }
  const JobChunkPtr chunk = MakeHeldJobChunk(std::move(loaded.chunk), std::move(run));
  if (chunk->IsWhole()) {
    chunk->SetWhole();
  } else if (auto* rows = std::get_if<std::vector<JobRow>>(&loaded.rows)) {
    chunk->SetRows(std::move(*rows));
  } else if (!chunk->fault) {
    chunk->fault.emplace().error = std::get<UnreadablePart>(loaded.rows).sentence;
  }
  chunk->known_since = claimed.read_at;
  chunk->deadline =
      claimed.read_at + (chunk->job().deadline_at - claimed.now) - EndsRowsBefore(chunk->job());
  Hold(chunk);
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

void JobPipeline::OnLeaseLost(const JobChunkPtr& chunk) {
  log_.Info("a job chunk is not held any more: its job has ended, or its lease was lost",
            {{"chunk", chunk->id().ToString()}});
  claimer_.OnRoom();
}

// Nothing of the chunk is left to be recorded.
void JobPipeline::OnRecorded(const JobChunkPtr& chunk) {
  if (chunk->Working() && chunk->Resting()) {
    const auto wait =
        std::chrono::ceil<std::chrono::milliseconds>(chunk->RestsUntil() - clock_.Now());
    GiveBack(chunk, std::max<std::chrono::milliseconds>(wait, kLaterMin), chunk->RestsFor());
    claimer_.OnRoom();
  } else if (chunk->Working() && chunk->mode == HeldJobChunk::Mode::kSerial) {
    serial_.OnRecorded(chunk);
  } else {
    claimer_.OnRoom();  // some of its rows have ended
  }
}

}  // namespace vedette::worker
