#pragma once

#include <optional>

#include "base/uuid.h"
#include "store/sealed.h"
#include "store/session.h"

namespace vedette::store {

class Transaction;  // store/sql.h; only store/ has any

// What the pages of a monitor are acted on with, sealed: the secrets that its steps type
// (ProbeSecretsBinding), and the session that the last page has left (PageSessionBinding). All
// functions throw as InTransaction does (store/session.h).

// What a monitor needs whose steps or secrets change: from then on it has no session.
struct NewLogin {
  std::optional<Sealed> secrets;
};

struct MonitorLogin {
  base::Uuid version;  // another one with each NewLogin
  std::optional<Sealed> secrets;
  std::optional<Sealed> session;
};
// Empty where the monitor needs none, or is not the organisation's.
std::optional<MonitorLogin> ReadLogin(Session& session, const base::Uuid& org_id,
                                      const base::Uuid& monitor_id);

// Keeps the session of a page in the place of the one before. False, and nothing is kept, where the
// login has another version by now, or is gone.
bool KeepPageSession(Session& session, const base::Uuid& org_id, const base::Uuid& monitor_id,
                     const base::Uuid& version, const Sealed& page_session);

// Internal to store/: in the place of what the monitor had; nothing where it needs none.
void SetLogin(Transaction& tx, const base::Uuid& org_id, const base::Uuid& monitor_id,
              const std::optional<NewLogin>& login);

}  // namespace vedette::store
