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
#include "config/config_fwd.h"
#include "delivery/lanes.h"
#include "delivery/retry_policy.h"
#include "delivery/sender.h"
#include "domain/job/webhook.h"
#include "lease/batcher.h"
#include "lease/drain.h"
#include "lease/lease_keeper.h"
#include "lease/step.h"
#include "metrics/metrics.h"
#include "net/http_client.h"
#include "store/deliveries/deliveries.h"
#include "store/session.h"

namespace vedette::delivery {

// Writes how attempts ended, in batches. What cannot be written now is repeated until the database
// has it. An attempt that the database refuses is lost to history, and its delivery is tried again
// when its lease ends. Loop thread only; everything handed in must outlive this object.
class Settler {
 public:
  // `settled`: attempts are written, or lost.
  Settler(base::EventLoop& loop, store::Pool& pool, const base::Clock& clock,
          const config::DeliveryConfig& config, base::Logger log, std::function<void()> settled);

  // Within [delivery] settle_delay_ms, or at once when settle_max of them have gathered.
  void Add(store::AttemptRecord attempt);

  // Everything at once.
  void Flush();

  bool idle() const { return batcher_.idle(); }
  std::size_t gathered() const { return batcher_.gathered(); }

 private:
  lease::Batcher<store::AttemptRecord, std::vector<store::BreakerChange>> batcher_;
};

// Attempts leased notifications until they are delivered or given up: those that this process's
// worker has just recorded, from memory, and those that are due in the database. Outcomes are
// settled in batches. Loop thread only; everything handed in must outlive this object.
class Deliverer {
 public:
  Deliverer(base::EventLoop& loop, store::Pool& pool, net::HttpClient& client,
            const base::Clock& clock, metrics::Metrics& metrics, const config::Config& config,
            base::Logger log);

  void Start();

  // Something may be due: looks at once.
  void Wake();

  // For the worker of this process (worker/checks/notification_sink.h, which app puts between the
  // two): room for one notification to the organisation's receiver and the token to lease it under;
  // then it comes, or it does not.
  std::optional<base::Uuid> Reserve(const base::Uuid& org_id, const base::Uuid& endpoint_id);
  void Take(domain::Notification notification, const base::Uuid& lease_token);
  void CancelReserved(const base::Uuid& endpoint_id);

  // No new claims; attempts in flight finish within [delivery] drain_timeout_ms, the rest is given
  // back. `done` once nothing is held any more.
  void Drain(std::function<void()> done);

 private:
  // A delivery from its claim to the end of its attempt. A lease that is lost during the attempt
  // changes nothing: whether the attempt counts is for the database to say. One whose lease may be
  // over when its turn comes is not sent: it is left to who claims it next.
  //
  //   kWaiting -- its turn --> kSending -- for [delivery] slow_after_ms --> kOverdue
  //     |  ^
  //     |  | it is claimed here again
  //     v  |
  //    kLost: another process may send it
  struct Held {
    enum class State { kWaiting, kSending, kOverdue, kLost };

    store::LeasedDelivery delivery;
    State state = State::kWaiting;
  };
  using HeldMap = std::map<base::Uuid, Held>;  // by delivery id

  lease::Step<store::DeliveryClaim>::Job Claim();
  lease::NextRun OnClaimed(store::DeliveryClaim claim);
  void Hold(store::LeasedDelivery delivery, bool reserved);
  void OnLeaseLost(const base::Uuid& delivery_id);
  void Pump();
  void NoteOverdue();
  void StartAttempt(const base::Uuid& delivery_id);
  void OnSent(const base::Uuid& delivery_id, base::Timestamp attempted_at, SendResult result);
  void NoteAttempt(const store::LeasedDelivery& delivery, const SendResult& result) const;
  NextStep Decide(const store::LeasedDelivery& delivery, base::Timestamp attempted_at,
                  const SendResult& result);
  void OnSettled();
  void LeaveLane(const base::Uuid& endpoint_id, domain::ReceiverState receiver, Held::State was,
                 std::chrono::microseconds took);
  void Release(const std::vector<base::Uuid>& delivery_ids);
  bool Idle() const;
  void OnDrainOverdue();
  void DrainStep();

  const base::Clock& clock_;
  metrics::Metrics& metrics_;
  const config::Config& config_;
  base::Logger log_;
  Sender sender_;
  RetryRules rules_;
  std::mt19937_64 random_;  // jitter, and where rounds begin
  base::Uuid lease_token_;  // of what this process's worker commits

  HeldMap held_;
  Lanes lanes_;
  // Attempts by their start (since boot), ended ones too until they are looked at.
  std::deque<std::pair<std::chrono::nanoseconds, base::Uuid>> started_;
  std::size_t reserved_ = 0;
  ReceiverScan scan_;
  // Shared with the claim that is under way; there is one at a time.
  const std::shared_ptr<store::ScanBounds<base::Uuid>> bounds_ =
      std::make_shared<store::ScanBounds<base::Uuid>>();
  bool more_ = false;  // claims left something that was due

  lease::Step<store::DeliveryClaim> claims_;
  lease::LeaseKeeper leases_;
  Settler settler_;
  lease::Drain drain_;
  base::Timer overdue_timer_;
  base::Timer forget_timer_;
};

}  // namespace vedette::delivery
