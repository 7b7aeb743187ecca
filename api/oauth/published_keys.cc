#include "api/oauth/published_keys.h"

#include <utility>

#include "rest/serve.h"
#include "store/accounts/client_keys.h"

namespace vedette::api {
namespace {

KeyReport Store(Call& call, const KeyOrder& order, store::FetchFence fence,
                const KeyFetcher::Outcome& outcome) {
  if (outcome.kind == KeyFetcher::Outcome::Kind::kBusy) {
    store::AbandonKeyFetch(call.session, order.client_id, fence);
    return {KeyReport::Kind::kBusy, {}, outcome.text};
  }
  std::string error = outcome.text;
  if (outcome.kind == KeyFetcher::Outcome::Kind::kCame) {
    auto read = domain::ReadJwks(outcome.text, call.parts.config.jwks.keys_max);
    if (auto* reports = std::get_if<std::vector<domain::JwkReport>>(&read)) {
      store::StoreKeys(call.session, order.client_id, fence, domain::UsableKeys(*reports));
      return {KeyReport::Kind::kStored, std::move(*reports), {}};
    }
    error = std::get<domain::JwtFault>(read).reason;
  }
  store::StoreKeyFailure(call.session, order.client_id, fence, error);
  return {KeyReport::Kind::kFailed, {}, std::move(error)};
}

}  // namespace

bool FetchPublishedKeys(Call& call, const KeyOrder& order, std::chrono::milliseconds retry,
                        std::shared_ptr<void> token, AfterFetch then) {
  const auto fence = store::BeginKeyFetch(call.session, order.client_id, retry);
  if (!fence) return false;
  call.parts.key_fetcher.Fetch(
      order.org_id, order.url,
      [parked = ParkedCall(call), order, fence = *fence, token = std::move(token),
       then = std::move(then)](KeyFetcher::Outcome outcome) {
        rest::Serve(parked.parts.pool, order.org_id, parked.answer,
                    [parked, order, fence, token, then,
                     outcome = std::move(outcome)](store::Session& session) {
                      Call again = parked.On(session);
                      const KeyReport report = Store(again, order, fence, outcome);
                      return then(again, report);
                    });
      });
  return true;
}

}  // namespace vedette::api
