#include "store/accounts/accounts.h"

#include <map>
#include <utility>

#include "base/crypto.h"
#include "base/json.h"
#include "domain/auth/cell.h"
#include "domain/money/money.h"
#include "store/audit.h"
#include "store/sql.h"

namespace vedette::store {
namespace {

// What stands for itself in a LIKE pattern.
std::string EscapeLike(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '%' || c == '_' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

// Reads :team_columns.
Team ReadTeam(const pqxx::row& row, base::Uuid* org_id) {
  Team team;
  Columns(row).Into("org_id"_a = org_id, "id"_a = &team.id, "name"_a = &team.name,
                    "spend_limit_mc"_a = &team.spend_limit_mc, "spent_mc"_a = &team.spent_mc);
  return team;
}

// A row of orgs_read: without its teams.
Organisation ReadOrganisationRow(const pqxx::row& row) {
  Organisation org;
  Columns(row).Into("id"_a = &org.id, "name"_a = &org.name, "external_id"_a = &org.external_id,
                    "locked"_a = &org.locked, "lives_at"_a = &org.lives_at,
                    "features"_a = &org.features, "created_at"_a = &org.created_at,
                    "balance_mc"_a = &org.balance_mc, "reserved_mc"_a = &org.reserved_mc,
                    "charged_mc"_a = &org.charged_mc, "run_data_bytes"_a = &org.run_data_bytes);
  return org;
}

// The organisations of `ids`, newest first, with their teams.
std::vector<Organisation> ReadOrganisations(Transaction& tx, const std::vector<base::Uuid>& ids) {
  std::vector<Organisation> orgs;
  std::map<base::Uuid, std::size_t> index;
  for (const auto& row : tx.Exec<"orgs_read">("ids"_a = ids)) {
    orgs.push_back(ReadOrganisationRow(row));
    index[orgs.back().id] = orgs.size() - 1;
  }
  for (const auto& row : tx.Exec<"teams_read">("org_ids"_a = ids)) {
    base::Uuid org_id;
    Team team = ReadTeam(row, &org_id);
    const auto it = index.find(org_id);
    if (it != index.end()) orgs[it->second].teams.push_back(std::move(team));
  }
  return orgs;
}

ApiKey ReadApiKey(const pqxx::row& row) {
  ApiKey key;
  std::vector<std::string> scopes;
  Columns(row).Into("id"_a = &key.id, "name"_a = &key.name, "prefix"_a = &key.prefix,
                    "team_id"_a = &key.team_id, "created_at"_a = &key.created_at,
                    "last_used_at"_a = &key.last_used_at, "scopes"_a = &scopes,
                    "expires_at"_a = &key.expires_at);
  if (!scopes.empty()) key.scopes = domain::KeyScopes::Of(scopes);
  return key;
}

base::Json SpendLimitJson(const std::optional<std::int64_t>& mc) {
  return mc ? domain::CreditsToJson(*mc) : base::Json(nullptr);
}

}  // namespace

base::Uuid CreateOrganisation(Session& session, const base::Clock& clock,
                              const NewOrganisation& order, AuditEntry audit) {
  const base::Uuid id = base::Uuid::V7(clock);
  audit.target = id.ToString();
  audit.org_id = id;
  audit.detail = base::Json{{"name", order.name}, {"features", order.features}};
  InTransaction(session, [&](Transaction& tx) {
    tx.Exec<"org_insert">("id"_a = id, "name"_a = order.name, "features"_a = order.features);
    tx.Exec<"account_insert">("org_id"_a = id);
    tx.Exec<"cell_directory_put">("org_id"_a = id, "cell"_a = order.cell);
    InsertAudit(tx, clock, audit);
  });
  return id;
}

std::optional<Organisation> ReadOrganisation(Session& session, const base::Uuid& org_id) {
  std::vector<Organisation> orgs = InTransaction(session, [&](Transaction& tx) {
    return ReadOrganisations(tx, std::vector<base::Uuid>{org_id});
  });
  if (orgs.empty()) return std::nullopt;
  return std::move(orgs.front());
}

ExternalIdOutcome SetExternalId(Session& session, const base::Clock& clock,
                                const base::Uuid& org_id,
                                const std::optional<std::string>& external_id, AuditEntry audit) {
  audit.target = org_id.ToString();
  audit.org_id = org_id;
  audit.detail = base::Json{{"external_id", external_id ? base::Json(*external_id) : nullptr}};
  return InTransaction(session, [&](Transaction& tx) {
    if (tx.Exec<"org_exists">("org_id"_a = org_id).empty()) return ExternalIdOutcome::kNotFound;
    // One at a time, so that the second of two that want the same name sees the first.
    tx.Exec<"external_id_lock">();
    if (tx.Exec<"org_set_external_id">("org_id"_a = org_id, "external_id"_a = external_id)
            .empty()) {
      return ExternalIdOutcome::kTaken;
    }
    InsertAudit(tx, clock, audit);
    return ExternalIdOutcome::kDone;
  });
}

std::vector<Organisation> ListOrganisations(Session& session, const OrganisationQuery& query) {
  std::optional<std::string> part;
  if (!query.q.empty()) part = EscapeLike(query.q);
  const std::optional<base::Uuid> id = base::Uuid::Parse(query.q);
  return InTransaction(session, [&](Transaction& tx) {
    return ReadOrganisations(tx, ReadEach<base::Uuid>(tx.Exec<"orgs_page">(
                                     "name_part"_a = part, "id"_a = id, "before"_a = query.before,
                                     "limit"_a = query.limit)));
  });
}

std::int64_t ReadBalance(Session& session, const base::Uuid& org_id) {
  return InTransaction(session, [&](Transaction& tx) {
    return ReadFirst<std::int64_t>(tx.Exec<"account_balance">("org_id"_a = org_id)).value_or(0);
  });
}

CreditOutcome AddCredits(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                         std::int64_t amount_mc, const std::string& reason, AuditEntry audit) {
  audit.target = org_id.ToString();
  audit.org_id = org_id;
  audit.reason = reason;
  return InTransaction(session, [&](Transaction& tx) {
    const auto balance_mc = ReadFirst<std::int64_t>(tx.Exec<"account_lock">("org_id"_a = org_id));
    if (!balance_mc) return CreditOutcome{CreditOutcome::Kind::kNotFound, 0};
    if (*balance_mc + amount_mc < 0) {
      return CreditOutcome{CreditOutcome::Kind::kWouldBeNegative, *balance_mc};
    }
    if (*balance_mc + amount_mc > kBalanceMcMax) {
      return CreditOutcome{CreditOutcome::Kind::kWouldBeTooLarge, *balance_mc};
    }
    CreditOutcome outcome;
    outcome.balance_mc = ReadOne<std::int64_t>(
        tx.Exec<"account_add">("org_id"_a = org_id, "amount_mc"_a = amount_mc));
    tx.Exec<"credit_entry_insert">("org_id"_a = org_id, "amount_mc"_a = amount_mc,
                                   "reason"_a = reason);
    audit.detail = base::Json{{"amount", domain::CreditsToJson(amount_mc)},
                              {"balance", domain::CreditsToJson(outcome.balance_mc)}};
    InsertAudit(tx, clock, audit);
    return outcome;
  });
}

std::optional<base::Uuid> CreateTeam(Session& session, const base::Clock& clock,
                                     const base::Uuid& org_id, const std::string& name,
                                     const std::optional<std::int64_t>& spend_limit_mc,
                                     AuditEntry audit) {
  const base::Uuid id = base::Uuid::V7(clock);
  audit.target = id.ToString();
  audit.org_id = org_id;
  audit.detail = base::Json{{"name", name}, {"spend_limit", SpendLimitJson(spend_limit_mc)}};
  const bool made = InTransaction(session, [&](Transaction& tx) {
    if (tx.Exec<"org_exists">("org_id"_a = org_id).empty()) return false;
    tx.Exec<"team_insert">("id"_a = id, "org_id"_a = org_id, "name"_a = name,
                           "spend_limit_mc"_a = spend_limit_mc);
    InsertAudit(tx, clock, audit);
    return true;
  });
  if (!made) return std::nullopt;
  return id;
}

std::optional<Team> ChangeTeam(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                               const base::Uuid& team_id, const TeamChange& change,
                               AuditEntry audit) {
  audit.target = team_id.ToString();
  audit.org_id = org_id;
  base::Json detail = base::Json::object();
  if (change.name) detail["name"] = *change.name;
  if (change.set_spend_limit) detail["spend_limit"] = SpendLimitJson(change.spend_limit_mc);
  audit.detail = std::move(detail);
  return InTransaction(session, [&](Transaction& tx) -> std::optional<Team> {
    if (tx.Exec<"team_update">("org_id"_a = org_id, "team_id"_a = team_id, "name"_a = change.name,
                               "sets_spend_limit"_a = change.set_spend_limit,
                               "spend_limit_mc"_a = change.spend_limit_mc)
            .empty()) {
      return std::nullopt;
    }
    InsertAudit(tx, clock, audit);
    base::Uuid owner;
    return ReadTeam(tx.Exec<"team_read">("org_id"_a = org_id, "team_id"_a = team_id).at(0), &owner);
  });
}

TeamDeletion DeleteTeam(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                        const base::Uuid& team_id, AuditEntry audit) {
  audit.target = team_id.ToString();
  audit.org_id = org_id;
  return InTransaction(session, [&](Transaction& tx) {
    if (tx.Exec<"team_lock">("org_id"_a = org_id, "team_id"_a = team_id).empty())
      return TeamDeletion::kNotFound;
    if (tx.Exec<"team_delete">("org_id"_a = org_id, "team_id"_a = team_id).empty())
      return TeamDeletion::kInUse;
    InsertAudit(tx, clock, audit);
    return TeamDeletion::kDone;
  });
}

ApiKeyOutcome CreateApiKey(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                           const NewApiKey& order, AuditEntry audit) {
  using Kind = ApiKeyOutcome::Kind;
  ApiKeyOutcome outcome;
  const std::string begin = domain::CellPrefix(kApiKeyPrefix, order.cell);
  outcome.key = begin + base::RandomBase62(kApiKeyRandomChars);
  ApiKey& made = outcome.made;
  made.id = base::Uuid::V7(clock);
  made.name = order.name;
  made.prefix = outcome.key.substr(0, begin.size() + kApiKeyPublicRandomChars);
  made.team_id = order.team_id;
  made.scopes = order.scopes;
  made.expires_at = order.expires_at;
  audit.target = made.id.ToString();
  audit.org_id = org_id;
  base::Json detail{{"name", made.name}, {"prefix", made.prefix}};
  if (made.team_id) detail["team_id"] = made.team_id->ToString();
  std::vector<std::string> scopes;
  if (!made.scopes.all()) {
    scopes = made.scopes.Names();
    detail["scopes"] = scopes;
  }
  if (made.expires_at) detail["expires_at"] = base::FormatTimestamp(*made.expires_at);
  audit.detail = std::move(detail);
  outcome.kind = InTransaction(session, [&](Transaction& tx) {
    if (tx.Exec<"org_lock">("org_id"_a = org_id).empty()) return Kind::kNoOrganisation;
    if (made.team_id &&
        tx.Exec<"team_hold">("org_id"_a = org_id, "team_id"_a = *made.team_id).empty()) {
      return Kind::kNoTeam;
    }
    if (ReadOne<int>(tx.Exec<"api_keys_live">("org_id"_a = org_id)) >= kApiKeysMax) {
      return Kind::kTooMany;
    }
    made.created_at = ReadOne<base::Timestamp>(tx.Exec<"api_key_insert">(
        "id"_a = made.id, "org_id"_a = org_id, "team_id"_a = made.team_id, "name"_a = made.name,
        "prefix"_a = made.prefix, "key_sha256"_a = Bytea(base::Sha256(outcome.key)),
        "scopes"_a = scopes, "expires_at"_a = made.expires_at));
    InsertAudit(tx, clock, audit);
    return Kind::kDone;
  });
  if (outcome.kind != Kind::kDone) outcome.key.clear();
  return outcome;
}

std::optional<std::vector<ApiKey>> ListApiKeys(Session& session, const base::Uuid& org_id,
                                               const ApiKeyQuery& query) {
  using Answer = std::optional<std::vector<ApiKey>>;
  return InTransaction(session, [&](Transaction& tx) -> Answer {
    if (tx.Exec<"org_exists">("org_id"_a = org_id).empty()) return std::nullopt;
    std::vector<ApiKey> keys;
    for (const auto& row : tx.Exec<"api_keys_list">("org_id"_a = org_id, "before"_a = query.before,
                           "limit"_a = query.limit)) {
      keys.push_back(ReadApiKey(row));
    }
    return keys;
  });
}

bool HasApiKey(Session& session, const base::Uuid& org_id, const base::Uuid& key_id) {
  return Read(session, [&](Transaction& tx) {
    return !tx.Exec<"api_key_exists">("org_id"_a = org_id, "key_id"_a = key_id).empty();
  });
}

bool RevokeApiKey(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                  const base::Uuid& key_id, AuditEntry audit) {
  audit.target = key_id.ToString();
  audit.org_id = org_id;
  return InTransaction(session, [&](Transaction& tx) {
    const auto revoked = tx.Exec<"api_key_revoke">("org_id"_a = org_id, "key_id"_a = key_id);
    if (revoked.empty()) return false;
    std::string name;
    std::string prefix;
    Columns(revoked.at(0)).Into("name"_a = &name, "prefix"_a = &prefix);
    audit.detail = base::Json{{"name", name}, {"prefix", prefix}};
    InsertAudit(tx, clock, audit);
    return true;
  });
}

}  // namespace vedette::store
