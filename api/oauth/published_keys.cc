#include "api/oauth/published_keys.h"

#include <utility>

#include "config/config.h"

namespace vedette::api {

rest::Parked FetchPublishedKeys(Call& call, const rest::KeyOrder& order, store::FetchFence fence,
                                std::shared_ptr<void> token, AfterFetch then) {
  const Parts& parts = call.parts;
  return rest::FetchKeys(
      {parts.pool, parts.key_fetcher, parts.config.jwks.keys_max}, call.answer, order.org_id, order,
      fence,
      [parked = ParkedCall(call), token = std::move(token), then = std::move(then)](
          store::Session& session, const rest::KeyReport& report) {
        Call again = parked.On(session);
        return then(again, report);
      });
}

}  // namespace vedette::api
