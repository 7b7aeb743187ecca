#include "store/accounts/client_keys.h"

#include <utility>

#include "base/base64url.h"
#include "base/json.h"
#include "store/audit_sql.h"
#include "store/sql.h"

namespace vedette::store {
namespace {

std::optional<domain::SetKey> ReadKey(const base::Json& stored) {
  const auto der = base::Base64UrlDecode(stored.value("key", ""));
  if (!der) return std::nullopt;
  auto key = base::PublicKey::FromDer(*der);
  if (!std::holds_alternative<base::PublicKey>(key)) return std::nullopt;
  domain::SetKey read{std::nullopt, std::nullopt, std::get<base::PublicKey>(std::move(key))};
  if (stored.contains("kid")) read.kid = stored.value("kid", "");
  if (stored.contains("alg")) {
    read.algorithm = base::ParseSignatureAlgorithm(stored.value("alg", ""));
    if (!read.algorithm) return std::nullopt;
  }
  return read;
}

}  // namespace

domain::KeyCache PublishedKeys::Cache(std::chrono::milliseconds fetch_max) const {
  domain::KeyCache cache;
  cache.has_keys = fetched_at.has_value();
  cache.fetched_at = fetched_at.value_or(base::Timestamp());
  cache.tried_at = tried_at;
  cache.under_way = tried_at && (!ended_at || *ended_at < *tried_at) && now - *tried_at < fetch_max;
  return cache;
}

std::optional<FetchFence> BeginKeyFetch(Session& session, const base::Uuid& client_id,
                                        std::chrono::milliseconds retry) {
  return InTransaction(session, [&](Transaction& tx) -> std::optional<FetchFence> {
    const auto rows =
        tx.Exec<"client_keys_fetch_begin">("client_id"_a = client_id, "retry_ms"_a = retry.count());
    if (rows.empty()) return std::nullopt;
    return ReadOne<base::Timestamp>(rows);
  });
}

std::optional<FetchFence> BeginKeyFetchByHand(Session& session, const base::Clock& clock,
                                              const base::Uuid& org_id, const base::Uuid& client_id,
                                              AuditEntry audit) {
  audit.target = client_id.ToString();
  audit.org_id = org_id;
  return InTransaction(session, [&](Transaction& tx) -> std::optional<FetchFence> {
    const auto rows = tx.Exec<"client_keys_fetch_begin">("client_id"_a = client_id,
                                                         "retry_ms"_a = std::int64_t{0});
    if (rows.empty()) return std::nullopt;
    InsertAudit(tx, clock, audit);
    return ReadOne<base::Timestamp>(rows);
  });
}

void StoreKeys(Session& session, const base::Uuid& client_id, FetchFence fence,
               const std::vector<domain::SetKey>& keys) {
  InTransaction(session, [&](Transaction& tx) {
    tx.Exec<"client_keys_store">("client_id"_a = client_id, "fence"_a = fence,
                                 "keys"_a = WriteKeySet(keys));
  });
}

void StoreNoKeys(Session& session, const base::Uuid& client_id, FetchFence fence,
                 const std::string& error) {
  InTransaction(session, [&](Transaction& tx) {
    tx.Exec<"client_keys_none">("client_id"_a = client_id, "fence"_a = fence,
                                "keys"_a = WriteKeySet({}), "error"_a = error);
  });
}

void StoreKeyFailure(Session& session, const base::Uuid& client_id, FetchFence fence,
                     const std::string& error) {
  InTransaction(session, [&](Transaction& tx) {
    tx.Exec<"client_keys_fail">("client_id"_a = client_id, "fence"_a = fence, "error"_a = error);
  });
}

void AbandonKeyFetch(Session& session, const base::Uuid& client_id, FetchFence fence) {
  InTransaction(session, [&](Transaction& tx) {
    tx.Exec<"client_keys_abandon">("client_id"_a = client_id, "fence"_a = fence);
  });
}

std::string WriteKeySet(const std::vector<domain::SetKey>& keys) {
  base::Json set = base::Json::array();
  for (const domain::SetKey& key : keys) {
    base::Json stored{{"key", base::Base64UrlEncode(key.key.Der())}};
    if (key.kid) stored["kid"] = *key.kid;
    if (key.algorithm) stored["alg"] = base::SignatureAlgorithmName(*key.algorithm);
    set.push_back(std::move(stored));
  }
  return base::DumpJson(set);
}

std::vector<domain::SetKey> ReadKeySet(const std::string& text) {
  std::vector<domain::SetKey> keys;
  for (const base::Json& stored : base::ParseJsonOrThrow(text)) {
    if (auto key = ReadKey(stored)) keys.push_back(std::move(*key));
  }
  return keys;
}

}  // namespace vedette::store
