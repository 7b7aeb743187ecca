#include "store/accounts/oauth_clients.h"

#include <map>
#include <utility>

#include "base/json.h"
#include "store/audit_sql.h"
#include "store/sql.h"

namespace vedette::store {
namespace {

// From :client_columns: without its keys.
OauthClient ReadClientRow(const pqxx::row& row) {
  OauthClient client;
  Columns(row).Into(&client.id, &client.org_id, &client.team_id, &client.name, &client.disabled,
                    &client.token_version, &client.token_ttl_s, &client.last_used_at,
                    &client.created_at, &client.updated_at, &client.created_by_kind,
                    &client.created_by_id, &client.created_by_label, &client.jwks_uri,
                    &client.jwks_validated_at, &client.jwks_error);
  return client;
}

std::vector<OauthClient> ReadClients(Transaction& tx, const base::Uuid& org_id,
                                     const std::optional<base::Uuid>& client_id) {
  std::vector<OauthClient> clients;
  std::vector<base::Uuid> ids;
  std::map<base::Uuid, std::size_t> index;
  for (const auto& row : tx.Exec("oauth_clients_read", org_id, client_id)) {
    clients.push_back(ReadClientRow(row));
    ids.push_back(clients.back().id);
    index[ids.back()] = clients.size() - 1;
  }
  for (const auto& row : tx.Exec("oauth_client_keys_read", ids)) {
    base::Uuid owner;
    ClientKey key;
    Columns(row).Into(&owner, &key.kid, &key.algorithm, &key.created_at, &key.revoked_at);
    clients[index.at(owner)].keys.push_back(std::move(key));
  }
  return clients;
}

// One statement that changes a client, with its audit entry.
template <typename... Args>
bool Change(Session& session, const base::Clock& clock, AuditEntry& audit, std::string_view name,
            const base::Uuid& org_id, const base::Uuid& client_id, const Args&... args) {
  audit.target = client_id.ToString();
  audit.org_id = org_id;
  return InTransaction(session, [&](Transaction& tx) {
    if (tx.Exec(name, org_id, client_id, args...).empty()) return false;
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
    if (order.team_id && tx.Exec("team_read", org_id, *order.team_id).empty()) {
      return Kind::kNoTeam;
    }
    tx.Exec("oauth_client_count_lock", org_id);
    if (ReadOne<int>(tx.Exec("oauth_client_count", org_id)) >= clients_max) return Kind::kTooMany;
    tx.Exec("oauth_client_insert", id, org_id, order.team_id, order.name, order.token_ttl_s, kind,
            by, audit.actor, order.jwks_uri);
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
  return Change(session, clock, audit, "oauth_client_update", org_id, client_id, change.name,
                change.disabled, change.set_token_ttl, change.token_ttl_s);
}

bool DeleteClient(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                  const base::Uuid& client_id, AuditEntry audit) {
  return Change(session, clock, audit, "oauth_client_delete", org_id, client_id);
}

bool VoidClientTokens(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                      const base::Uuid& client_id, AuditEntry audit) {
  return Change(session, clock, audit, "oauth_client_void_tokens", org_id, client_id);
}

bool RevokeClientKey(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                     const base::Uuid& client_id, const std::string& kid, AuditEntry audit) {
  audit.target = client_id.ToString();
  audit.org_id = org_id;
  audit.detail = base::Json{{"kid", kid}};
  return InTransaction(session, [&](Transaction& tx) {
    if (tx.Exec("oauth_client_lock", org_id, client_id).empty()) return false;
    if (tx.Exec("oauth_client_key_revoke", client_id, kid).empty()) return false;
    tx.Exec("oauth_client_void_tokens", org_id, client_id);
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
    const auto client = tx.Exec("oauth_client_lock", org_id, client_id);
    if (client.empty()) return KeyOutcome::kNoClient;
    if (ReadOne<std::optional<std::string>>(client)) return KeyOutcome::kPublishes;
    if (ReadOne<int>(tx.Exec("oauth_client_keys_live", client_id)) >= keys_max) {
      return KeyOutcome::kTooMany;
    }
    if (tx.Exec("oauth_client_key_insert", client_id, key.kid, key.algorithm, Bytea(key.der))
            .empty()) {
      return KeyOutcome::kTaken;
    }
    InsertAudit(tx, clock, audit);
    return KeyOutcome::kDone;
  });
}

}  // namespace vedette::store
