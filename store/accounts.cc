#include "store/accounts.h"

#include <map>
#include <utility>

#include "base/crypto.h"
#include "domain/money.h"
#include "store/audit_sql.h"
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

Team ReadTeam(const pqxx::row& row) {
  Team team;
  team.id = ReadUuid(row["id"]);
  team.name = row["name"].as<std::string>();
  if (!row["spend_limit_mc"].is_null()) {
    team.spend_limit_mc = row["spend_limit_mc"].as<std::int64_t>();
  }
  team.spent_mc = row["spent_mc"].as<std::int64_t>();
  return team;
}

// The organisations of `ids`, newest first, with their teams.
std::vector<Organisation> ReadOrganisations(Transaction& tx, const std::vector<base::Uuid>& ids) {
  std::vector<Organisation> orgs;
  std::map<base::Uuid, std::size_t> index;
  for (const auto& row : tx.Exec("orgs_read", ids)) {
    Organisation org;
    org.id = ReadUuid(row["id"]);
    org.name = row["name"].as<std::string>();
    org.locked = row["locked"].as<bool>();
    org.features = ReadTextArray(row["features"]);
    org.balance_mc = row["balance_mc"].as<std::int64_t>();
    org.reserved_mc = row["reserved_mc"].as<std::int64_t>();
    org.charged_mc = row["charged_mc"].as<std::int64_t>();
    org.created_at = ReadTime(row["created_at"]);
    index[org.id] = orgs.size();
    orgs.push_back(std::move(org));
  }
  for (const auto& row : tx.Exec("teams_read", ids)) {
    const auto it = index.find(ReadUuid(row["org_id"]));
    if (it != index.end()) orgs[it->second].teams.push_back(ReadTeam(row));
  }
  return orgs;
}

base::Json SpendLimitJson(const std::optional<std::int64_t>& mc) {
  return mc ? domain::CreditsToJson(*mc) : base::Json(nullptr);
}

}  // namespace

base::Uuid CreateOrganisation(Session& session, const base::Clock& clock, const std::string& name,
                              const std::vector<std::string>& features, AuditEntry audit) {
  const base::Uuid id = base::Uuid::V7(clock);
  audit.target = id.ToString();
  audit.org_id = id;
  audit.detail = base::Json{{"name", name}, {"features", features}};
  InTransaction(session, [&](Transaction& tx) {
    tx.Exec("org_insert", id, name, features);
    tx.Exec("account_insert", id);
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

std::vector<Organisation> ListOrganisations(Session& session, const OrganisationQuery& query) {
  std::optional<std::string> part;
  if (!query.q.empty()) part = EscapeLike(query.q);
  const std::optional<base::Uuid> id = base::Uuid::Parse(query.q);
  return InTransaction(session, [&](Transaction& tx) {
    std::vector<base::Uuid> ids;
    for (const auto& row : tx.Exec("orgs_page", part, id, query.before, query.limit)) {
      ids.push_back(ReadUuid(row["id"]));
    }
    return ReadOrganisations(tx, ids);
  });
}

CreditOutcome AddCredits(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                         std::int64_t amount_mc, const std::string& reason, AuditEntry audit) {
  audit.target = org_id.ToString();
  audit.org_id = org_id;
  audit.reason = reason;
  return InTransaction(session, [&](Transaction& tx) {
    const pqxx::result locked = tx.Exec("account_lock", org_id);
    if (locked.empty()) return CreditOutcome{CreditOutcome::Kind::kNotFound, 0};
    const auto balance_mc = locked[0][0].as<std::int64_t>();
    if (balance_mc + amount_mc < 0) {
      return CreditOutcome{CreditOutcome::Kind::kWouldBeNegative, balance_mc};
    }
    if (balance_mc + amount_mc > kBalanceMcMax) {
      return CreditOutcome{CreditOutcome::Kind::kWouldBeTooLarge, balance_mc};
    }
    CreditOutcome outcome;
    outcome.balance_mc = tx.Exec("account_add", org_id, amount_mc)[0][0].as<std::int64_t>();
    tx.Exec("credit_entry_insert", org_id, amount_mc, reason);
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
    if (tx.Exec("org_exists", org_id).empty()) return false;
    tx.Exec("team_insert", id, org_id, name, spend_limit_mc);
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
    if (tx.Exec("team_update", org_id, team_id, change.name, change.set_spend_limit,
                change.spend_limit_mc)
            .empty()) {
      return std::nullopt;
    }
    InsertAudit(tx, clock, audit);
    return ReadTeam(tx.Exec("team_read", org_id, team_id)[0]);
  });
}

ApiKeyOutcome CreateApiKey(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                           const std::string& name, const std::optional<base::Uuid>& team_id,
                           AuditEntry audit) {
  ApiKeyOutcome made;
  made.id = base::Uuid::V7(clock);
  made.key = std::string(kApiKeyPrefix) + base::RandomBase62(kApiKeyRandomChars);
  const std::string prefix = made.key.substr(0, kApiKeyPublicChars);
  audit.target = made.id.ToString();
  audit.org_id = org_id;
  audit.detail = base::Json{{"name", name}, {"prefix", prefix}};
  if (team_id) (*audit.detail)["team_id"] = team_id->ToString();
  const auto kind = InTransaction(session, [&](Transaction& tx) {
    if (tx.Exec("org_exists", org_id).empty()) return ApiKeyOutcome::Kind::kNoOrganisation;
    if (team_id && tx.Exec("team_read", org_id, *team_id).empty()) {
      return ApiKeyOutcome::Kind::kNoTeam;
    }
    tx.Exec("api_key_insert", made.id, org_id, team_id, name, prefix,
            Bytea(base::Sha256(made.key)));
    InsertAudit(tx, clock, audit);
    return ApiKeyOutcome::Kind::kDone;
  });
  if (kind != ApiKeyOutcome::Kind::kDone) return ApiKeyOutcome{kind, {}, {}};
  return made;
}

std::optional<std::vector<ApiKey>> ListApiKeys(Session& session, const base::Uuid& org_id,
                                               const ApiKeyQuery& query) {
  using Answer = std::optional<std::vector<ApiKey>>;
  return InTransaction(session, [&](Transaction& tx) -> Answer {
    if (tx.Exec("org_exists", org_id).empty()) return std::nullopt;
    std::vector<ApiKey> keys;
    for (const auto& row : tx.Exec("api_keys_list", org_id, query.before, query.limit)) {
      keys.push_back({ReadUuid(row["id"]), row["name"].as<std::string>(),
                      row["prefix"].as<std::string>(), ReadUuidOrNull(row["team_id"]),
                      ReadTime(row["created_at"])});
    }
    return keys;
  });
}

bool RevokeApiKey(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                  const base::Uuid& key_id, AuditEntry audit) {
  audit.target = key_id.ToString();
  audit.org_id = org_id;
  return InTransaction(session, [&](Transaction& tx) {
    if (tx.Exec("api_key_revoke", org_id, key_id).empty()) return false;
    InsertAudit(tx, clock, audit);
    return true;
  });
}

}  // namespace vedette::store
