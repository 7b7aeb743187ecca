#include "delivery/deliverer.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "config/delivery_config.h"
#include "config/parts.h"
#include "config/role_config.h"
#include "net/url.h"

namespace vedette::delivery {
namespace {

// Settlements under way at once: the next one gathers while these commit.
constexpr std::size_t kUnderWayMax = 4;
constexpr base::Backoff kRetries{std::chrono::milliseconds(100), std::chrono::milliseconds(5000)};

using Attempts = std::vector<store::AttemptRecord>;
using Changes = std::vector<store::BreakerChange>;
using AttemptBatcher = lease::Batcher<store::AttemptRecord, Changes>;

lease::BatcherOptions OptionsOf(const config::DeliveryConfig& config) {
  return {.delayed = "attempts could not be recorded yet",
          .refused = "attempts could not be recorded",
          .delay = config.settle_delay_ms,
          .weight_max = static_cast<std::size_t>(config.settle_max),
          .batches_max = kUnderWayMax,
          .backoff = kRetries};
}

AttemptBatcher::Job Settlement(const Attempts& attempts, bool again,
                               const config::DeliveryConfig& config) {
  return [attempts, again, failures = config.breaker_failures,
          interval = config.breaker_interval_ms](store::Session& session) {
    return store::SettleAttempts(session, attempts, again, failures, interval);
  };
}

// The class of the last failure of the receiver among them.
std::string FailureClass(const Attempts& attempts, const base::Uuid& endpoint_id) {
  std::string error;
  for (const store::AttemptRecord& attempt : attempts) {
    if (attempt.notification.endpoint_id != endpoint_id || !attempt.error) continue;
    error = domain::ErrorClass(*attempt.error);
  }
  return error;
}

void Note(const Attempts& attempts, const Changes& changes, const base::Logger& log) {
  for (const store::BreakerChange& change : changes) {
    const std::string id = change.endpoint_id.ToString();
    const std::string org = change.org_id.ToString();
    if (!change.opened) {
      log.Info("a receiver works again", {{"receiver", change.receiver}, {"id", id}, {"org", org}});
      continue;
    }
    log.Info("a receiver fails: it is tried once an interval",
             {{"receiver", change.receiver},
              {"id", id},
              {"org", org},
              {"class", FailureClass(attempts, change.endpoint_id)}});
  }
}

}  // namespace

Settler::Settler(base::EventLoop& loop, store::Pool& pool, const base::Clock& clock,
                 const config::DeliveryConfig& config, base::Logger log,
                 std::function<void()> settled)
    : batcher_(
          loop, pool, clock, log, OptionsOf(config),
          {.begin = [&config](const Attempts& attempts,
                              bool again) { return Settlement(attempts, again, config); },
           .written =
               [settled, log](const Attempts& attempts, const Changes& changes, bool /*again*/) {
                 Note(attempts, changes, log);
                 settled();
               },
           .lost = [settled](const store::AttemptRecord& /*attempt*/,
                             const lease::Loss& /*loss*/) { settled(); }}) {}

void Settler::Add(store::AttemptRecord attempt) {
  batcher_.Add(std::move(attempt));
}

void Settler::Flush() {
  batcher_.Flush();
}

namespace {

using domain::AttemptEnd;

// Receivers visited in one scan, which remembers where it stopped.
constexpr int kReceiversPerScanMax = 200;
// What is known of a receiver's pace is forgotten when nothing was sent to it for this long.
constexpr std::chrono::minutes kForgetAfter{30};

double Uniform(std::mt19937_64& random) {
  return std::uniform_real_distribution<double>(0, 1)(random);
}

// The name of an end in the metric.
std::string_view OutcomeName(AttemptEnd end) {
  switch (end) {
    case AttemptEnd::kDelivered:
      return "delivered";
    case AttemptEnd::kRetry:
      return "retried";
    case AttemptEnd::kDead:
      break;
  }
  return "dead";
}

// The same of a channel's e-mail, by what its relay said; nothing for what is no e-mail, and for
// what was not tried.
std::optional<std::string_view> MailOutcomeName(const domain::Notification& notification,
                                                const SendResult& result) {
  const auto* check = std::get_if<domain::CheckNotice>(&notification.about);
  if (check == nullptr || !check->recipient_id || !result.tried) return std::nullopt;
  if (result.end) return *result.end == AttemptEnd::kDelivered ? "sent" : "bounced";
  return result.status_code ? "refused" : "unreachable";
}

// What never came to a request says nothing about the receiver, and one whose answer decides works.
domain::ReceiverState ReceiverOf(const SendResult& result) {
  if (result.tried && result.end) return domain::ReceiverState::kWorks;
  return result.tried ? ReceiverAfter(result.status_code) : domain::ReceiverState::kUnknown;
}

// Without what was only needed to send it: batches of records are copied.
store::AttemptRecord RecordOf(store::LeasedDelivery delivery, base::Timestamp attempted_at,
                              const NextStep& next, SendResult result) {
  store::AttemptRecord record;
  record.end = next.end;
  record.notification = std::move(delivery.notification);
  record.notification.url = {};
  if (auto* check = std::get_if<domain::CheckNotice>(&record.notification.about)) {
    check->metadata.reset();
  }
  record.lease_token = delivery.lease_token;
  record.attempt = delivery.attempts + 1;
  record.attempted_at = attempted_at;
  record.duration = result.duration;
  record.status_code = result.status_code;
  record.receiver = ReceiverOf(result);
  record.error = std::move(result.error);
  if (!result.answer.empty()) record.answer = std::move(result.answer);
  record.retry_in = next.wait;
  return record;
}

}  // namespace

Deliverer::Deliverer(base::EventLoop& loop, store::Pool& pool, net::HttpClient& client,
                     const base::Clock& clock, metrics::Metrics& metrics,
                     const config::Config& config, base::Logger log)
    : clock_(clock),
      metrics_(metrics),
      config_(config),
      log_(log),
      sender_(loop, pool, client, clock, config, log),
      rules_{{config.delivery.backoff_first_ms, config.delivery.backoff_max_ms,
              config.delivery.backoff_jitter},
             config.delivery.backoff_window_ms,
             config.delivery.breaker_age_max_ms},
      random_(std::random_device{}()),
      lease_token_(base::Uuid::V4()),
      lanes_({config.delivery.in_flight_max, config.delivery.slow_in_flight_max,
              config.delivery.in_flight_per_endpoint_max, config.delivery.breaker_failures}),
      claims_(
          loop, pool, log,
          {.failed = "claiming deliveries failed",
           .poll = config.delivery.poll_ms,
           .random = Uniform(random_)},
          {.begin = [this] { return Claim(); },
           .finish = [this](store::DeliveryClaim claim) { return OnClaimed(std::move(claim)); }}),
      leases_(loop, pool, log, config.delivery.lease_ms,
              {.renew = store::RenewDeliveries,
               .give_back = lease::GiveBackAtOnce(store::ReleaseDeliveries),
               .lost = [this](const base::Uuid& id) { OnLeaseLost(id); },
               .given_back = [this] { DrainStep(); },
               .since_boot = [&clock] { return clock.SinceBoot(); }}),
      settler_(loop, pool, clock, config.delivery, log, [this] { OnSettled(); }),
      drain_(loop, config.delivery.drain_timeout_ms,
             {.idle = [this] { return Idle(); },
              .overdue = [this] { OnDrainOverdue(); },
              .abandon =
                  [this] {
                    log_.Warn("draining without the database: leases are left to end",
                              {{"deliveries", leases_.held()}, {"attempts", settler_.gathered()}});
                  }}),
      overdue_timer_(loop, [this] { NoteOverdue(); }),
      forget_timer_(loop, [this] { lanes_.ForgetIdle(); }) {}

void Deliverer::Start() {
  claims_.Start();
  leases_.Start();
  forget_timer_.Start(kForgetAfter, kForgetAfter);
}

void Deliverer::Wake() {
  claims_.Wake();
}

std::optional<base::Uuid> Deliverer::Reserve(const base::Uuid& org_id,
                                             const base::Uuid& endpoint_id) {
  if (drain_.begun() || !lanes_.Reserve(org_id, endpoint_id)) return std::nullopt;
  ++reserved_;
  return lease_token_;
}

void Deliverer::CancelReserved(const base::Uuid& endpoint_id) {
  base::Assert(reserved_ > 0, "what is cancelled was reserved");
  --reserved_;
  lanes_.Cancel(endpoint_id);
  DrainStep();
}

void Deliverer::Take(domain::Notification notification, const base::Uuid& lease_token) {
  base::Assert(reserved_ > 0, "what is taken was reserved");
  --reserved_;
  store::LeasedDelivery delivery;
  delivery.counted_from = notification.created_at;
  delivery.notification = std::move(notification);
  delivery.lease_token = lease_token;
  Hold(std::move(delivery), true);
  Pump();
}

lease::Step<store::DeliveryClaim>::Job Deliverer::Claim() {
  const Lanes::Room room = lanes_.RoomForClaims();
  if (room.prompt.full() && (room.slow.full() || room.slow_in_flight.full())) {
    more_ = true;
    return nullptr;
  }
  const store::DeliveryClaimLimits limits{.endpoints_max = kReceiversPerScanMax,
                                          .per_slow_max = room.per_slow_max,
                                          .held = room.prompt,
                                          .slow_held = room.slow,
                                          .slow_in_flight = room.slow_in_flight,
                                          .breaker_failures = config_.delivery.breaker_failures,
                                          .breaker_interval = config_.delivery.breaker_interval_ms,
                                          .lease = config_.delivery.lease_ms};
  return [limits, cursor = scan_.cursor(), full = room.full, prompt = room.prompt_receivers,
          bounds = bounds_](store::Session& session) {
    return store::ClaimDeliveries(session, cursor, base::Uuid::V4(), limits, full, *prompt,
                                  bounds.get());
  };
}

lease::NextRun Deliverer::OnClaimed(store::DeliveryClaim claim) {
  const bool round_goes_on = scan_.Scanned(claim.next_cursor, claim.passed_over, random_);
  more_ = claim.more || scan_.passed_some_over();
  const bool got = !claim.deliveries.empty();
  for (auto& delivery : claim.deliveries) Hold(std::move(delivery), false);
  Pump();
  const bool again = round_goes_on || (more_ && got && !lanes_.HoldsMuch());
  return again ? lease::kAtOnce : lease::kAtPoll;
}

void Deliverer::Hold(store::LeasedDelivery delivery, bool reserved) {
  const base::Uuid id = delivery.notification.delivery_id;
  const base::Uuid org_id = delivery.notification.org_id;
  const base::Uuid endpoint_id = delivery.notification.endpoint_id;
  leases_.Hold({id, delivery.lease_token}, delivery.notification.read_at);
  // Its lease ended and it was claimed again here: the attempt under way goes on under the new
  // lease, and one that waits keeps its turn.
  if (const auto it = held_.find(id); it != held_.end()) {
    it->second.delivery.lease_token = delivery.lease_token;
    if (it->second.state == Held::State::kLost) it->second.state = Held::State::kWaiting;
    return;
  }
  held_.emplace(id, Held{std::move(delivery)});
  lanes_.Add(org_id, endpoint_id, id, reserved);
}

void Deliverer::OnLeaseLost(const base::Uuid& delivery_id) {
  const auto it = held_.find(delivery_id);
  base::Assert(it != held_.end(), "a lease is kept for what is held");
  if (it->second.state == Held::State::kWaiting) it->second.state = Held::State::kLost;
}

// Starts what may be started; while draining, gives back what no attempt is under way for.
void Deliverer::Pump() {
  if (drain_.begun()) {
    Release(lanes_.TakeWaiting());
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
    if (it == held_.end() || it->second.state != Held::State::kSending) continue;
    it->second.state = Held::State::kOverdue;
    lanes_.Overdue(it->second.delivery.notification.endpoint_id);
  }
  if (started_.empty()) overdue_timer_.Stop();
  Pump();
}

void Deliverer::StartAttempt(const base::Uuid& delivery_id) {
  Held& held = held_.at(delivery_id);
  if (!leases_.IsCertain(delivery_id)) {
    leases_.Drop(delivery_id);
    more_ = true;  // it is claimed again
    const base::Uuid endpoint_id = held.delivery.notification.endpoint_id;
    held_.erase(delivery_id);
    LeaveLane(endpoint_id, domain::ReceiverState::kUnknown, Held::State::kLost, {});
    return;
  }
  held.state = Held::State::kSending;
  started_.emplace_back(clock_.SinceBoot(), delivery_id);
  if (!overdue_timer_.active()) {
    overdue_timer_.Start(config_.delivery.slow_after_ms / 4, config_.delivery.slow_after_ms / 4);
  }
  sender_.Send(
      held.delivery.notification, held.delivery.attempts + 1,
      [this, delivery_id, at = clock_.Now()](SendResult result) {
        OnSent(delivery_id, at, std::move(result));
      },
      [this, delivery_id] { return leases_.IsCertain(delivery_id); });
}

void Deliverer::OnSent(const base::Uuid& delivery_id, base::Timestamp attempted_at,
                       SendResult result) {
  const auto it = held_.find(delivery_id);
  if (it == held_.end()) return;  // given back meanwhile
  const base::Uuid endpoint_id = it->second.delivery.notification.endpoint_id;
  const Held::State was = it->second.state;
  if (result.moved) {  // the next claim finds out where it goes
    Release({delivery_id});
    LeaveLane(endpoint_id, domain::ReceiverState::kUnknown, was, {});
    Pump();
    return;
  }
  store::LeasedDelivery delivery = std::move(it->second.delivery);
  held_.erase(it);
  leases_.Drop(delivery_id);
  NoteAttempt(delivery, result);
  const NextStep next = Decide(delivery, attempted_at, result);
  metrics_.ObserveDeliveryAttempt(result.duration);
  metrics_.AddDeliveries(OutcomeName(next.end), 1);
  if (const auto mail = MailOutcomeName(delivery.notification, result)) {
    metrics_.AddMails(*mail, 1);
  }
  const domain::ReceiverState receiver = ReceiverOf(result);
  const auto took = result.duration;
  settler_.Add(RecordOf(std::move(delivery), attempted_at, next, std::move(result)));
  LeaveLane(endpoint_id, receiver, was, took);
  Pump();
}

// The log has only the host of the address: its path or query may hold a secret of the receiver.
void Deliverer::NoteAttempt(const store::LeasedDelivery& delivery, const SendResult& result) const {
  // Its fields cost more than everything else that is done here for an attempt.
  if (!log_.Writes(base::LogLevel::kDebug)) return;
  const domain::Notification& n = delivery.notification;
  const std::string error = result.error.value_or("");
  log_.Debug("an attempt at a delivery ended", {{"delivery", n.delivery_id.ToString()},
                                                {"org", n.org_id.ToString()},
                                                {"attempt", delivery.attempts + 1},
                                                {"status", result.status_code.value_or(0)},
                                                {"class", domain::ErrorClass(error)},
                                                {"address", net::OriginOf(n.url)}});
}

// When the delivery is tried again, or that it is not.
NextStep Deliverer::Decide(const store::LeasedDelivery& delivery, base::Timestamp attempted_at,
                           const SendResult& result) {
  if (result.end) return {*result.end};
  AttemptContext context{};
  context.attempts = delivery.schedule_attempts + 1;
  context.age =
      std::chrono::duration_cast<std::chrono::milliseconds>(attempted_at - delivery.counted_from);
  context.endpoint_failing = delivery.endpoint_failing;
  context.random = Uniform(random_);
  return NextAttempt(rules_, context, {result.status_code, result.retry_after});
}

// The lane may give back what waits for a receiver that fails.
void Deliverer::LeaveLane(const base::Uuid& endpoint_id, domain::ReceiverState receiver,
                          Held::State was, std::chrono::microseconds took) {
  Release(lanes_.Ended(endpoint_id, receiver, was == Held::State::kOverdue, took));
}

void Deliverer::OnSettled() {
  if (more_ && !lanes_.HoldsMuch()) claims_.Wake();
  DrainStep();
}

// Gives back deliveries that wait no more.
void Deliverer::Release(const std::vector<base::Uuid>& delivery_ids) {
  for (const base::Uuid& id : delivery_ids) held_.erase(id);
  leases_.GiveBack(delivery_ids);
}

void Deliverer::Drain(std::function<void()> done) {
  forget_timer_.Stop();
  claims_.Drain([this] { DrainStep(); });
  drain_.Begin(std::move(done));
  Pump();
  DrainStep();
}

bool Deliverer::Idle() const {
  return held_.empty() && reserved_ == 0 && !claims_.running() && leases_.idle() && settler_.idle();
}

// What is on its way is given back; a duplicate may follow (G3).
void Deliverer::OnDrainOverdue() {
  std::vector<base::Uuid> sending;
  for (const auto& [id, held] : held_) sending.push_back(id);
  Release(sending);
  DrainStep();
}

void Deliverer::DrainStep() {
  if (!drain_.begun()) return;
  if (held_.empty()) settler_.Flush();
  drain_.Check();
}

}  // namespace vedette::delivery
