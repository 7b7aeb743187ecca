#pragma once

#include <functional>
#include <memory>

#include "api/call.h"
#include "rest/published_keys.h"

// Fetches the keys that an OAuth client publishes, for a call of the API. Pool's threads.
namespace vedette::api {

// Gives the reply, once the report is stored.
using AfterFetch = std::function<rest::Handled(Call&, const rest::KeyReport&)>;

// Makes the fetch of `fence` and parks the answer (rest/published_keys.h); `then` runs in the turn
// of the organisation. `token` is kept until then.
rest::Parked FetchPublishedKeys(Call& call, const rest::KeyOrder& order, store::FetchFence fence,
                                std::shared_ptr<void> token, AfterFetch then);

}  // namespace vedette::api
