#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "base/json_text.h"
#include "base/uuid.h"
#include "domain/principal.h"

namespace vedette::store {

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

}  // namespace vedette::store
