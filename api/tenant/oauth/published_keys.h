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
  // A fetch of this process, held by the request that makes it. It ends with the last copy at the
  // latest, which may outlive the answer.
  class Fetch {
   public:
    Fetch(KeyWaits& waits, const base::Uuid& client_id) : waits_(waits), client_id_(client_id) {}
    ~Fetch() { End(); }
    Fetch(const Fetch&) = delete;
    Fetch& operator=(const Fetch&) = delete;

    // Those who wait run; a request that comes from now on makes a fetch of its own.
    void End();

   private:
    KeyWaits& waits_;
    const base::Uuid client_id_;
    std::once_flag ended_;
  };

  // The first to come for a client gets a fetch to make. The others get null, and their `then` runs
  // when that has ended: what came is stored, or it was not made. This object must outlive the
  // fetches.
  std::shared_ptr<Fetch> Enter(const base::Uuid& client_id, std::function<void()> then);

 private:
  std::mutex mutex_;
  std::map<base::Uuid, std::vector<std::function<void()>>> waiting_;  // guarded by mutex_
};

// Fetches the keys that an OAuth client publishes, for a call of the API. Pool's threads.

// Gives the reply, once the report is stored.
using AfterFetch = std::function<rest::Handled(Call&, const rest::KeyReport&)>;

// Makes the fetch of `fence` and parks the answer (api/kit/published_keys.h); `then` runs in the
// turn of the organisation. `fetch`, where others may wait for it, ends before that.
rest::Parked FetchPublishedKeys(Call& call, const rest::KeyOrder& order, store::FetchFence fence,
                                std::shared_ptr<KeyWaits::Fetch> fetch, AfterFetch then);

}  // namespace vedette::api
