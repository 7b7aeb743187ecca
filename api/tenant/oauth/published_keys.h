#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "api/kit/published_keys.h"
#include "api/tenant/call.h"
#include "base/uuid.h"

namespace vedette::api {

// Requests that wait for the keys of an OAuth client while this process fetches them. Each holds a
// connection of the API, which bounds them. Any thread.
class KeyWaits {
 public:
  // The first to come for a client gets a token and makes the fetch. The others get null, and their
  // `then` runs when the last copy of the token goes: the fetch has ended and what came is stored,
  // or it was not made. This object must outlive the tokens.
  std::shared_ptr<void> Enter(const base::Uuid& client_id, std::function<void()> then);

 private:
  void Leave(const base::Uuid& client_id);

  std::mutex mutex_;
  std::map<base::Uuid, std::vector<std::function<void()>>> waiting_;  // guarded by mutex_
};

// Fetches the keys that an OAuth client publishes, for a call of the API. Pool's threads.

// Gives the reply, once the report is stored.
using AfterFetch = std::function<rest::Handled(Call&, const rest::KeyReport&)>;

// Makes the fetch of `fence` and parks the answer (api/kit/published_keys.h); `then` runs in the
// turn of the organisation. `token` is kept until then.
rest::Parked FetchPublishedKeys(Call& call, const rest::KeyOrder& order, store::FetchFence fence,
                                std::shared_ptr<void> token, AfterFetch then);

}  // namespace vedette::api
