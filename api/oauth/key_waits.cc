#include "api/oauth/key_waits.h"

#include <utility>

namespace vedette::api {

std::shared_ptr<void> KeyWaits::Enter(const base::Uuid& client_id, std::function<void()> then) {
  const std::lock_guard lock(mutex_);
  const auto [it, first] = waiting_.try_emplace(client_id);
  if (!first) {
    it->second.push_back(std::move(then));
    return nullptr;
  }
  // The pointer is none to anything: what counts is that its deleter runs.
  return {this, [this, client_id](void*) { Leave(client_id); }};
}

void KeyWaits::Leave(const base::Uuid& client_id) {
  std::vector<std::function<void()>> joined;
  {
    const std::lock_guard lock(mutex_);
    joined = std::move(waiting_.extract(client_id).mapped());
  }
  for (const auto& then : joined) then();
}

}  // namespace vedette::api
