#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/kit/answer.h"
#include "base/clock.h"
#include "base/uuid.h"
#include "domain/auth/jwk_set.h"
#include "store/accounts/oauth_clients.h"
#include "store/async.h"

namespace vedette::rest {

// Fetches the keys that an OAuth client publishes. The URL is a tenant's: only public addresses are
// reached (G9), nothing is redirected, and time and bytes are limited. Built by app.
class KeyFetcher {
 public:
  struct Outcome {
    enum class Kind {
      kCame,
      kFailed,
      kBusy,  // not begun: too many fetches are under way, of this organisation or of all
    };
    Kind kind = Kind::kFailed;
    std::string text;  // kCame: what the URL answered; else a sentence for the client's owner
  };

  virtual ~KeyFetcher() = default;

  // Returns at once; `done` runs exactly once, on any thread, within the fetch's timeout and a
  // little. `org_id`: whose share of the fetches it takes.
  virtual void Fetch(const base::Uuid& org_id, std::string url,
                     std::function<void(Outcome)> done) = 0;
};

// Fetches the keys that an OAuth client publishes, stores them and shows what became of them, for
// the client's owner and for the operator alike.

struct KeyOrder {
  base::Uuid client_id;
  base::Uuid org_id;
  std::string url;
};

struct KeyReport {
  enum class Kind {
    kStored,  // at least one of them can be used
    kFailed,  // also where none can be used; the keys that were stored before stay
    kBusy,    // not made: too many fetches are under way in this process
  };
  Kind kind = Kind::kFailed;
  std::vector<domain::JwkReport> keys;  // of a set that could be read: usable or not
  std::string error;                    // otherwise: a sentence for the client's owner
};

// What of the process fetches need. All of it must outlive the request.
struct KeyFetchDependencies {
  store::Pool& pool;
  KeyFetcher& fetcher;
  int keys_max;  // of one set
};

// Gives the reply, once the report is stored.
using AfterKeyFetch = std::function<Handled(store::Session&, const KeyReport&)>;

// Makes the fetch of `fence`, which the caller has begun (store/accounts/oauth_clients.h), and
// parks the answer: `then` runs exactly once, on the pool and in the turn of `turn`, unless the
// database or the queue refuses, which is answered.
Parked FetchKeys(const KeyFetchDependencies& parts, const std::shared_ptr<Answer>& answer,
                 const std::optional<base::Uuid>& turn, const KeyOrder& order,
                 store::FetchFence fence, AfterKeyFetch then);

// The answer of validate-jwks: each key of the set, whether it can be used, and why not. A 503
// where the fetch was not made.
Reply KeyReportReply(const KeyReport& report, base::Timestamp now);
Reply NoKeysUrl();  // 409: the client's keys are uploaded

}  // namespace vedette::rest
