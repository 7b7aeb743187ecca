#include "delivery/lanes.h"

#include <algorithm>
#include <utility>

namespace vedette::delivery {
namespace {

// A lane holds what is on its way and so many times as much that waits.
constexpr std::size_t kHeldPerInFlight = 4;
// Of a prompt receiver, held for each attempt it may have under way.
constexpr int kHeldPerReceiverInFlight = 16;
// Under way to a receiver that nobody knows yet: its first answer decides.
constexpr int kNewReceiverMax = 2;
// Receivers that are remembered; above it, idle ones are forgotten at once.
constexpr std::size_t kReceiversKnownMax = 100000;

}  // namespace

Lanes::Lanes(const LaneLimits& limits) : limits_(limits) {
  prompt_.in_flight_max = limits.in_flight_max;
  slow_.in_flight_max = limits.slow_in_flight_max;
}

Lanes::Lane& Lanes::LaneOf(const Receiver& receiver) {
  return receiver.pace == Pace::kPrompt ? prompt_ : slow_;
}

// Slow receivers share their lane equally.
int Lanes::CapOf(const Receiver& receiver) const {
  switch (receiver.pace) {
    case Pace::kPrompt:
      return limits_.per_receiver_max;
    case Pace::kNew:
      return std::min(kNewReceiverMax, limits_.per_receiver_max);
    case Pace::kSlow:
      break;
  }
  const auto receivers = static_cast<int>(std::max<std::size_t>(slow_.receivers, 1));
  return std::clamp(slow_.in_flight_max / receivers, 1, limits_.per_receiver_max);
}

std::size_t Lanes::HeldMax(const Lane& lane) const {
  return static_cast<std::size_t>(lane.in_flight_max) * kHeldPerInFlight;
}

Lanes::ReceiverMap::value_type& Lanes::Use(const base::Uuid& receiver_id) {
  auto& entry = *receivers_.try_emplace(receiver_id).first;
  entry.second.used = true;
  return entry;
}

// Before a receiver holds one more, and after it holds one less.
void Lanes::Enter(const Receiver& receiver) {
  Lane& lane = LaneOf(receiver);
  ++lane.held;
  if (receiver.held() == 0) ++lane.receivers;
}

void Lanes::Leave(const Receiver& receiver) {
  Lane& lane = LaneOf(receiver);
  --lane.held;
  if (receiver.held() == 0) --lane.receivers;
}

bool Lanes::Reserve(const base::Uuid& receiver_id) {
  auto& [id, receiver] = Use(receiver_id);
  const Lane& lane = LaneOf(receiver);
  const bool prompt = receiver.pace == Pace::kPrompt;
  const auto most =
      static_cast<std::size_t>(CapOf(receiver) * (prompt ? kHeldPerReceiverInFlight : 2));
  if (receiver.failures >= limits_.failures_max || receiver.held() >= most ||
      lane.held >= HeldMax(lane)) {
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

void Lanes::Add(const base::Uuid& receiver_id, const base::Uuid& delivery_id, bool reserved) {
  auto& entry = Use(receiver_id);
  Receiver& receiver = entry.second;
  if (reserved) {
    --receiver.reserved;
  } else {
    Enter(receiver);
  }
  receiver.waiting.push_back(delivery_id);
  NoteCrowd(entry);
  Queue(entry);
}

void Lanes::NoteCrowd(const ReceiverMap::value_type& entry) {
  const auto& [id, receiver] = entry;
  const int enough = receiver.pace == Pace::kPrompt ? limits_.per_receiver_max : 1;
  if (static_cast<int>(receiver.waiting.size()) >= enough) {
    crowded_.insert(id);
  } else {
    crowded_.erase(id);
  }
}

void Lanes::Queue(ReceiverMap::value_type& entry) {
  auto& [id, receiver] = entry;
  if (receiver.queued || receiver.waiting.empty() || receiver.in_flight >= CapOf(receiver)) return;
  receiver.queued = true;
  LaneOf(receiver).queue.push_back(id);
}

std::optional<base::Uuid> Lanes::Next() {
  for (Lane* lane : {&prompt_, &slow_}) {
    while (lane->in_flight < lane->in_flight_max && !lane->queue.empty()) {
      const auto found = receivers_.find(lane->queue.front());
      lane->queue.pop_front();
      if (found == receivers_.end() || &LaneOf(found->second) != lane) continue;  // it moved
      Receiver& receiver = found->second;
      receiver.queued = false;
      if (receiver.waiting.empty() || receiver.in_flight >= CapOf(receiver)) continue;
      const base::Uuid delivery_id = receiver.waiting.front();
      receiver.waiting.pop_front();
      NoteCrowd(*found);
      ++receiver.in_flight;
      ++lane->in_flight;
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
  if ((receiver.pace == Pace::kPrompt) != (pace == Pace::kPrompt)) prompt_ids_.reset();
  receiver.pace = pace;
  Lane& to = LaneOf(receiver);
  if (&from != &to) {
    from.in_flight -= receiver.in_flight;
    to.in_flight += receiver.in_flight;
    from.held -= receiver.held();
    to.held += receiver.held();
    if (receiver.held() > 0) {
      --from.receivers;
      ++to.receivers;
    }
    receiver.queued = false;
  }
  NoteCrowd(entry);
  Queue(entry);
}

void Lanes::Overdue(const base::Uuid& receiver_id) {
  auto& entry = Use(receiver_id);
  ++entry.second.overdue;
  SetPace(entry, Pace::kSlow);
}

std::vector<base::Uuid> Lanes::Ended(const base::Uuid& receiver_id, End end, bool was_overdue) {
  auto& entry = Use(receiver_id);
  Receiver& receiver = entry.second;
  --LaneOf(receiver).in_flight;
  --receiver.in_flight;
  if (was_overdue) --receiver.overdue;
  Leave(receiver);
  if (end == End::kDelivered) receiver.failures = 0;
  if (end == End::kFailed) ++receiver.failures;
  if (end != End::kNotTried) {
    SetPace(entry, was_overdue || receiver.overdue > 0 ? Pace::kSlow : Pace::kPrompt);
  }
  std::vector<base::Uuid> given_back;
  if (receiver.failures >= limits_.failures_max && !receiver.waiting.empty()) {
    given_back.assign(receiver.waiting.begin(), receiver.waiting.end());
    while (!receiver.waiting.empty()) {
      receiver.waiting.pop_back();
      Leave(receiver);
    }
    NoteCrowd(entry);
  }
  Queue(entry);
  if (receiver.held() == 0 && receivers_.size() > kReceiversKnownMax) {
    prompt_ids_.reset();
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
  crowded_.clear();
  return taken;
}

Lanes::Room Lanes::RoomForClaims() {
  if (!prompt_ids_) {
    auto ids = std::make_shared<std::vector<base::Uuid>>();
    for (const auto& [id, receiver] : receivers_) {
      if (receiver.pace == Pace::kPrompt) ids->push_back(id);
    }
    prompt_ids_ = std::move(ids);
  }
  Room room;
  room.prompt = HeldMax(prompt_) - std::min(HeldMax(prompt_), prompt_.held);
  // A lane whose attempts all hang has no use for more.
  const bool stuck = slow_.in_flight >= slow_.in_flight_max;
  room.slow = stuck ? 0 : HeldMax(slow_) - std::min(HeldMax(slow_), slow_.held);
  room.per_prompt_max = limits_.per_receiver_max * kHeldPerReceiverInFlight;
  room.per_slow_max = kNewReceiverMax;
  room.full.assign(crowded_.begin(), crowded_.end());
  room.prompt_ids = prompt_ids_;
  return room;
}

bool Lanes::IsPrompt(const base::Uuid& receiver_id) const {
  const auto found = receivers_.find(receiver_id);
  return found != receivers_.end() && found->second.pace == Pace::kPrompt;
}

void Lanes::ForgetIdle() {
  for (auto it = receivers_.begin(); it != receivers_.end();) {
    if (it->second.held() == 0 && !std::exchange(it->second.used, false)) {
      if (it->second.pace == Pace::kPrompt) prompt_ids_.reset();
      it = receivers_.erase(it);
    } else {
      ++it;
    }
  }
}

}  // namespace vedette::delivery
