#include "store/monitors/logins.h"

#include <string>
#include <utility>

#include "store/sql.h"

namespace vedette::store {

std::optional<MonitorLogin> ReadLogin(Session& session, const base::Uuid& org_id,
                                      const base::Uuid& monitor_id) {
  return Read(session, [&](Transaction& tx) -> std::optional<MonitorLogin> {
    const auto found =
        tx.Exec<"monitor_login_read">("monitor_id"_a = monitor_id, "org_id"_a = org_id);
    if (found.empty()) return std::nullopt;
    MonitorLogin login;
    std::optional<std::string> secrets;
    std::optional<std::string> secrets_key_id;
    std::optional<std::string> page_session;
    std::optional<std::string> session_key_id;
    Columns(found.at(0))
        .Into("version"_a = &login.version, "secrets"_a = OptionalBytesInto{&secrets},
              "secrets_key_id"_a = &secrets_key_id, "session"_a = OptionalBytesInto{&page_session},
              "session_key_id"_a = &session_key_id);
    if (secrets) login.secrets = Sealed{std::move(*secrets), secrets_key_id.value_or("")};
    if (page_session) login.session = Sealed{std::move(*page_session), session_key_id.value_or("")};
    return login;
  });
}

bool KeepPageSession(Session& session, const base::Uuid& org_id, const base::Uuid& monitor_id,
                     const base::Uuid& version, const Sealed& page_session) {
  return InTransaction(session, [&](Transaction& tx) {
    return !tx.Exec<"monitor_login_keep">(
                  "monitor_id"_a = monitor_id, "org_id"_a = org_id, "version"_a = version,
                  "session"_a = Bytea(page_session.bytes), "session_key_id"_a = page_session.key_id)
                .empty();
  });
}

void SetLogin(Transaction& tx, const base::Uuid& org_id, const base::Uuid& monitor_id,
              const std::optional<NewLogin>& login) {
  tx.Exec<"monitor_login_clear">("monitor_id"_a = monitor_id);
  if (!login) return;
  std::optional<std::string> secrets;
  std::optional<std::string> key_id;
  if (login->secrets) {
    secrets = Bytea(login->secrets->bytes);
    key_id = login->secrets->key_id;
  }
  tx.Exec<"monitor_login_set">("monitor_id"_a = monitor_id, "org_id"_a = org_id,
                               "secrets"_a = secrets, "secrets_key_id"_a = key_id);
}

}  // namespace vedette::store
