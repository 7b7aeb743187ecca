#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "store/sql.h"

namespace vedette::store {

// Internal to store/channels/: inside the caller's transaction, which has locked the organisation.

// The recipients with these addresses, which are mailable and different, made if need be; in their
// order.
std::vector<base::Uuid> EnsureRecipients(Transaction& tx, const base::Clock& clock,
                                         const base::Uuid& org_id,
                                         const std::vector<std::string>& addresses);

// Has those of them that are not confirmed asked, each at most once a day, and of the organisation
// at most domain::kMailQuestionsPerDay.
void AskRecipients(Transaction& tx, const base::Clock& clock, const base::Uuid& org_id,
                   const base::Uuid& channel_id, const base::Uuid& endpoint_id,
                   const std::vector<base::Uuid>& recipient_ids);

// Forgets the addresses that no channel of the organisation names any more.
void ForgetRecipients(Transaction& tx, const base::Uuid& org_id);

}  // namespace vedette::store
