#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/event_loop.h"
#include "base/log.h"
#include "config/config.h"
#include "metrics/metrics.h"
#include "store/async.h"
#include "store/chunks.h"
#include "store/session.h"
#include "store/signals.h"
#include "worker/active_chunk.h"
#include "worker/notification_sink.h"
#include "worker/probes/probe.h"
#include "worker/recorder.h"
#include "worker/share_out.h"
#include "worker/start_turns.h"

namespace vedette::worker {

// The probe that serves a tier.
struct TierProbe {
  std::string kind;  // label of the metric
  Probe* probe = nullptr;
  config::ProbeConfig config;
};

// The pipeline of checks: claim -> (admit, load) -> probe -> verdict -> record. Holds leases on
// chunks, renews them, and starts no check whose monitor is not known to be live as of a moment ago
// (G5). Loop thread only; what is handed in outlives it.
class Worker {
 public:
  Worker(base::EventLoop& loop, store::Pool& pool, store::Signals& signals,
         const base::Clock& clock, metrics::Metrics& metrics, const config::Config& config,
         std::map<domain::Tier, TierProbe> probes, NotificationSink* sink, base::Logger log);
  ~Worker();

  void Start();

  // Something may be due: looks at once.
  void Wake();

  // No new claims and no further checks; those in flight finish within [worker] drain_timeout_ms,
  // the rest is given back. `done` once nothing is held any more; 2 s after that time in any case,
  // also without the database.
  void Drain(std::function<void()> done);

  // How long checks of a tier take on average, retries included, rounded up to milliseconds; 0 =
  // none was made yet. Schedulers of version 0.1 size chunks by it; later ones go by each monitor's
  // own.
  std::vector<std::int64_t> CheckDurationsMs() const;

 private:
  struct Check;

  // claim.cc: claiming
  void Claim();
  struct Claimed {
    store::Claim claim;
    std::unordered_map<base::Uuid, std::shared_ptr<const ProbeSpec>> probe_specs;  // by monitor
  };
  static Claimed ReadSpecs(store::Claim claim);
  void OnClaimed(Claimed claimed, std::chrono::nanoseconds began);
  void Ingest(store::ClaimedChunk&& chunk, const Claimed& from, std::chrono::nanoseconds began);
  bool HandlePoison(const std::shared_ptr<ActiveChunk>& chunk);
  void Condemn(const std::shared_ptr<ActiveChunk>& chunk);
  void TrySuspect();
  std::vector<store::ClaimShare> Shares(const std::vector<store::DueOrg>& due) const;
  void AdjustRowsAhead(bool was_busy);
  Room RoomNow() const;
  std::size_t RowsMax() const;
  std::size_t FreeSlots() const;

  // checks.cc: from a row to its result
  void Pump();
  bool StartNext(const std::shared_ptr<ActiveChunk>& chunk);
  void MakeStartable(const std::shared_ptr<ActiveChunk>& chunk);
  void CloseRow(ActiveChunk* chunk);
  void StartCheck(const std::shared_ptr<ActiveChunk>& chunk, RowRef ref);
  void Attempt(const std::shared_ptr<Check>& check);
  bool OnTurn(Check& check, std::chrono::milliseconds waited);
  void OnProbed(const std::shared_ptr<Check>& check, ProbeResult result);
  void Withdraw(const std::shared_ptr<Check>& check);
  void Finish(const std::shared_ptr<Check>& check, const ProbeResult& result);
  std::unique_ptr<CheckEffects> MakeEffects(const Check& check, const struct Verdict& verdict);
  void AddResult(const std::shared_ptr<ActiveChunk>& chunk, RowRef ref, domain::Outcome outcome,
                 std::unique_ptr<CheckEffects> effects);
  void LeaveFlight(const ActiveChunk& chunk);
  void RetryLater(const std::shared_ptr<Check>& check, std::chrono::milliseconds delay);
  void RunRetries();

  // control.cc: leases, pauses, draining
  void RenewLeases();
  void ReadControl();
  void OnControl(const store::ControlChanges& changes, std::chrono::nanoseconds began);
  void SwitchRows(const std::vector<store::RowSwitch>& rows);
  bool ControlFresh(const ActiveChunk& chunk) const;
  void GiveBackIfIdle(const std::shared_ptr<ActiveChunk>& chunk);
  void Forget(const std::shared_ptr<ActiveChunk>& chunk);
  void GiveAllBack();
  void OnDrainTimeout();
  void DrainStep();

  base::EventLoop& loop_;
  store::Pool& pool_;
  store::Signals& signals_;
  const base::Clock& clock_;
  metrics::Metrics& metrics_;
  const config::Config& config_;
  std::map<domain::Tier, TierProbe> probes_;
  std::map<domain::Tier, std::int64_t> prices_mc_;
  NotificationSink* sink_;
  base::Logger log_;
  std::mt19937_64 random_;  // jitter only

  Recorder recorder_;
  base::Timer poll_timer_;
  base::Timer lease_timer_;
  base::Timer control_timer_;
  base::Timer retry_timer_;
  base::Timer drain_timer_;

  std::unordered_map<base::Uuid, std::shared_ptr<ActiveChunk>> chunks_;
  StartTurns<std::shared_ptr<ActiveChunk>> startable_;  // with rows that are not started
  std::deque<std::shared_ptr<ActiveChunk>> suspects_;   // of one row; tried one at a time
  std::shared_ptr<ActiveChunk> last_try_;
  std::size_t rows_held_ = 0;           // of all chunks
  std::size_t rows_open_ = 0;           // of these, without an outcome
  std::size_t rows_ahead_;              // claimed beyond what can be in flight
  std::map<base::Uuid, OrgLoad> orgs_;  // those that something is held of
  std::size_t in_flight_ = 0;
  std::array<std::chrono::nanoseconds, domain::kTierCount> check_durations_{};  // moving averages
  std::multimap<std::chrono::nanoseconds, std::shared_ptr<Check>> retries_;  // by time since boot
  base::Uuid walk_cursor_;
  bool claiming_ = false;
  bool claim_again_ = false;
  bool work_left_ = false;  // the last walk saw more than was taken
  bool pumping_ = false;
  bool reading_control_ = false;
  std::chrono::nanoseconds control_began_{
      -1};                         // since boot, of the last control read that succeeded
  std::function<void()> drained_;  // set while draining
  bool drain_overdue_ = false;
  std::shared_ptr<bool> alive_;
};

}  // namespace vedette::worker
