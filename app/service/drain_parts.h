#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>

#include "base/event_loop.h"

namespace vedette::app {

// Drains parts of `loop` at the same time and waits for all of them; those that are null are not
// there. Not on the loop thread.
template <typename... Parts>
void DrainParts(base::EventLoop& loop, Parts*... parts) {
  struct Left {
    std::mutex mutex;
    std::condition_variable changed;
    int parts = 0;  // guarded by mutex
  };
  auto left = std::make_shared<Left>();
  left->parts = ((parts != nullptr ? 1 : 0) + ...);
  const auto drain = [left](auto* part) {
    if (part == nullptr) return;
    part->Drain([left] {
      std::lock_guard lock(left->mutex);
      --left->parts;
      left->changed.notify_one();
    });
  };
  loop.Post([drain, parts...] { (drain(parts), ...); });
  std::unique_lock lock(left->mutex);
  left->changed.wait(lock, [&] { return left->parts == 0; });
}

}  // namespace vedette::app
