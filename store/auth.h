#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/uuid.h"
#include "store/control.h"
#include "store/session.h"

namespace vedette::store {

// Who calls, as the database knows it at this moment.
struct Caller {
  base::Uuid api_key_id;
  base::Uuid org_id;
  std::optional<base::Uuid> team_id;
  bool organisation_locked = false;
  std::set<std::string, std::less<>> features;

  MonitorScope scope() const { return {org_id, team_id}; }
  bool Has(std::string_view feature) const { return features.find(feature) != features.end(); }
};

struct Authentication {
  Caller caller;
  // This request is the so-manieth of the key in the current minute; 0 where requests are not
  // counted.
  std::int64_t requests = 0;
  base::Timestamp minute_ends_at;
};

// Whether the text has the form of an API key. Any other is no key, without a look at the database.
bool IsApiKey(std::string_view text);

// Finds the key, counts the request where `count` is set: one statement, read at every request so
// that a lock or a revocation holds at once. Empty for a key that is malformed, unknown or revoked.
std::optional<Authentication> Authenticate(Session& session, std::string_view api_key, bool count);

}  // namespace vedette::store
