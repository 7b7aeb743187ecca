#include "api/tenant/oauth/published_keys.h"

#include <utility>

#include "config/auth_config.h"
#include "config/parts.h"

namespace vedette::api {

std::shared_ptr<KeyWaits::Fetch> KeyWaits::Enter(const base::Uuid& client_id,
                                                 std::function<void()> then) {
  const std::lock_guard lock(mutex_);
  const auto [it, first] = waiting_.try_emplace(client_id);
  if (first) return std::make_shared<Fetch>(*this, client_id);
  it->second.push_back(std::move(then));
  return nullptr;
}

void KeyWaits::Fetch::End() {
  std::call_once(ended_, [this] {
    std::vector<std::function<void()>> joined;
    {
      const std::lock_guard lock(waits_.mutex_);
      joined = std::move(waits_.waiting_.extract(client_id_).mapped());
    }
    for (const auto& then : joined) then();
  });
}

rest::Parked FetchPublishedKeys(Call& call, const rest::KeyOrder& order, store::FetchFence fence,
                                std::shared_ptr<KeyWaits::Fetch> fetch, AfterFetch then) {
  const Dependencies& parts = call.parts;
  return rest::FetchKeys(
      {parts.pool, parts.key_fetcher, parts.config.jwks.keys_max}, call.answer, order.org_id, order,
      fence,
      [parked = call.On(nullptr), fetch = std::move(fetch), then = std::move(then)](
          store::Session& session, const rest::KeyReport& report) {
        if (fetch) fetch->End();
        Call again = parked.On(&session);
        return then(again, report);
      });
}

}  // namespace vedette::api
