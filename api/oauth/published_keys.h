#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/call.h"
#include "domain/auth/jwk_set.h"

// Fetches the keys that an OAuth client publishes, and stores them. Pool's threads.
namespace vedette::api {

struct KeyOrder {
  base::Uuid client_id;
  base::Uuid org_id;
  std::string url;
};

struct KeyReport {
  enum class Kind {
    kStored,
    kFailed,
    kBusy,  // not made: too many fetches are under way in this process
  };
  Kind kind = Kind::kFailed;
  std::vector<domain::JwkReport> keys;  // kStored: usable or not
  std::string error;                    // otherwise: a sentence for the client's owner
};

// Gives the reply, once the report is stored.
using AfterFetch = std::function<rest::Handled(Call&, const KeyReport&)>;

// Begins a fetch, unless one has begun within `retry` anywhere in the fleet: then it is false, and
// nothing happens. Otherwise the caller parks its answer, and `then` runs exactly once, in the turn
// of the organisation, unless the database or the queue refuses, which is answered. `token` is kept
// until then.
bool FetchPublishedKeys(Call& call, const KeyOrder& order, std::chrono::milliseconds retry,
                        std::shared_ptr<void> token, AfterFetch then);

}  // namespace vedette::api
