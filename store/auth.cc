#include "store/auth.h"

#include "base/crypto.h"
#include "store/accounts.h"
#include "store/sql.h"

namespace vedette::store {
namespace {

constexpr std::size_t kApiKeyPrefixChars = sizeof(kApiKeyPrefix) - 1;

bool IsBase62(std::string_view text) {
  for (const char c : text) {
    const bool ok = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    if (!ok) return false;
  }
  return true;
}

}  // namespace

bool IsApiKey(std::string_view text) {
  return text.size() == kApiKeyPrefixChars + kApiKeyRandomChars &&
         text.starts_with(kApiKeyPrefix) && IsBase62(text.substr(kApiKeyPrefixChars));
}

std::optional<Authentication> Authenticate(Session& session, std::string_view api_key, bool count) {
  if (!IsApiKey(api_key)) return std::nullopt;
  const std::string hash = base::Sha256(api_key);
  const auto ask = [&](Transaction& tx) -> std::optional<Authentication> {
    const auto result =
        tx.Exec("authenticate", api_key.substr(0, kApiKeyPublicChars), Bytea(hash), count);
    if (result.empty()) return std::nullopt;
    const auto row = result[0];
    if (!base::ConstantTimeEqual(ReadBytea(row["key_sha256"]), hash)) return std::nullopt;
    Authentication found;
    found.caller.api_key_id = ReadUuid(row["id"]);
    found.caller.org_id = ReadUuid(row["org_id"]);
    found.caller.team_id = ReadUuidOrNull(row["team_id"]);
    found.caller.organisation_locked = row["locked"].as<bool>();
    for (std::string& feature : ReadTextArray(row["features"])) {
      found.caller.features.insert(std::move(feature));
    }
    found.requests = row["requests"].as<std::int64_t>();
    found.minute_ends_at = ReadTime(row["minute_ends_at"]);
    return found;
  };
  // A request that is lost while it is counted is not missed, and writing an unlogged table does
  // not wait for the log.
  return InTransaction(session, ask, Durability::kOneStatement);
}

}  // namespace vedette::store
