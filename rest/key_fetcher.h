#pragma once

#include <functional>
#include <string>

#include "base/uuid.h"

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

}  // namespace vedette::rest
