#include "worker/services/request_room.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace vedette::worker {

using std::chrono::milliseconds;

struct RequestRoom::Wait {
  std::optional<base::Timer> timer{};
  std::chrono::nanoseconds began{};
  std::function<void(std::optional<milliseconds>)> then{};
};

RequestRoom::RequestRoom(base::EventLoop& loop, base::ByteBudget& budget, const base::Uuid& org)
    : loop_(loop), held_(budget.Open(org)) {}

RequestRoom::~RequestRoom() = default;

bool RequestRoom::Take(std::size_t bytes, milliseconds wait_max,
                       std::function<void(std::optional<milliseconds>)> then) {
  base::Assert(loop_.InLoopThread(), "room for a request is taken on the loop's thread");
  base::Assert(wait_ == nullptr, "one request waits for room at a time");
  const std::size_t held = held_.bytes();
  if (bytes <= held) return true;
  wait_ = std::make_shared<Wait>();
  // The bytes may be given back on any thread, and by the code that destroys this.
  const bool taken = held_.Take(bytes - held, [this, &loop = loop_, weak = std::weak_ptr(wait_)] {
    loop.Post([this, weak] {
      const auto wait = weak.lock();
      if (wait == nullptr) return;
      End(std::chrono::floor<milliseconds>(clock_.SinceBoot() - wait->began));
    });
  });
  if (taken) {
    wait_.reset();
    return true;
  }
  wait_->began = clock_.SinceBoot();
  wait_->then = std::move(then);
  wait_->timer.emplace(loop_, [this] { End(std::nullopt); });
  wait_->timer->Start(std::max(wait_max, milliseconds(1)));
  return false;
}

void RequestRoom::End(std::optional<milliseconds> waited) {
  const auto wait = std::exchange(wait_, nullptr);
  if (wait == nullptr) return;
  wait->then(waited);  // the last thing: it may destroy this
}

}  // namespace vedette::worker
