#include <cstring>
#include <string_view>

#include "base/crypto.h"
#include "store/idempotency.h"
#include "store/sql.h"

namespace vedette::store {
namespace {

std::int64_t LockNumber(const base::Uuid& org_id, std::string_view key) {
  std::string text(org_id.bytes.begin(), org_id.bytes.end());
  const std::string hash = base::Sha256(text.append(key));
  std::int64_t number = 0;
  std::memcpy(&number, hash.data(), sizeof number);
  return number;
}

}  // namespace

std::optional<KeyUse> FindKeyUse(Transaction& tx, const base::Uuid& org_id,
                                 const Idempotency& idempotency) {
  const auto found = tx.Exec<"idempotency_get">("org_id"_a = org_id, "key"_a = idempotency.key,
                                                "kept_h"_a = idempotency.kept.count());
  if (found.empty()) return std::nullopt;
  KeyUse use;
  std::string body_sha256;
  std::optional<int> row_count;
  Columns(found[0]).Into("body_sha256"_a = BytesInto{&body_sha256},
                         "monitor_id"_a = &use.monitor_id, "answer"_a = &use.answer_json,
                         "row_count"_a = &row_count, "job_id"_a = &use.job_id,
                         "workflow_id"_a = &use.workflow_id);
  use.row_count = row_count.value_or(0);
  if (body_sha256 != idempotency.body_sha256) use.kind = KeyUse::Kind::kOtherRequest;
  return use;
}

std::optional<KeyUse> CheckIdempotency(Transaction& tx, const base::Uuid& org_id,
                                       const Idempotency& idempotency) {
  if (auto first = FindKeyUse(tx, org_id, idempotency)) return first;
  const auto locked =
      tx.Exec<"idempotency_lock">("lock_number"_a = LockNumber(org_id, idempotency.key));
  if (!ReadOne<bool>(locked)) return KeyUse{.kind = KeyUse::Kind::kInProgress};
  tx.Exec<"idempotency_expire">("org_id"_a = org_id, "key"_a = idempotency.key,
                                "kept_h"_a = idempotency.kept.count());
  return FindKeyUse(tx, org_id, idempotency);  // done since it was looked for
}

void StoreMonitorKey(Transaction& tx, const base::Uuid& org_id, const Idempotency& idempotency,
                     const base::Uuid& monitor_id, const std::string& answer_json,
                     std::size_t row_count) {
  tx.Exec<"idempotency_insert">("org_id"_a = org_id, "key"_a = idempotency.key,
                                "body_sha256"_a = Bytea(idempotency.body_sha256),
                                "monitor_id"_a = monitor_id, "answer"_a = answer_json,
                                "row_count"_a = row_count, "job_id"_a = std::nullopt,
                                "workflow_id"_a = std::nullopt);
}

void StoreJobKey(Transaction& tx, const base::Uuid& org_id, const Idempotency& idempotency,
                 const base::Uuid& job_id, const std::string& answer_json) {
  tx.Exec<"idempotency_insert">("org_id"_a = org_id, "key"_a = idempotency.key,
                                "body_sha256"_a = Bytea(idempotency.body_sha256),
                                "monitor_id"_a = std::nullopt, "answer"_a = answer_json,
                                "row_count"_a = std::nullopt, "job_id"_a = job_id,
                                "workflow_id"_a = std::nullopt);
}

void StoreWorkflowKey(Transaction& tx, const base::Uuid& org_id, const Idempotency& idempotency,
                      const base::Uuid& workflow_id, const std::string& answer_json) {
  tx.Exec<"idempotency_insert">("org_id"_a = org_id, "key"_a = idempotency.key,
                                "body_sha256"_a = Bytea(idempotency.body_sha256),
                                "monitor_id"_a = std::nullopt, "answer"_a = answer_json,
                                "row_count"_a = std::nullopt, "job_id"_a = std::nullopt,
                                "workflow_id"_a = workflow_id);
}

}  // namespace vedette::store
