#include "store/accounts/access_tokens.h"

#include <utility>

#include "base/crypto.h"
#include "base/json.h"
#include "domain/auth/cell.h"
#include "domain/auth/principal.h"
#include "store/accounts/auth.h"
#include "store/audit.h"
#include "store/place.h"
#include "store/sql.h"

namespace vedette::store {
namespace {

// Thrown inside a transaction to roll it back with this outcome.
struct Refused {
  MintRefusal why;
};

std::string NewToken(std::string_view prefix, std::string_view cell) {
  return domain::CellPrefix(prefix, cell) + base::RandomBase62(kTokenRandomChars);
}

struct TokenRow {
  base::Uuid id;
  domain::PrincipalKind kind;
  base::Uuid org_id;
  std::optional<base::Uuid> team_id;
  base::Uuid principal_id;
  int principal_version = 0;
  std::optional<std::string> user_id;
  std::chrono::seconds ttl;
};
base::Timestamp InsertToken(Transaction& tx, const std::string& token, const TokenRow& row) {
  return ReadOne<base::Timestamp>(tx.Exec<"access_token_insert">(
      "token_sha256"_a = Bytea(base::Sha256(token)), "id"_a = row.id, "kind"_a = row.kind,
      "org_id"_a = row.org_id, "team_id"_a = row.team_id, "principal_id"_a = row.principal_id,
      "principal_version"_a = row.principal_version, "user_id"_a = row.user_id,
      "ttl_s"_a = row.ttl.count()));
}

bool Take(Transaction& tx, const base::Uuid& client_id, const domain::Assertion& assertion) {
  return !tx.Exec<"assertion_take">("client_id"_a = client_id,
                                    "jti_sha256"_a = Bytea(base::Sha256(assertion.jti)),
                                    "expires_at"_a = assertion.forget_at)
              .empty();
}

}  // namespace

std::optional<AssertingClient> FindAssertingClient(Session& session, const base::Uuid& client_id) {
  return InTransaction(session, [&](Transaction& tx) -> std::optional<AssertingClient> {
    AssertingClient client;
    const auto rows = tx.Exec<"oauth_client_of_assertion">("client_id"_a = client_id);
    if (rows.empty()) return std::nullopt;
    client.id = client_id;
    for (const auto& row : rows) {
      std::optional<std::int64_t> ttl_s;
      std::optional<std::string> kid;
      std::optional<base::SignatureAlgorithm> algorithm;
      std::optional<std::string> der;
      std::optional<std::string> url;
      std::optional<std::string> set;
      PublishedKeys published;
      Columns(row).Into("org_id"_a = &client.org_id, "token_version"_a = &client.token_version,
                        "access_token_ttl_s"_a = &ttl_s, "locked"_a = &client.organisation_locked,
                        "moving_until"_a = &client.organisation_moving_until, "kid"_a = &kid,
                        "algorithm"_a = &algorithm, "public_key"_a = OptionalBytesInto{&der},
                        "jwks_uri"_a = &url, "jwks"_a = &set,
                        "jwks_fetched_at"_a = &published.fetched_at,
                        "jwks_tried_at"_a = &published.tried_at,
                        "jwks_ended_at"_a = &published.ended_at, "moment"_a = &published.now);
      if (ttl_s) client.token_ttl = std::chrono::seconds(*ttl_s);
      if (url) {
        published.url = std::move(*url);
        client.published = std::move(published);
        if (set) client.keys = ReadKeySet(*set);
      }
      if (!der) continue;
      auto key = base::PublicKey::FromDer(*der);
      if (!std::holds_alternative<base::PublicKey>(key)) continue;
      client.keys.push_back({kid, algorithm, std::get<base::PublicKey>(std::move(key))});
    }
    return client;
  });
}

bool TakeAssertion(Session& session, const base::Uuid& client_id,
                   const domain::Assertion& assertion) {
  return InTransaction(session, [&](Transaction& tx) { return Take(tx, client_id, assertion); });
}

std::variant<MintedToken, MintRefusal> MintToken(Session& session, const base::Clock& clock,
                                                 const MintOrder& order) {
  const std::string token = NewToken(kClientTokenPrefix, order.cell);
  try {
    InTransaction(session, [&](Transaction& tx) {
      if (!Take(tx, order.client.id, order.assertion)) throw Refused{MintRefusal::kReplayed};
      const auto used = tx.Exec<"oauth_client_use">("client_id"_a = order.client.id,
                                                    "token_version"_a = order.client.token_version);
      if (used.empty()) throw Refused{MintRefusal::kChanged};
      TokenRow row{.id = base::Uuid::V7(clock),
                   .kind = domain::PrincipalKind::kOauthClient,
                   .org_id = {},
                   .team_id = {},
                   .principal_id = order.client.id,
                   .principal_version = order.client.token_version,
                   .user_id = {},
                   .ttl = order.ttl};
      Columns(used.at(0)).Into("org_id"_a = &row.org_id, "team_id"_a = &row.team_id);
      const auto live =
          ReadOne<int>(tx.Exec<"access_tokens_live">("principal_id"_a = order.client.id));
      if (live >= order.tokens_max) throw Refused{MintRefusal::kTooMany};
      InsertToken(tx, token, row);
    });
  } catch (const Refused& refused) {
    return refused.why;
  }
  return MintedToken{token};
}

void RevokeToken(Session& session, const base::Uuid& client_id, const std::string& token) {
  InTransaction(session, [&](Transaction& tx) {
    tx.Exec<"access_token_revoke">("token_sha256"_a = Bytea(base::Sha256(token)),
                                   "client_id"_a = client_id);
  });
}

std::optional<LiveToken> IntrospectToken(Session& session, const base::Uuid& org_id,
                                         const std::string& token) {
  return InTransaction(session, [&](Transaction& tx) -> std::optional<LiveToken> {
    const auto rows = tx.Exec<"access_token_introspect">(
        "token_sha256"_a = Bytea(base::Sha256(token)), "org_id"_a = org_id);
    if (rows.empty()) return std::nullopt;
    LiveToken live;
    Columns(rows.at(0))
        .Into("principal_id"_a = &live.client_id, "created_at"_a = &live.created_at,
              "expires_at"_a = &live.expires_at);
    return live;
  });
}

SessionOutcome CreateSession(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                             const NewSession& order, AuditEntry audit) {
  using Kind = SessionOutcome::Kind;
  SessionOutcome made;
  made.id = base::Uuid::V7(clock);
  made.token = NewToken(kSessionTokenPrefix, order.cell);
  audit.target = made.id.ToString();
  audit.org_id = org_id;
  audit.detail = base::Json{{"user_id", order.user_id}, {"ttl_s", order.ttl.count()}};
  made.kind = InTransaction(session, [&](Transaction& tx) {
    if (!HoldHere(tx, org_id)) return Kind::kNoOrganisation;
    if (order.team_id &&
        tx.Exec<"team_hold">("org_id"_a = org_id, "team_id"_a = *order.team_id).empty()) {
      return Kind::kNoTeam;
    }
    if (!order.for_members) {
      tx.Exec<"org_user_insert">("org_id"_a = org_id, "user_id"_a = order.user_id,
                                 "name"_a = order.name);
    } else if (tx.Exec<"membership_hold">("org_id"_a = org_id, "email"_a = order.user_id).empty() ||
               !AreStillHis(tx, order.user_id, order.shown)) {
      return Kind::kNoMember;
    }
    made.expires_at = InsertToken(tx, made.token,
                                  {.id = made.id,
                                   .kind = domain::PrincipalKind::kUser,
                                   .org_id = org_id,
                                   .team_id = order.team_id,
                                   .principal_id = domain::UserPrincipal(org_id, order.user_id),
                                   .principal_version = 0,
                                   .user_id = order.user_id,
                                   .ttl = order.ttl});
    InsertAudit(tx, clock, audit);
    return Kind::kDone;
  });
  if (made.kind != Kind::kDone) made.token.clear();
  return made;
}

std::optional<std::vector<LiveSession>> ListSessions(Session& session, const base::Uuid& org_id,
                                                     const SessionQuery& query) {
  using Answer = std::optional<std::vector<LiveSession>>;
  std::optional<base::Uuid> principal;
  if (query.user_id) principal = domain::UserPrincipal(org_id, *query.user_id);
  return InTransaction(session, [&](Transaction& tx) -> Answer {
    if (tx.Exec<"org_exists">("org_id"_a = org_id).empty()) return std::nullopt;
    std::vector<LiveSession> sessions;
    for (const auto& row : tx.Exec<"sessions_list">("org_id"_a = org_id, "before"_a = query.before,
                           "limit"_a = query.limit, "principal"_a = principal)) {
      LiveSession& live = sessions.emplace_back();
      Columns(row).Into("id"_a = &live.id, "user_id"_a = &live.user_id, "team_id"_a = &live.team_id,
                        "created_at"_a = &live.created_at, "expires_at"_a = &live.expires_at);
    }
    return sessions;
  });
}

bool EndSession(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                const base::Uuid& session_id, AuditEntry audit) {
  audit.target = session_id.ToString();
  audit.org_id = org_id;
  return InTransaction(session, [&](Transaction& tx) {
    if (tx.Exec<"session_end">("org_id"_a = org_id, "session_id"_a = session_id).empty())
      return false;
    InsertAudit(tx, clock, audit);
    return true;
  });
}

std::optional<std::vector<OrgUser>> ListOrgUsers(Session& session, const base::Uuid& org_id,
                                                 const std::optional<std::string>& after,
                                                 int limit) {
  using Answer = std::optional<std::vector<OrgUser>>;
  return InTransaction(session, [&](Transaction& tx) -> Answer {
    if (tx.Exec<"org_exists">("org_id"_a = org_id).empty()) return std::nullopt;
    std::vector<OrgUser> users;
    for (const auto& row :
         tx.Exec<"org_users_list">("org_id"_a = org_id, "after"_a = after, "limit"_a = limit)) {
      OrgUser& user = users.emplace_back();
      Columns(row).Into("user_id"_a = &user.user_id, "name"_a = &user.name,
                        "created_at"_a = &user.created_at, "sessions"_a = &user.sessions);
    }
    return users;
  });
}

bool IsConsoleToken(std::string_view text) {
  // A cell's name stands in no token of the console, which each cell has for itself.
  return domain::CellOfSecret(text, kConsoleTokenPrefix, kTokenRandomChars) == "";
}

std::string CreateConsoleSession(Session& session, const base::Clock& clock,
                                 const NewConsoleSession& order, AuditEntry audit) {
  const base::Uuid id = base::Uuid::V7(clock);
  std::string token = NewToken(kConsoleTokenPrefix, {});
  audit.target = id.ToString();
  InTransaction(session, [&](Transaction& tx) {
    tx.Exec<"console_session_insert">("token_sha256"_a = Bytea(base::Sha256(token)), "id"_a = id,
                                      "issuer"_a = order.issuer, "subject"_a = order.subject,
                                      "email"_a = order.email, "role_values"_a = order.role_values,
                                      "ttl_s"_a = order.ttl.count());
    InsertAudit(tx, clock, audit);
  });
  return token;
}

namespace {

ConsoleSession ReadConsoleSession(const pqxx::row& row) {
  ConsoleSession one;
  Columns(row).Into("id"_a = &one.id, "issuer"_a = &one.issuer, "subject"_a = &one.subject,
                    "email"_a = &one.email, "role_values"_a = &one.role_values,
                    "created_at"_a = &one.created_at, "expires_at"_a = &one.expires_at);
  return one;
}

}  // namespace

std::optional<ConsoleSession> FindConsoleSession(Session& session, std::string_view token) {
  if (!IsConsoleToken(token)) return std::nullopt;
  return Read(session, [&](Transaction& tx) -> std::optional<ConsoleSession> {
    const auto rows =
        tx.Exec<"console_session_find">("token_sha256"_a = Bytea(base::Sha256(token)));
    if (rows.empty()) return std::nullopt;
    return ReadConsoleSession(rows.at(0));
  });
}

std::vector<ConsoleSession> ListConsoleSessions(Session& session, int limit) {
  return Read(session, [&](Transaction& tx) {
    std::vector<ConsoleSession> all;
    for (const auto& row : tx.Exec<"console_sessions_list">("limit"_a = limit)) {
      all.push_back(ReadConsoleSession(row));
    }
    return all;
  });
}

bool EndConsoleSession(Session& session, const base::Clock& clock, const base::Uuid& id,
                       AuditEntry audit) {
  audit.target = id.ToString();
  return InTransaction(session, [&](Transaction& tx) {
    if (tx.Exec<"console_session_end">("id"_a = id).empty()) return false;
    InsertAudit(tx, clock, audit);
    return true;
  });
}

}  // namespace vedette::store
