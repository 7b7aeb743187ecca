#pragma once

#include <exception>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/uuid.h"
#include "store/session.h"

// Whether an organisation may be written to in this database, or is on its way to another cell's
// (docs/decisions/0077-moving-an-organisation.md). All functions throw as InTransaction does
// (store/session.h).
namespace vedette::store {

class Transaction;  // store/sql.h; only store/ has any

struct OrganisationPlace {
  std::optional<std::string> lives_at;          // the other cell where it does; "": the first one
  std::optional<base::Timestamp> moving_until;  // while it is locked for the end of its move

  bool is_here() const { return !lives_at && !moving_until; }
};

// What would be written to it here would be nobody's, or be written again at the other cell.
class OrganisationAway : public std::exception {
 public:
  explicit OrganisationAway(OrganisationPlace place);

  const OrganisationPlace& place() const { return place_; }
  const char* what() const noexcept override;

 private:
  OrganisationPlace place_;
};

// `id` is an organisation's, or that of a monitor, job, schedule or delivery that it has. Here
// where nothing has it.
OrganisationPlace PlaceOf(Session& session, const base::Uuid& id);

// Throws OrganisationAway. An organisation that is not known is no matter of this.
void CheckIsHere(const OrganisationPlace& place);
void CheckIsHere(Session& session, const base::Uuid& id);

// Internal to store/: the same inside the caller's transaction, until whose end no move begins its
// lock. False when there is no such organisation.
bool HoldHere(Transaction& tx, const base::Uuid& org_id);

}  // namespace vedette::store
