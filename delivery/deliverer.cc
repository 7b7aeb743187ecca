#include "delivery/deliverer.h"

#include <algorithm>
#include <utility>

namespace vedette::delivery {
namespace {

// Endpoints visited in one walk (design 4: cap it, remember where it stopped).
constexpr int kEndpointsPerWalkMax = 200;
constexpr std::chrono::milliseconds kSettleRetryFirst{100};
constexpr std::chrono::milliseconds kSettleRetryMax{5000};
// How long a drain that is out of time still waits for the database.
constexpr std::chrono::milliseconds kDrainSettleMax{2000};
// What is known of a receiver's pace is forgotten when nothing was sent to it for this long.
constexpr std::chrono::minutes kForgetAfter{30};

}  // namespace

Deliverer::Deliverer(base::EventLoop& loop, store::Pool& pool, net::HttpClient& client,
                     const base::Clock& clock, metrics::Metrics& metrics,
                     const config::Config& config, base::Logger log)
    : loop_(loop),
      pool_(pool),
      clock_(clock),
      metrics_(metrics),
      config_(config),
      log_(log),
      sender_(loop, pool, client, clock, config),
      rules_{config.delivery.backoff_first_ms, config.delivery.backoff_max_ms,
             config.delivery.backoff_window_ms, config.delivery.backoff_jitter,
             config.delivery.breaker_age_max_ms},
      random_(std::random_device{}()),
      lease_token_(base::Uuid::V4()),
      poll_timer_(loop, [this] { Claim(); }),
      settle_timer_(loop, [this] { Settle(); }),
      lease_timer_(loop, [this] { RenewLeases(); }),
      overdue_timer_(loop, [this] { NoteOverdue(); }),
      forget_timer_(loop, [this] { lanes_.ForgetIdle(); }),
      drain_timer_(loop, [this] { OnDrainTimeout(); }),
      lanes_({config.delivery.in_flight_max, config.delivery.slow_in_flight_max,
              config.delivery.in_flight_per_endpoint_max, config.delivery.breaker_failures}),
      alive_(std::make_shared<bool>(true)) {}

Deliverer::~Deliverer() {
  *alive_ = false;
}

void Deliverer::Start() {
  const auto quarter = static_cast<std::uint64_t>(config_.delivery.poll_ms.count() / 4 + 1);
  poll_timer_.Start(std::chrono::milliseconds(0),
                    config_.delivery.poll_ms + std::chrono::milliseconds(random_() % quarter));
  lease_timer_.Start(config_.delivery.lease_ms / 3, config_.delivery.lease_ms / 3);
  forget_timer_.Start(kForgetAfter, kForgetAfter);
}

void Deliverer::Wake() {
  Claim();
}

std::optional<base::Uuid> Deliverer::Reserve(const base::Uuid& org_id,
                                             const base::Uuid& endpoint_id) {
  if (drained_ || !lanes_.Reserve(org_id, endpoint_id)) return std::nullopt;
  ++reserved_;
  return lease_token_;
}

void Deliverer::CancelReserved(const base::Uuid& endpoint_id) {
  --reserved_;
  lanes_.Cancel(endpoint_id);
  DrainStep();
}

void Deliverer::Take(domain::Notification notification, const base::Uuid& lease_token) {
  --reserved_;
  store::LeasedDelivery delivery;
  delivery.counted_from = notification.created_at;
  delivery.notification = std::move(notification);
  delivery.lease_token = lease_token;
  Hold(std::move(delivery), true);
  Pump();
}

void Deliverer::Claim() {
  if (drained_) return;
  if (claiming_) {
    claim_again_ = true;
    return;
  }
  const Lanes::Room room = lanes_.RoomForClaims();
  if (room.prompt.full() && (room.slow.full() || room.slow_in_flight.full())) {
    more_ = true;
    return;
  }
  claiming_ = true;
  claim_again_ = false;
  const store::DeliveryClaimLimits limits{.endpoints_max = kEndpointsPerWalkMax,
                                          .per_endpoint_max = room.per_prompt_max,
                                          .per_slow_max = room.per_slow_max,
                                          .held = room.prompt,
                                          .slow_held = room.slow,
                                          .slow_in_flight = room.slow_in_flight,
                                          .breaker_failures = config_.delivery.breaker_failures,
                                          .breaker_interval = config_.delivery.breaker_interval_ms,
                                          .lease = config_.delivery.lease_ms};
  store::RunAsync<store::DeliveryClaim>(
      pool_, loop_,
      [limits, cursor = sweep_.cursor(), full = room.full,
       prompt_ids = room.prompt_ids](store::Session& session) {
        return store::ClaimDeliveries(session, cursor, base::Uuid::V4(), limits, full, *prompt_ids);
      },
      [this, alive = alive_](std::variant<store::DeliveryClaim, store::Failure> result) {
        if (!*alive) return;
        claiming_ = false;
        if (auto* claim = std::get_if<store::DeliveryClaim>(&result)) {
          OnClaimed(std::move(*claim));
        } else if (drained_) {
          DrainStep();
        }
      });
}

void Deliverer::OnClaimed(store::DeliveryClaim claim) {
  const bool sweep_goes_on = sweep_.Walked(claim.next_cursor, claim.passed_over, random_);
  more_ = claim.more || sweep_.passed_some_over();
  const bool got = !claim.deliveries.empty();
  for (auto& delivery : claim.deliveries) Hold(std::move(delivery), false);
  Pump();
  if (drained_) {
    ReleaseWaiting();
    DrainStep();
  } else if (sweep_goes_on || (more_ && got) || claim_again_) {
    Claim();
  }
}

void Deliverer::Hold(store::LeasedDelivery delivery, bool reserved) {
  const base::Uuid id = delivery.notification.delivery_id;
  const base::Uuid org_id = delivery.notification.org_id;
  const base::Uuid endpoint_id = delivery.notification.endpoint_id;
  // Its lease ended and it was claimed again here: the attempt under way goes on under the new
  // lease.
  if (const auto it = held_.find(id); it != held_.end()) {
    it->second.delivery.lease_token = delivery.lease_token;
    return;
  }
  held_.emplace(id, Held{std::move(delivery)});
  lanes_.Add(org_id, endpoint_id, id, reserved);
}

void Deliverer::Pump() {
  if (drained_) {
    ReleaseWaiting();
    return;
  }
  while (const auto delivery_id = lanes_.Next()) StartAttempt(*delivery_id);
}

// Attempts that take long make their receivers slow, while they are still under way.
void Deliverer::NoteOverdue() {
  const auto before = clock_.SinceBoot() - config_.delivery.slow_after_ms;
  while (!started_.empty() && started_.front().first <= before) {
    const auto it = held_.find(started_.front().second);
    started_.pop_front();
    if (it == held_.end() || !it->second.sending || it->second.overdue) continue;
    it->second.overdue = true;
    lanes_.Overdue(it->second.delivery.notification.endpoint_id);
  }
  if (started_.empty()) overdue_timer_.Stop();
  Pump();
}

void Deliverer::StartAttempt(const base::Uuid& delivery_id) {
  Held& held = held_.at(delivery_id);
  held.sending = true;
  started_.emplace_back(clock_.SinceBoot(), delivery_id);
  if (!overdue_timer_.active()) {
    overdue_timer_.Start(config_.delivery.slow_after_ms / 4, config_.delivery.slow_after_ms / 4);
  }
  sender_.Send(held.delivery.notification, held.delivery.attempts + 1,
               [this, delivery_id, at = clock_.Now(), alive = alive_](SendResult result) {
                 if (*alive) OnSent(delivery_id, at, std::move(result));
               });
}

void Deliverer::OnSent(const base::Uuid& delivery_id, base::Timestamp attempted_at,
                       SendResult result) {
  const auto it = held_.find(delivery_id);
  if (it == held_.end()) return;  // given back meanwhile
  const bool overdue = it->second.overdue;
  if (result.moved) {  // whoever claims it next finds out where it goes
    const base::Uuid endpoint_id = it->second.delivery.notification.endpoint_id;
    Release({delivery_id});
    Release(lanes_.Ended(endpoint_id, Lanes::End::kNotTried, overdue));
    Pump();
    return;
  }
  const store::LeasedDelivery delivery = std::move(it->second.delivery);
  held_.erase(it);
  metrics_.ObserveDeliveryAttempt(result.duration);
  AttemptContext context{};
  context.attempts = delivery.schedule_attempts + 1;
  context.age =
      std::chrono::duration_cast<std::chrono::milliseconds>(attempted_at - delivery.counted_from);
  context.endpoint_failing = delivery.endpoint_failing;
  context.random = std::uniform_real_distribution<double>(0, 1)(random_);
  const NextStep next = NextAttempt(rules_, context, {result.status_code, result.retry_after});
  store::AttemptRecord& record = settled_.emplace_back();
  record.kind = next.kind == NextStep::Kind::kDelivered ? store::AttemptRecord::Kind::kDelivered
                : next.kind == NextStep::Kind::kRetry   ? store::AttemptRecord::Kind::kRetry
                                                        : store::AttemptRecord::Kind::kDead;
  record.notification = delivery.notification;
  record.lease_token = delivery.lease_token;
  record.attempt = delivery.attempts + 1;
  record.attempted_at = attempted_at;
  record.duration = result.duration;
  record.status_code = result.status_code;
  record.error = result.error;
  if (!result.answer.empty()) record.answer = std::move(result.answer);
  record.retry_in = next.wait;
  record.endpoint_failed = result.tried;
  metrics_.AddDeliveries(next.kind == NextStep::Kind::kDelivered ? "delivered"
                         : next.kind == NextStep::Kind::kRetry   ? "retried"
                                                                 : "dead",
                         1);
  if (settled_.size() >= static_cast<std::size_t>(config_.delivery.settle_max)) {
    Settle();
  } else if (!settle_timer_.active()) {
    settle_timer_.Start(config_.delivery.settle_delay_ms);
  }
  Release(lanes_.Ended(delivery.notification.endpoint_id,
                       !result.tried                             ? Lanes::End::kNotTried
                       : next.kind == NextStep::Kind::kDelivered ? Lanes::End::kDelivered
                                                                 : Lanes::End::kFailed,
                       overdue));
  Pump();
}

void Deliverer::Settle() {
  settle_timer_.Stop();
  if (settled_.empty()) return;
  ++settling_;
  SendSettlement(std::make_shared<std::vector<store::AttemptRecord>>(std::exchange(settled_, {})),
                 false, kSettleRetryFirst);
}

// Repeated until the database has it. `again`: an earlier try may have happened.
void Deliverer::SendSettlement(std::shared_ptr<std::vector<store::AttemptRecord>> batch, bool again,
                               std::chrono::milliseconds backoff) {
  store::RunAsync<bool>(
      pool_, loop_,
      [batch, again, failures = config_.delivery.breaker_failures,
       interval = config_.delivery.breaker_interval_ms](store::Session& session) {
        store::SettleAttempts(session, *batch, again, failures, interval);
        return true;
      },
      [this, batch, again, backoff, alive = alive_](std::variant<bool, store::Failure> result) {
        if (!*alive) return;
        const auto* failure = std::get_if<store::Failure>(&result);
        if (failure != nullptr && failure->kind != store::Failure::Kind::kFault) {
          const bool unknown = again || failure->kind == store::Failure::Kind::kCommitUnknown;
          auto timer = std::make_shared<std::unique_ptr<base::Timer>>();
          *timer = std::make_unique<base::Timer>(loop_, [this, batch, unknown, backoff, timer] {
            loop_.Post([timer] { timer->reset(); });
            SendSettlement(batch, unknown, std::min(backoff * 2, kSettleRetryMax));
          });
          (*timer)->Start(backoff);
          return;
        }
        if (failure != nullptr) {
          // The attempts are lost to history; their deliveries are tried again when the leases end.
          log_.Error("attempts could not be recorded",
                     {{"attempts", batch->size()}, {"error", failure->message}});
        }
        --settling_;
        if (more_ && !drained_) Claim();
        DrainStep();
      });
}

void Deliverer::RenewLeases() {
  if (held_.empty()) return;
  std::vector<store::DeliveryLease> leases;
  for (const auto& [id, held] : held_) leases.push_back({id, held.delivery.lease_token});
  store::RunAsync<bool>(
      pool_, loop_,
      [leases = std::move(leases), lease = config_.delivery.lease_ms](store::Session& session) {
        store::RenewDeliveries(session, leases, lease);
        return true;
      },
      [](std::variant<bool, store::Failure>) {});
}

// Gives back what no attempt is under way for.
void Deliverer::ReleaseWaiting() {
  Release(lanes_.TakeWaiting());
}

// Gives back deliveries that wait no more.
void Deliverer::Release(const std::vector<base::Uuid>& delivery_ids) {
  std::vector<store::DeliveryLease> leases;
  for (const base::Uuid& id : delivery_ids) {
    const auto it = held_.find(id);
    if (it == held_.end()) continue;
    leases.push_back({id, it->second.delivery.lease_token});
    held_.erase(it);
  }
  if (leases.empty()) return;
  ++settling_;
  store::RunAsync<bool>(
      pool_, loop_,
      [leases = std::move(leases)](store::Session& session) {
        store::ReleaseDeliveries(session, leases);
        return true;
      },
      [this, alive = alive_](std::variant<bool, store::Failure>) {
        if (!*alive) return;
        --settling_;
        DrainStep();
      });
}

void Deliverer::Drain(std::function<void()> done) {
  drained_ = std::move(done);
  poll_timer_.Stop();
  forget_timer_.Stop();
  drain_timer_.Start(config_.delivery.drain_timeout_ms);
  ReleaseWaiting();
  DrainStep();
}

// Out of time: what is on its way is given back, a duplicate may follow (G3); then the database is
// not waited for either. Leases that could not be given back end by themselves.
void Deliverer::OnDrainTimeout() {
  if (!drain_overdue_) {
    drain_overdue_ = true;
    std::vector<base::Uuid> sending;
    for (const auto& [id, held] : held_) sending.push_back(id);
    drain_timer_.Start(kDrainSettleMax);
    Release(sending);
    DrainStep();
    return;
  }
  log_.Warn("draining without the database: leases are left to end",
            {{"deliveries", held_.size()}, {"attempts", settled_.size()}});
  EndDrain();
}

void Deliverer::DrainStep() {
  if (!drained_ || drain_done_) return;
  if (held_.empty() && !settled_.empty()) Settle();
  if (!held_.empty() || reserved_ > 0 || settling_ > 0 || claiming_ || !settled_.empty()) return;
  EndDrain();
}

void Deliverer::EndDrain() {
  drain_done_ = true;
  drain_timer_.Stop();
  loop_.Post(std::exchange(drained_, [] {}));
}

}  // namespace vedette::delivery
