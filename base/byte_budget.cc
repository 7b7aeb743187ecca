#include "base/byte_budget.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/fair_queue.h"
#include "base/fair_share.h"

namespace vedette::base {

// Guarded by the budget's mutex, but for `budget` and `org`, which are constant.
struct ByteBudget::Holding::State {
  std::shared_ptr<Impl> budget;
  Uuid org;
  std::size_t bytes = 0;
  std::size_t wanted = 0;  // by the Take that waits; 0 = none does
  std::function<void()> then{};
};

struct ByteBudget::Impl {
  using State = Holding::State;

  const std::size_t total;
  const double reserve;
  mutable std::mutex mutex{};
  // All guarded by mutex. A state in the queue that wants nothing any more was given up.
  FairQueue<Uuid, std::shared_ptr<State>> queue{};
  std::map<Uuid, std::size_t> used_by{};
  std::size_t used = 0;
  std::size_t waiting = 0;
  const State* privileged = nullptr;
  // The part of `used` that the privileged holder has taken where it did not fit. It does not count
  // for the others, because it would eat up the room that is kept for the next organisation (G10).
  std::size_t beyond = 0;

  Impl(std::size_t t, double r) : total(t), reserve(r) {}

  bool FitsShare(const Uuid& org, std::size_t bytes) const {
    const std::size_t counted = used - beyond;
    if (bytes > total || counted > total - bytes) return false;
    const auto it = used_by.find(org);
    const std::size_t held = it == used_by.end() ? 0 : it->second;
    return held == 0 || MayTakeMore(held + bytes, counted + bytes, total, reserve);
  }

  bool Fits(const State& state, std::size_t bytes) const {
    return &state == privileged || FitsShare(state.org, bytes);
  }

  void Add(State& state, std::size_t bytes) {
    if (bytes == 0) return;
    if (&state == privileged && !FitsShare(state.org, bytes)) beyond += bytes;
    state.bytes += bytes;
    used += bytes;
    used_by[state.org] += bytes;
  }

  void Subtract(State& state, std::size_t bytes) {
    bytes = std::min(bytes, state.bytes);
    if (bytes == 0) return;
    const auto it = used_by.find(state.org);
    Assert(used >= bytes && it != used_by.end() && it->second >= bytes,
           "a holding gives back no more than its organisation holds");
    state.bytes -= bytes;
    used -= bytes;
    it->second -= bytes;
    if (it->second == 0) used_by.erase(it);
    if (&state == privileged) beyond = std::min(beyond, state.bytes);
  }

  // Those who wait and may go now. The callbacks run without the lock.
  std::vector<std::function<void()>> Admit() {
    std::vector<std::function<void()>> ready;
    for (;;) {
      auto state = queue.PopIf([this](const Uuid&, const std::shared_ptr<State>& s) {
        return s->wanted == 0 || Fits(*s, s->wanted);
      });
      if (!state && privileged == nullptr) {
        // Everyone who waits is stuck: the next in turn is let through.
        state = queue.Pop();
        if (state && (*state)->wanted > 0) privileged = state->get();
      }
      if (!state) return ready;
      State& s = **state;
      if (s.wanted == 0) continue;
      Add(s, std::exchange(s.wanted, 0));
      Assert(waiting > 0, "a Take that waited was counted as waiting");
      --waiting;
      ready.push_back(std::exchange(s.then, nullptr));
    }
  }
};

ByteBudget::ByteBudget(std::size_t total, double reserve)
    : impl_(std::make_shared<Impl>(total, reserve)) {}

ByteBudget::~ByteBudget() = default;

ByteBudget::Holding ByteBudget::Open(const Uuid& org) {
  auto state = std::make_shared<Holding::State>();
  state->budget = impl_;
  state->org = org;
  return Holding(std::move(state));
}

ByteBudget::Usage ByteBudget::usage() const {
  const std::lock_guard lock(impl_->mutex);
  return {impl_->used, impl_->waiting};
}

std::size_t ByteBudget::total() const {
  return impl_->total;
}

ByteBudget::Holding::Holding(Holding&& other) noexcept : state_(std::move(other.state_)) {}

ByteBudget::Holding& ByteBudget::Holding::operator=(Holding&& other) noexcept {
  if (this != &other) {
    Release();
    state_ = std::move(other.state_);
  }
  return *this;
}

ByteBudget::Holding::~Holding() {
  Release();
}

bool ByteBudget::Holding::Take(std::size_t bytes, std::function<void()> then) {
  Impl& budget = *state_->budget;
  const std::lock_guard lock(budget.mutex);
  // Nobody passes those who wait, but for an organisation that holds nothing yet.
  const bool first = budget.queue.empty() || !budget.used_by.contains(state_->org);
  const bool granted = state_.get() == budget.privileged || (first && budget.Fits(*state_, bytes));
  if (granted) {
    budget.Add(*state_, bytes);
    return true;
  }
  if (budget.privileged == nullptr) {
    budget.privileged = state_.get();
    budget.Add(*state_, bytes);
    return true;
  }
  Assert(state_->wanted == 0, "a holding waits for one Take at a time");
  state_->wanted = bytes;
  state_->then = std::move(then);
  budget.queue.Push(state_->org, state_);
  ++budget.waiting;
  return false;
}

bool ByteBudget::Holding::TryTake(std::size_t bytes) {
  Impl& budget = *state_->budget;
  const std::lock_guard lock(budget.mutex);
  if (!budget.Fits(*state_, bytes)) return false;
  budget.Add(*state_, bytes);
  return true;
}

void ByteBudget::Holding::GiveBack(std::size_t bytes) {
  std::vector<std::function<void()>> ready;
  {
    const std::lock_guard lock(state_->budget->mutex);
    state_->budget->Subtract(*state_, bytes);
    ready = state_->budget->Admit();
  }
  for (const auto& then : ready) then();
}

std::size_t ByteBudget::Holding::bytes() const {
  if (state_ == nullptr) return 0;
  const std::lock_guard lock(state_->budget->mutex);
  return state_->bytes;
}

void ByteBudget::Holding::Release() {
  if (state_ == nullptr) return;
  const auto state = std::exchange(state_, nullptr);
  std::function<void()> dropped;  // destroyed without the lock: it may hold the last of something
  std::vector<std::function<void()>> ready;
  {
    const std::lock_guard lock(state->budget->mutex);
    if (std::exchange(state->wanted, 0) > 0) {
      Assert(state->budget->waiting > 0, "a Take that waits is counted as waiting");
      --state->budget->waiting;
    }
    dropped = std::exchange(state->then, nullptr);
    state->budget->Subtract(*state, state->bytes);
    if (state->budget->privileged == state.get()) state->budget->privileged = nullptr;
    ready = state->budget->Admit();
  }
  for (const auto& then : ready) then();
}

}  // namespace vedette::base
