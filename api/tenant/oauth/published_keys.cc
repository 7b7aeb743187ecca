#include "api/tenant/oauth/published_keys.h"

#include <utility>

#include "config/auth_config.h"
#include "config/parts.h"

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

rest::Parked FetchPublishedKeys(Call& call, const rest::KeyOrder& order, store::FetchFence fence,
                                std::shared_ptr<void> token, AfterFetch then) {
  const Dependencies& parts = call.parts;
  return rest::FetchKeys(
      {parts.pool, parts.key_fetcher, parts.config.jwks.keys_max}, call.answer, order.org_id, order,
      fence,
      [parked = call.On(nullptr), token = std::move(token), then = std::move(then)](
          store::Session& session, const rest::KeyReport& report) {
        Call again = parked.On(&session);
        return then(again, report);
      });
}

}  // namespace vedette::api
