#pragma once

#include <chrono>

#include "base/uuid.h"
#include "domain/job/job.h"

namespace vedette::store {

// The right to work on one thing until the database's clock reaches the lease's end: a chunk, a
// delivery. `token` was written into its row by the claim, and every claim makes a new one;
// whatever is done under the lease names both, and takes effect only while the row has this token.
struct Lease {
  base::Uuid id;  // of the thing
  base::Uuid token;

  bool operator==(const Lease&) const = default;
};

// A lease that is given back before its end, and when its work is due again: at once, or after
// `delay`.
struct GiveBack {
  Lease lease;
  std::chrono::milliseconds delay{};
  domain::JobWait waits_for = domain::JobWait::kUntold;  // what clients are told meanwhile
};

// How much of an organisation's due work a claim takes: chunks in their order until they have
// `rows_max` rows, the chunk that reaches it included.
struct ClaimShare {
  base::Uuid org_id;
  int chunks_max = 0;
  int rows_max = 0;
};

}  // namespace vedette::store
