#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/uuid.h"

namespace vedette::store {

class Transaction;  // store/sql.h; only store/ has any

// A request that may be repeated. The key is the organisation's, whatever the route.
struct Idempotency {
  std::string key;
  std::string body_sha256;  // 32 bytes: of what must be equal in a repetition
  std::chrono::hours kept;
};

// Internal to store/: idempotency keys inside the caller's transaction.

// What an idempotency key stands for already.
struct KeyUse {
  enum class Kind {
    kFirst,         // the same request was answered before
    kOtherRequest,  // another request was
    kInProgress,    // a request with this key has not finished
  };
  Kind kind = Kind::kFirst;
  // The answer to the first request, and what it made: one of the three.
  std::optional<base::Uuid> monitor_id;
  std::optional<base::Uuid> job_id;
  std::optional<base::Uuid> workflow_id;
  std::string answer_json;
  int row_count = 0;
};

// What the key stands for where its request is done. It takes no lock.
std::optional<KeyUse> FindKeyUse(Transaction& tx, const base::Uuid& org_id,
                                 const Idempotency& idempotency);

// What the key stands for where it has been used, or is being used. Otherwise the key is this
// transaction's: its lock goes with the transaction, so that a crash frees it. Repetitions of what
// is done take no lock: they would be in each other's way.
std::optional<KeyUse> CheckIdempotency(Transaction& tx, const base::Uuid& org_id,
                                       const Idempotency& idempotency);

// Stores what this transaction made under the key: a monitor with so many rows, a job or a
// workflow.
void StoreMonitorKey(Transaction& tx, const base::Uuid& org_id, const Idempotency& idempotency,
                     const base::Uuid& monitor_id, const std::string& answer_json,
                     std::size_t row_count);
void StoreJobKey(Transaction& tx, const base::Uuid& org_id, const Idempotency& idempotency,
                 const base::Uuid& job_id, const std::string& answer_json);
void StoreWorkflowKey(Transaction& tx, const base::Uuid& org_id, const Idempotency& idempotency,
                      const base::Uuid& workflow_id, const std::string& answer_json);

}  // namespace vedette::store
