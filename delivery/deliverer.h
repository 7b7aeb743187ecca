#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/event_loop.h"
#include "base/log.h"
#include "config/config.h"
#include "delivery/lanes.h"
#include "delivery/retry_policy.h"
#include "delivery/sender.h"
#include "delivery/sweep.h"
#include "domain/notification.h"
#include "metrics/metrics.h"
#include "net/http_client.h"
#include "store/async.h"
#include "store/deliveries.h"
#include "store/session.h"

namespace vedette::delivery {

// Attempts leased notifications until they are delivered or given up: those that this process's
// worker has just recorded, from memory, and those that are due in the database. Outcomes are
// settled in batches. Loop thread only; what is handed in outlives it.
class Deliverer {
 public:
  Deliverer(base::EventLoop& loop, store::Pool& pool, net::HttpClient& client,
            const base::Clock& clock, metrics::Metrics& metrics, const config::Config& config,
            base::Logger log);
  ~Deliverer();

  void Start();

  // Something may be due: looks at once.
  void Wake();

  // For the worker of this process (worker/notification_sink.h, which app puts between the two):
  // room for one notification to the organisation's receiver and the token to lease it under; then
  // it comes, or it does not.
  std::optional<base::Uuid> Reserve(const base::Uuid& org_id, const base::Uuid& endpoint_id);
  void Take(domain::Notification notification, const base::Uuid& lease_token);
  void CancelReserved(const base::Uuid& endpoint_id);

  // No new claims; attempts in flight finish within [delivery] drain_timeout_ms, the rest is given
  // back. `done` once nothing is held any more.
  void Drain(std::function<void()> done);

 private:
  struct Held {
    store::LeasedDelivery delivery;
    bool sending = false;
    bool overdue = false;  // for longer than [delivery] slow_after_ms
  };
  using HeldMap = std::map<base::Uuid, Held>;  // by delivery id

  void Claim();
  void OnClaimed(store::DeliveryClaim claim);
  void Hold(store::LeasedDelivery delivery, bool reserved);
  void Pump();
  void NoteOverdue();
  void StartAttempt(const base::Uuid& delivery_id);
  void OnSent(const base::Uuid& delivery_id, base::Timestamp attempted_at, SendResult result);
  void Settle();
  void SendSettlement(std::shared_ptr<std::vector<store::AttemptRecord>> batch, bool again,
                      std::chrono::milliseconds backoff);
  void RenewLeases();
  void ReleaseWaiting();
  void Release(const std::vector<base::Uuid>& delivery_ids);
  void OnDrainTimeout();
  void DrainStep();
  void EndDrain();

  base::EventLoop& loop_;
  store::Pool& pool_;
  const base::Clock& clock_;
  metrics::Metrics& metrics_;
  const config::Config& config_;
  base::Logger log_;
  Sender sender_;
  RetryRules rules_;
  std::mt19937_64 random_;  // jitter, and where sweeps begin
  base::Uuid lease_token_;  // of what this process's worker commits

  base::Timer poll_timer_;
  base::Timer settle_timer_;
  base::Timer lease_timer_;
  base::Timer overdue_timer_;
  base::Timer forget_timer_;
  base::Timer drain_timer_;

  HeldMap held_;
  Lanes lanes_;
  // Attempts by their start (since boot), ended ones too until they are looked at.
  std::deque<std::pair<std::chrono::nanoseconds, base::Uuid>> started_;
  std::size_t reserved_ = 0;
  std::vector<store::AttemptRecord> settled_;
  int settling_ = 0;
  Sweep sweep_;
  bool claiming_ = false;
  bool claim_again_ = false;
  bool more_ = false;              // claims left something that was due
  std::function<void()> drained_;  // set while draining
  bool drain_overdue_ = false;
  bool drain_done_ = false;
  std::shared_ptr<bool> alive_;
};

}  // namespace vedette::delivery
