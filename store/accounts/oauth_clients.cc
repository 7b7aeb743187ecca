#include "store/accounts/oauth_clients.h"

#include <map>
#include <utility>

#include "base/crypto.h"
#include "base/json.h"
#include "store/audit.h"
#include "store/sql.h"

namespace vedette::store {
namespace {

// Reads :client_columns: without its keys.
OauthClient ReadClientRow(const pqxx::row& row) {
  OauthClient client;
  Columns(row).Into(
      "id"_a = &client.id, "org_id"_a = &client.org_id, "team_id"_a = &client.team_id,
      "name"_a = &client.name, "disabled"_a = &client.disabled,
      "token_version"_a = &client.token_version, "access_token_ttl_s"_a = &client.token_ttl_s,
      "last_used_at"_a = &client.last_used_at, "created_at"_a = &client.created_at,
      "updated_at"_a = &client.updated_at, "created_by_kind"_a = &client.created_by_kind,
      "created_by_id"_a = &client.created_by_id, "created_by_label"_a = &client.created_by_label,
      "jwks_uri"_a = &client.jwks_uri, "jwks_ended_at"_a = &client.jwks_validated_at,
      "jwks_error"_a = &client.jwks_error);
  return client;
}

std::vector<OauthClient> ReadClients(Transaction& tx, const base::Uuid& org_id,
                                     const std::optional<base::Uuid>& client_id) {
  std::vector<OauthClient> clients;
  std::vector<base::Uuid> ids;
  std::map<base::Uuid, std::size_t> index;
  for (const auto& row :
       tx.Exec<"oauth_clients_read">("org_id"_a = org_id, "client_id"_a = client_id)) {
    clients.push_back(ReadClientRow(row));
    ids.push_back(clients.back().id);
    index[ids.back()] = clients.size() - 1;
  }
  for (const auto& row : tx.Exec<"oauth_client_keys_read">("client_ids"_a = ids)) {
    base::Uuid owner;
    ClientKey key;
    Columns(row).Into("client_id"_a = &owner, "kid"_a = &key.kid, "algorithm"_a = &key.algorithm,
                      "created_at"_a = &key.created_at, "revoked_at"_a = &key.revoked_at);
    clients[index.at(owner)].keys.push_back(std::move(key));
  }
  return clients;
}

// One statement that changes a client, with its audit entry.
template <NameText statement, typename... Args>
bool Change(Session& session, const base::Clock& clock, AuditEntry& audit, const base::Uuid& org_id,
            const base::Uuid& client_id, const Args&... args) {
  audit.target = client_id.ToString();
  audit.org_id = org_id;
  return InTransaction(session, [&](Transaction& tx) {
    if (tx.Exec<statement>("org_id"_a = org_id, "client_id"_a = client_id, args...).empty())
      return false;
    InsertAudit(tx, clock, audit);
    return true;
  });
}

}  // namespace

ClientOutcome CreateClient(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                           const NewClient& order, int clients_max, AuditEntry audit) {
  using Kind = ClientOutcome::Kind;
  const base::Uuid id = base::Uuid::V7(clock);
  audit.target = id.ToString();
  audit.org_id = org_id;
  base::Json detail{{"name", order.name}};
  if (order.jwks_uri) detail["jwks_uri"] = *order.jwks_uri;
  audit.detail = std::move(detail);
  std::optional<domain::PrincipalKind> kind;
  std::optional<base::Uuid> by;
  if (audit.principal) {
    kind = audit.principal->kind;
    by = audit.principal->id;
  }
  const Kind outcome = InTransaction(session, [&](Transaction& tx) {
    if (tx.Exec<"org_exists">("org_id"_a = org_id).empty()) return Kind::kNoOrganisation;
    if (order.team_id &&
        tx.Exec<"team_hold">("org_id"_a = org_id, "team_id"_a = *order.team_id).empty()) {
      return Kind::kNoTeam;
    }
    tx.Exec<"oauth_client_count_lock">("org_id"_a = org_id);
    if (ReadOne<int>(tx.Exec<"oauth_client_count">("org_id"_a = org_id)) >= clients_max)
      return Kind::kTooMany;
    tx.Exec<"oauth_client_insert">(
        "id"_a = id, "org_id"_a = org_id, "team_id"_a = order.team_id, "name"_a = order.name,
        "access_token_ttl_s"_a = order.token_ttl_s, "created_by_kind"_a = kind,
        "created_by_id"_a = by, "created_by_label"_a = audit.actor, "jwks_uri"_a = order.jwks_uri);
    InsertAudit(tx, clock, audit);
    return Kind::kDone;
  });
  return {outcome, id};
}

std::vector<OauthClient> ListClients(Session& session, const base::Uuid& org_id) {
  return InTransaction(session,
                       [&](Transaction& tx) { return ReadClients(tx, org_id, std::nullopt); });
}

std::optional<OauthClient> ReadClient(Session& session, const base::Uuid& org_id,
                                      const base::Uuid& client_id) {
  return InTransaction(session, [&](Transaction& tx) -> std::optional<OauthClient> {
    auto clients = ReadClients(tx, org_id, client_id);
    if (clients.empty()) return std::nullopt;
    return std::move(clients.front());
  });
}

bool ChangeClient(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                  const base::Uuid& client_id, const ClientChange& change, AuditEntry audit) {
  base::Json detail = base::Json::object();
  if (change.name) detail["name"] = *change.name;
  if (change.disabled) detail["disabled"] = *change.disabled;
  if (change.set_token_ttl) {
    detail["access_token_ttl_seconds"] =
        change.token_ttl_s ? base::Json(*change.token_ttl_s) : base::Json(nullptr);
  }
  audit.detail = std::move(detail);
  return Change<"oauth_client_update">(session, clock, audit, org_id, client_id,
                                       "name"_a = change.name, "disabled"_a = change.disabled,
                                       "sets_token_ttl"_a = change.set_token_ttl,
                                       "token_ttl_s"_a = change.token_ttl_s);
}

bool DeleteClient(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                  const base::Uuid& client_id, AuditEntry audit) {
  return Change<"oauth_client_delete">(session, clock, audit, org_id, client_id);
}

bool VoidClientTokens(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                      const base::Uuid& client_id, AuditEntry audit) {
  return Change<"oauth_client_void_tokens">(session, clock, audit, org_id, client_id);
}

bool RevokeClientKey(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                     const base::Uuid& client_id, const std::string& kid, AuditEntry audit) {
  audit.target = client_id.ToString();
  audit.org_id = org_id;
  audit.detail = base::Json{{"kid", kid}};
  return InTransaction(session, [&](Transaction& tx) {
    if (tx.Exec<"oauth_client_lock">("org_id"_a = org_id, "client_id"_a = client_id).empty())
      return false;
    if (tx.Exec<"oauth_client_key_revoke">("client_id"_a = client_id, "kid"_a = kid).empty())
      return false;
    tx.Exec<"oauth_client_void_tokens">("org_id"_a = org_id, "client_id"_a = client_id);
    InsertAudit(tx, clock, audit);
    return true;
  });
}

KeyOutcome AddClientKey(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                        const base::Uuid& client_id, const NewClientKey& key, int keys_max,
                        AuditEntry audit) {
  audit.target = client_id.ToString();
  audit.org_id = org_id;
  audit.detail = base::Json{{"kid", key.kid}};
  return InTransaction(session, [&](Transaction& tx) {
    const auto client =
        tx.Exec<"oauth_client_lock">("org_id"_a = org_id, "client_id"_a = client_id);
    if (client.empty()) return KeyOutcome::kNoClient;
    if (ReadOne<std::optional<std::string>>(client)) return KeyOutcome::kPublishes;
    if (ReadOne<int>(tx.Exec<"oauth_client_keys_live">("client_id"_a = client_id)) >= keys_max) {
      return KeyOutcome::kTooMany;
    }
    if (tx.Exec<"oauth_client_key_insert">("client_id"_a = client_id, "kid"_a = key.kid,
                                           "algorithm"_a = key.algorithm,
                                           "public_key"_a = Bytea(key.der))
            .empty()) {
      return KeyOutcome::kTaken;
    }
    InsertAudit(tx, clock, audit);
    return KeyOutcome::kDone;
  });
}

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
