#include "store/accounts/auth.h"

#include "base/crypto.h"
#include "domain/auth/cell.h"
#include "store/accounts/accounts.h"
#include "store/sql.h"

namespace vedette::store {
namespace {

// The end of a key, which is not stored.
constexpr std::size_t kHiddenChars = kApiKeyRandomChars - kApiKeyPublicRandomChars;

// Reads :caller_columns. Empty where the hash is another: the index compares, too, but not in
// constant time.
std::optional<Authentication> ReadAuthentication(
    const pqxx::row& row, const std::optional<std::string_view>& forwarded_user,
    const std::string& hash) {
  Authentication found;
  Caller& caller = found.caller;
  std::string stored_hash;
  std::vector<std::string> features;
  std::vector<std::string> scopes;
  Columns(row).Into("kind"_a = &caller.principal.kind, "id"_a = &caller.principal.id,
                    "label"_a = &caller.principal.label, "org_id"_a = &caller.org_id,
                    "team_id"_a = &caller.team_id, "sha256"_a = BytesInto{&stored_hash},
                    "locked"_a = &caller.organisation_locked,
                    "moving_until"_a = &caller.organisation_moving_until, "features"_a = &features,
                    "scopes"_a = &scopes, "user_known"_a = &found.user_known,
                    "requests"_a = &found.count.requests,
                    "minute_ends_at"_a = &found.count.minute_ends_at);
  if (!base::ConstantTimeEqual(stored_hash, hash)) return std::nullopt;
  for (std::string& feature : features) caller.features.insert(std::move(feature));
  if (!scopes.empty()) caller.scopes = domain::KeyScopes::Of(scopes);
  if (forwarded_user) caller.principal.on_behalf_of = *forwarded_user;
  return found;
}

std::optional<std::string_view> CellOfToken(std::string_view text) {
  const auto cell = domain::CellOfSecret(text, kClientTokenPrefix, kTokenRandomChars);
  return cell ? cell : domain::CellOfSecret(text, kSessionTokenPrefix, kTokenRandomChars);
}

}  // namespace

bool IsApiKey(std::string_view text) {
  return domain::CellOfSecret(text, kApiKeyPrefix, kApiKeyRandomChars).has_value();
}

bool IsToken(std::string_view text) {
  return CellOfToken(text).has_value();
}

std::optional<std::string_view> CellOfCredential(std::string_view text) {
  const auto cell = domain::CellOfSecret(text, kApiKeyPrefix, kApiKeyRandomChars);
  return cell ? cell : CellOfToken(text);
}

std::optional<Authentication> Authenticate(Session& session, const AuthQuestion& question) {
  const bool is_key = IsApiKey(question.credential);
  if (!is_key && !IsToken(question.credential)) return std::nullopt;
  const std::string hash = base::Sha256(question.credential);
  const auto ask = [&](Transaction& tx) -> std::optional<Authentication> {
    const auto result =
        is_key ? tx.Exec<"authenticate">("hash"_a = Bytea(hash), "count"_a = question.count,
                                         "forwarded_user"_a = question.forwarded_user,
                                         "prefix"_a = question.credential.substr(
                                             0, question.credential.size() - kHiddenChars))
               : tx.Exec<"authenticate_token">("hash"_a = Bytea(hash), "count"_a = question.count,
                                               "forwarded_user"_a = question.forwarded_user,
                                               "client_tokens"_a = question.client_tokens);
    if (result.empty()) return std::nullopt;
    return ReadAuthentication(result.at(0), question.forwarded_user, hash);
  };
  // A request that is lost while it is counted is not missed, and writing an unlogged table does
  // not wait for the log.
  return InTransaction(session, ask, Durability::kOneStatement);
}

std::optional<Authentication> AuthenticateExternal(Session& session,
                                                   const ExternalQuestion& question) {
  const auto ask = [&](Transaction& tx) -> std::optional<Authentication> {
    const auto result = tx.Exec<"authenticate_external">(
        "principal"_a = question.principal, "count"_a = question.count,
        "forwarded_user"_a = question.forwarded_user, "label"_a = question.label,
        "organisation"_a = question.organisation,
        "org_id"_a = base::Uuid::Parse(question.organisation), "team_id"_a = question.team_id);
    if (result.empty()) return std::nullopt;
    return ReadAuthentication(result.at(0), question.forwarded_user, std::string());
  };
  return InTransaction(session, ask, Durability::kOneStatement);
}

RequestCount CountRequest(Session& session, const base::Uuid& principal) {
  return InTransaction(
      session,
      [&](Transaction& tx) {
        RequestCount count;
        Columns(tx.Exec<"rate_count">("api_key_id"_a = principal).at(0))
            .Into("requests"_a = &count.requests, "minute_ends_at"_a = &count.minute_ends_at);
        return count;
      },
      Durability::kOneStatement);
}

}  // namespace vedette::store
