#include "delivery/lanes.h"

#include <algorithm>
#include <utility>

namespace vedette::delivery {
namespace {

// A lane holds this many times what it may have under way: that, and what waits.
constexpr std::size_t kHeldPerInFlight = 4;
// Deliveries of a prompt receiver that are held for each attempt it may have under way: as many as
// it answers in kHeldFor, one after the other. So the lane holds much of one that answers at once,
// in few claims, and has room for many that take their time.
constexpr int kHeldPerReceiverMax = 32;
constexpr std::chrono::milliseconds kHeldFor{500};
// The share of the newest answer in what a receiver's answers take.
constexpr int kSmoothing = 8;
// Under way to a receiver that nobody knows yet: its first answer decides.
constexpr int kNewReceiverMax = 2;
// Receivers that are remembered; above it, idle ones are forgotten at once.
constexpr std::size_t kReceiversKnownMax = 100000;

// The part of a lane that an organisation leaves free when it is alone there.
constexpr double kReserve = 0.1;

void OneLess(const base::Uuid& org_id, std::map<base::Uuid, std::size_t>* receivers) {
  const auto it = receivers->find(org_id);
  if (--it->second == 0) receivers->erase(it);
}

std::size_t HeldMax(int in_flight_max) {
  return kHeldPerInFlight * static_cast<std::size_t>(in_flight_max);
}

}  // namespace

Lanes::Lane::Lane(int in_flight_max)
    : in_flight(static_cast<std::size_t>(in_flight_max), kReserve),
      held(HeldMax(in_flight_max), kReserve) {}

Lanes::Lanes(const LaneLimits& limits)
    : limits_(limits), prompt_(limits.in_flight_max), slow_(limits.slow_in_flight_max) {}

Lanes::Lane& Lanes::LaneOf(const Receiver& receiver) {
  return receiver.pace == Pace::kPrompt ? prompt_ : slow_;
}

// Organisations share the slow lane equally, and the slow receivers of one share its part equally.
int Lanes::CapOf(const Receiver& receiver) const {
  switch (receiver.pace) {
    case Pace::kPrompt:
      return limits_.per_receiver_max;
    case Pace::kNew:
      return std::min(kNewReceiverMax, limits_.per_receiver_max);
    case Pace::kSlow:
      break;
  }
  const auto found = slow_.receivers.find(receiver.org_id);
  const std::size_t receivers = found == slow_.receivers.end() ? 1 : found->second;
  const std::size_t orgs = std::max<std::size_t>(slow_.receivers.size(), 1);
  return std::clamp(limits_.slow_in_flight_max / static_cast<int>(orgs * receivers), 1,
                    limits_.per_receiver_max);
}

Lanes::ReceiverMap::value_type& Lanes::Use(const base::Uuid& receiver_id) {
  auto& entry = *receivers_.try_emplace(receiver_id).first;
  entry.second.used = true;
  return entry;
}

Lanes::ReceiverMap::value_type& Lanes::Use(const base::Uuid& org_id,
                                           const base::Uuid& receiver_id) {
  auto& entry = Use(receiver_id);
  if (entry.second.held() == 0) entry.second.org_id = org_id;
  return entry;
}

// Before a receiver holds one more, and after it holds one less.
void Lanes::Enter(const Receiver& receiver) {
  Lane& lane = LaneOf(receiver);
  lane.held.Take(receiver.org_id);
  if (receiver.held() == 0) ++lane.receivers[receiver.org_id];
}

void Lanes::Leave(const Receiver& receiver) {
  Lane& lane = LaneOf(receiver);
  lane.held.GiveBack(receiver.org_id);
  if (receiver.held() == 0) OneLess(receiver.org_id, &lane.receivers);
}

int Lanes::HeldMaxOf(const Receiver& receiver) const {
  const bool prompt = receiver.pace == Pace::kPrompt;
  return CapOf(receiver) * (prompt ? receiver.held_per_in_flight : kHeldPerReceiverMin);
}

// In steps of two, of which one up is taken later than the same one down, so that they are few.
void Lanes::NoteTook(std::chrono::microseconds took, Receiver* receiver) {
  int& held = receiver->held_per_in_flight;
  const int before = held;
  const auto known = receiver->took;
  receiver->took = known.count() == 0 ? took : known + (took - known) / kSmoothing;
  while (held > kHeldPerReceiverMin && held * receiver->took > kHeldFor) held /= 2;
  while (held < kHeldPerReceiverMax && 4 * held * receiver->took <= kHeldFor) held *= 2;
  if (held != before && receiver->pace == Pace::kPrompt) prompt_receivers_.reset();
}

bool Lanes::Reserve(const base::Uuid& org_id, const base::Uuid& receiver_id) {
  auto& [id, receiver] = Use(org_id, receiver_id);
  const Lane& lane = LaneOf(receiver);
  const auto most = static_cast<std::size_t>(HeldMaxOf(receiver));
  if (receiver.failures >= limits_.failures_max || receiver.held() >= most ||
      !lane.held.MayTake(org_id)) {
    return false;
  }
  Enter(receiver);
  ++receiver.reserved;
  return true;
}

void Lanes::Cancel(const base::Uuid& receiver_id) {
  Receiver& receiver = Use(receiver_id).second;
  --receiver.reserved;
  Leave(receiver);
}

void Lanes::Add(const base::Uuid& org_id, const base::Uuid& receiver_id,
                const base::Uuid& delivery_id, bool reserved) {
  auto& entry = Use(org_id, receiver_id);
  Receiver& receiver = entry.second;
  if (reserved) {
    --receiver.reserved;
  } else {
    Enter(receiver);
  }
  receiver.waiting.push_back(delivery_id);
  NoteFull(entry);
  Queue(entry);
}

void Lanes::NoteFull(const ReceiverMap::value_type& entry) {
  const auto& [id, receiver] = entry;
  const int enough = receiver.pace == Pace::kPrompt ? limits_.per_receiver_max : 1;
  if (static_cast<int>(receiver.waiting.size()) >= enough) {
    full_.insert(id);
  } else {
    full_.erase(id);
  }
}

void Lanes::Queue(ReceiverMap::value_type& entry) {
  auto& [id, receiver] = entry;
  if (receiver.queued || receiver.waiting.empty() || receiver.in_flight >= CapOf(receiver)) return;
  receiver.queued = true;
  LaneOf(receiver).queue.Push(receiver.org_id, id);
}

std::optional<base::Uuid> Lanes::Next() {
  for (Lane* lane : {&prompt_, &slow_}) {
    const auto may = [lane](const base::Uuid& org_id, const base::Uuid&) {
      return lane->in_flight.MayTake(org_id);
    };
    while (!lane->in_flight.full()) {
      const auto receiver_id = lane->queue.PopIf(may);
      if (!receiver_id) break;
      const auto found = receivers_.find(*receiver_id);
      if (found == receivers_.end() || &LaneOf(found->second) != lane) continue;  // it moved
      Receiver& receiver = found->second;
      receiver.queued = false;
      if (receiver.waiting.empty() || receiver.in_flight >= CapOf(receiver)) continue;
      const base::Uuid delivery_id = receiver.waiting.front();
      receiver.waiting.pop_front();
      NoteFull(*found);
      ++receiver.in_flight;
      lane->in_flight.Take(receiver.org_id);
      Queue(*found);
      return delivery_id;
    }
  }
  return std::nullopt;
}

void Lanes::SetPace(ReceiverMap::value_type& entry, Pace pace) {
  Receiver& receiver = entry.second;
  if (receiver.pace == pace) return;
  Lane& from = LaneOf(receiver);
  if ((receiver.pace == Pace::kPrompt) != (pace == Pace::kPrompt)) prompt_receivers_.reset();
  receiver.pace = pace;
  Lane& to = LaneOf(receiver);
  if (&from != &to) {
    const base::Uuid& org_id = receiver.org_id;
    const auto in_flight = static_cast<std::size_t>(receiver.in_flight);
    from.in_flight.GiveBack(org_id, in_flight);
    to.in_flight.Take(org_id, in_flight);
    from.held.GiveBack(org_id, receiver.held());
    to.held.Take(org_id, receiver.held());
    if (receiver.held() > 0) {
      OneLess(org_id, &from.receivers);
      ++to.receivers[org_id];
    }
    receiver.queued = false;
  }
  NoteFull(entry);
  Queue(entry);
}

void Lanes::Overdue(const base::Uuid& receiver_id) {
  auto& entry = Use(receiver_id);
  ++entry.second.overdue;
  SetPace(entry, Pace::kSlow);
}

std::vector<base::Uuid> Lanes::Ended(const base::Uuid& receiver_id, domain::ReceiverState state,
                                     bool was_overdue, std::chrono::microseconds took) {
  auto& entry = Use(receiver_id);
  Receiver& receiver = entry.second;
  LaneOf(receiver).in_flight.GiveBack(receiver.org_id);
  --receiver.in_flight;
  if (was_overdue) --receiver.overdue;
  Leave(receiver);
  if (state == domain::ReceiverState::kWorks) receiver.failures = 0;
  if (state == domain::ReceiverState::kFails) ++receiver.failures;
  if (state != domain::ReceiverState::kUnknown) {
    NoteTook(took, &receiver);
    SetPace(entry, was_overdue || receiver.overdue > 0 ? Pace::kSlow : Pace::kPrompt);
  }
  std::vector<base::Uuid> given_back;
  if (receiver.failures >= limits_.failures_max && !receiver.waiting.empty()) {
    given_back.assign(receiver.waiting.begin(), receiver.waiting.end());
    while (!receiver.waiting.empty()) {
      receiver.waiting.pop_back();
      Leave(receiver);
    }
    NoteFull(entry);
  }
  Queue(entry);
  if (receiver.held() == 0 && receivers_.size() > kReceiversKnownMax) {
    prompt_receivers_.reset();
    receivers_.erase(receiver_id);
  }
  return given_back;
}

std::vector<base::Uuid> Lanes::TakeWaiting() {
  std::vector<base::Uuid> taken;
  for (auto& [id, receiver] : receivers_) {
    while (!receiver.waiting.empty()) {
      taken.push_back(receiver.waiting.front());
      receiver.waiting.pop_front();
      Leave(receiver);
    }
  }
  full_.clear();
  return taken;
}

Lanes::Room Lanes::RoomForClaims() {
  if (!prompt_receivers_) {
    auto receivers = std::make_shared<domain::PromptReceivers>();
    for (const auto& [id, receiver] : receivers_) {
      if (receiver.pace == Pace::kPrompt) receivers->emplace_back(id, HeldMaxOf(receiver));
    }
    prompt_receivers_ = std::move(receivers);
  }
  Room room{prompt_.held, slow_.held, slow_.in_flight};
  room.per_slow_max = kNewReceiverMax;
  room.full.assign(full_.begin(), full_.end());
  room.prompt_receivers = prompt_receivers_;
  return room;
}

bool Lanes::HoldsMuch() const {
  return slow_.held.used() == 0 && 2 * prompt_.held.used() > HeldMax(limits_.in_flight_max);
}

bool Lanes::IsPrompt(const base::Uuid& receiver_id) const {
  const auto found = receivers_.find(receiver_id);
  return found != receivers_.end() && found->second.pace == Pace::kPrompt;
}

void Lanes::ForgetIdle() {
  for (auto it = receivers_.begin(); it != receivers_.end();) {
    if (it->second.held() == 0 && !std::exchange(it->second.used, false)) {
      if (it->second.pace == Pace::kPrompt) prompt_receivers_.reset();
      it = receivers_.erase(it);
    } else {
      ++it;
    }
  }
}

bool ReceiverScan::Scanned(const base::Uuid& next, const std::vector<base::Uuid>& passed_over,
                           std::mt19937_64& random) {
  if (passed_over_ == 0) passed_some_over_ = false;
  for (const base::Uuid& id : passed_over) {
    passed_some_over_ = true;
    // Each of k is kept with the chance of one in k, whatever k will be.
    ++passed_over_;
    if (std::uniform_int_distribution<std::size_t>(1, passed_over_)(random) == 1) next_start_ = id;
  }
  cursor_ = next;
  if (state_ == State::kToTheEnd) {
    if (!next.is_nil()) return true;
    if (!start_.is_nil()) {
      state_ = State::kToTheStart;
      return true;
    }
  } else if (!next.is_nil() && next < start_) {
    return true;
  }
  state_ = State::kToTheEnd;
  start_ = next_start_;
  cursor_ = start_;
  next_start_ = {};
  passed_over_ = 0;
  return false;
}

}  // namespace vedette::delivery
