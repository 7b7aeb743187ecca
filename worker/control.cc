// A worker's leases, what it knows of pauses, and its end.

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

#include "worker/worker.h"

namespace vedette::worker {
namespace {

// Control reads look back so far: longer than any transaction that pauses a monitor can take, since
// its changes carry the time of its beginning.
constexpr std::chrono::milliseconds kControlWindow{60000};

// What is claimed ahead until it is known how long checks take.
constexpr std::size_t kRowsAheadFirst = 64;

// How long a drain that is out of time still waits for records and claims under way.
constexpr std::chrono::milliseconds kDrainRecordMax{2000};

}  // namespace

Worker::Worker(base::EventLoop& loop, store::Pool& pool, store::Signals& signals,
               const base::Clock& clock, metrics::Metrics& metrics, const config::Config& config,
               std::map<domain::Tier, TierProbe> probes, NotificationSink* sink, base::Logger log)
    : loop_(loop),
      pool_(pool),
      signals_(signals),
      clock_(clock),
      metrics_(metrics),
      config_(config),
      probes_(std::move(probes)),
      sink_(sink),
      log_(log),
      random_(std::random_device{}()),
      recorder_(loop, pool, signals, clock, metrics, config.worker, config.delivery.lease_ms, sink,
                log_,
                [this](const std::shared_ptr<ActiveChunk>& chunk) {
                  Forget(chunk);
                  if (work_left_) Claim();
                }),
      poll_timer_(loop, [this] { Claim(); }),
      lease_timer_(loop, [this] { RenewLeases(); }),
      control_timer_(loop, [this] { ReadControl(); }),
      retry_timer_(loop, [this] { RunRetries(); }),
      drain_timer_(loop, [this] { OnDrainTimeout(); }),
      rows_ahead_(std::min<std::size_t>(kRowsAheadFirst,
                                        static_cast<std::size_t>(config.worker.rows_ahead_max))),
      alive_(std::make_shared<bool>(true)) {
  for (const auto& [name, price] : config.prices_mc) {
    if (const auto tier = domain::ParseTier(name)) prices_mc_[*tier] = price;
  }
}

Worker::~Worker() {
  *alive_ = false;
}

void Worker::Start() {
  // Pollers of a fleet do not march in step.
  const auto poll =
      config_.worker.poll_ms +
      std::chrono::milliseconds(random_() %
                                static_cast<std::uint64_t>(config_.worker.poll_ms.count() / 4 + 1));
  poll_timer_.Start(std::chrono::milliseconds(0), poll);
  lease_timer_.Start(config_.worker.lease_ms / 3, config_.worker.lease_ms / 3);
  control_timer_.Start(config_.worker.control_read_ms, config_.worker.control_read_ms);
}

void Worker::Wake() {
  Claim();
}

// One UPDATE renews every lease; what it does not give back is not worked on any more.
void Worker::RenewLeases() {
  if (chunks_.empty()) return;
  std::vector<store::LeaseRef> leases;
  for (const auto& [id, chunk] : chunks_) leases.push_back(chunk->lease());
  store::RunAsync<std::vector<base::Uuid>>(
      pool_, loop_,
      [leases, lease = config_.worker.lease_ms](store::Session& session) {
        return store::RenewChunks(session, leases, lease);
      },
      [this, leases, alive = alive_](std::variant<std::vector<base::Uuid>, store::Failure> result) {
        const auto* kept = std::get_if<std::vector<base::Uuid>>(&result);
        if (!*alive || kept == nullptr) return;
        const std::set<base::Uuid> held(kept->begin(), kept->end());
        for (const store::LeaseRef& lease : leases) {
          const auto it = chunks_.find(lease.chunk_id);
          // Gone is also what was recorded to its end meanwhile; that is being told by its record.
          if (it == chunks_.end() || held.contains(lease.chunk_id) || it->second->recording ||
              it->second->claimed.lease_token != lease.lease_token) {
            continue;
          }
          log_.Warn("a lease was lost", {{"chunk", lease.chunk_id.ToString()}});
          metrics_.AddLeaseLost(1);
          const auto chunk = it->second;
          chunk->lost = true;
          Forget(chunk);
        }
        Pump();
      });
}

void Worker::ReadControl() {
  if (reading_control_ || chunks_.empty()) return;
  reading_control_ = true;
  const auto began = clock_.SinceBoot();
  store::RunAsync<store::ControlChanges>(
      pool_, loop_,
      [](store::Session& session) { return store::ReadControlChanges(session, kControlWindow); },
      [this, began, alive = alive_](std::variant<store::ControlChanges, store::Failure> result) {
        if (!*alive) return;
        reading_control_ = false;
        if (const auto* changes = std::get_if<store::ControlChanges>(&result)) {
          OnControl(*changes, began);
        }
        // Otherwise the timer reads again, and until it succeeds no check starts.
      });
}

void Worker::OnControl(const store::ControlChanges& changes, std::chrono::nanoseconds began) {
  control_began_ = began;
  if (!changes.monitors.empty() || !changes.organisations.empty()) {
    const std::unordered_map<base::Uuid, bool> monitors(changes.monitors.begin(),
                                                        changes.monitors.end());
    const std::unordered_map<base::Uuid, bool> orgs(changes.organisations.begin(),
                                                    changes.organisations.end());
    for (auto& [id, chunk] : chunks_) {
      const auto org = orgs.find(chunk->claimed.org_id);
      for (ActivePart& part : chunk->parts) {
        const auto monitor = monitors.find(part.spec->monitor_id);
        if (monitor != monitors.end()) part.monitor_active = monitor->second;
        if (org != orgs.end()) part.org_runs = org->second;
      }
    }
  }
  if (!changes.rows.empty()) SwitchRows(changes.rows);
  Pump();
}

// What is held of the rows is started, or not, as they are switched now.
void Worker::SwitchRows(const std::vector<store::RowSwitch>& rows) {
  std::unordered_map<base::Uuid, std::vector<const store::RowSwitch*>> by_monitor;
  for (const store::RowSwitch& row : rows) by_monitor[row.monitor_id].push_back(&row);
  for (auto& [id, chunk] : chunks_) {
    for (store::LoadedPart& part : chunk->claimed.parts) {
      const auto switched = by_monitor.find(part.part.monitor_id);
      if (switched == by_monitor.end()) continue;
      for (const store::RowSwitch* row : switched->second) {
        if (row->position < part.part.first || row->position >= part.part.end) continue;
        part.rows[static_cast<std::size_t>(row->position - part.part.first)].is_active =
            row->is_active;
      }
    }
  }
}

bool Worker::ControlFresh(const ActiveChunk& chunk) const {
  const auto began = std::max(chunk.loaded_began, control_began_);
  return clock_.SinceBoot() - began < config_.worker.control_age_max_ms;
}

void Worker::Forget(const std::shared_ptr<ActiveChunk>& chunk) {
  const auto held = chunks_.find(chunk->claimed.id);
  if (held == chunks_.end() || held->second != chunk) return;
  chunks_.erase(held);
  recorder_.Drop(chunk);
  std::size_t rows = 0;
  for (const auto& part : chunk->parts) rows += part.outcomes.size();
  rows_held_ -= rows;
  rows_open_ -= chunk->rows_open;
  OrgLoad& org = *chunk->org;
  org.rows_open -= chunk->rows_open;
  if (chunk->claimed.large) {
    const auto large = org.large_chunks.find(chunk->flow());
    if (--large->second == 0) org.large_chunks.erase(large);
  }
  if (--org.chunks == 0 && org.in_flight == 0) orgs_.erase(chunk->claimed.org_id);
  if (last_try_ == chunk) {
    last_try_.reset();
    TrySuspect();
  }
  if (drained_) DrainStep();
}

void Worker::GiveBackIfIdle(const std::shared_ptr<ActiveChunk>& chunk) {
  if (chunk->lost || !chunk->giving_back || chunk->in_flight > 0 || chunk->recording) return;
  if (!chunk->unrecorded.empty() || chunk->Finished()) {
    recorder_.Add(chunk);
  } else {
    recorder_.GiveBack(chunk);
  }
}

void Worker::Drain(std::function<void()> done) {
  drained_ = std::move(done);
  poll_timer_.Stop();
  drain_timer_.Start(config_.worker.drain_timeout_ms);
  GiveAllBack();
}

void Worker::GiveAllBack() {
  startable_.Clear();
  for (auto& [id, chunk] : chunks_) chunk->giving_back = true;
  // A check that waits for its next attempt is given back with the others.
  retry_timer_.Stop();
  auto retries = std::exchange(retries_, {});
  for (auto& [at, check] : retries) retries_.emplace(std::chrono::nanoseconds(0), check);
  RunRetries();
  DrainStep();
}

// Out of time: first what is in flight is not waited for, then neither is the database. Leases that
// could not be given back end by themselves.
void Worker::OnDrainTimeout() {
  if (!drain_overdue_) {
    drain_overdue_ = true;
    for (auto& [id, chunk] : chunks_) {
      chunk->deaf = true;
      chunk->in_flight = 0;
    }
    drain_timer_.Start(kDrainRecordMax);
    DrainStep();
    return;
  }
  log_.Warn("draining without the database: leases are left to end", {{"chunks", chunks_.size()}});
  claiming_ = false;
  recorder_.Abandon();
  const auto held = chunks_;
  for (const auto& [id, chunk] : held) {
    chunk->lost = true;
    Forget(chunk);
  }
  DrainStep();
}

void Worker::DrainStep() {
  if (!drained_) return;
  std::vector<std::shared_ptr<ActiveChunk>> idle;
  for (const auto& [id, chunk] : chunks_) idle.push_back(chunk);
  for (const auto& chunk : idle) GiveBackIfIdle(chunk);
  recorder_.Flush();
  if (!chunks_.empty() || claiming_) return;
  drain_timer_.Stop();
  loop_.Post(std::exchange(drained_, [] {}));
}

}  // namespace vedette::worker
