#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/json_text.h"
#include "base/uuid.h"
#include "domain/auth/principal.h"
#include "store/session.h"

namespace vedette::store {

class Transaction;  // store/sql.h; only store/ has any

// One change made through the admin port, or by a caller of the API: who, what, to what, why, from
// where. Written in the transaction of the change itself.
struct AuditEntry {
  std::string actor;   // the admin token's name; of the API's callers, Principal::label
  std::string action;  // "monitor.pause", "org.credits", ...
  std::string target;  // the id acted on; a creation fills it in
  std::optional<base::Uuid> org_id;
  std::optional<std::string> reason;
  std::optional<base::JsonText> detail;
  std::string remote_address;
  std::optional<domain::Principal> principal{};  // of the API's callers
};

// Internal to store/: writes the entry in the caller's transaction. `clock` gives the id its time.
void InsertAudit(Transaction& tx, const base::Clock& clock, const AuditEntry& entry);

// One entry of the audit, as written.
struct AuditRecord {
  base::Uuid id;
  base::Timestamp at;
  std::string actor;
  std::string action;
  std::string target;
  std::optional<base::Uuid> org_id;
  std::optional<std::string> reason;
  std::optional<base::JsonText> detail;
  std::string remote_address;
  std::optional<domain::PrincipalKind> principal_kind;  // where a caller of the API did it
  std::optional<base::Uuid> principal_id;
  std::optional<std::string> on_behalf_of;
};

// The place of an entry in the list.
struct AuditPlace {
  base::Timestamp at;
  base::Uuid id;
};

// Which entries; what is empty is any.
struct AuditFilter {
  std::optional<base::Uuid> org_id;
  std::optional<base::Uuid> principal_id;
  std::optional<std::string> action;
  std::optional<std::string> actor;
  std::optional<std::string> target;
  std::optional<AuditPlace> before;
  int limit = 0;
};

// Newest first, at most `limit`, behind the place `before`. Throws as InTransaction does.
std::vector<AuditRecord> ListAudit(Session& session, const AuditFilter& filter);

// An entry for what changes nothing in the database (a drain). Throws as InTransaction does.
void WriteAudit(Session& session, const base::Clock& clock, const AuditEntry& entry);

}  // namespace vedette::store
