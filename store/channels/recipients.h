#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "domain/channel/mail.h"
#include "store/session.h"

// The recipients of an organisation's e-mail (domain/channel/mail.h). What the owner of an address
// says holds for all channels of the organisation. Functions throw as InTransaction does.
namespace vedette::store {

class Transaction;  // store/sql.h; only store/ has any

// Recipients of channels of the organisation, by channel, in the order in which they were given.
// The address of one who left, and whom no channel named for a time, is empty.
std::map<base::Uuid, std::vector<domain::MailAddress>> ReadRecipients(
    Session& session, const base::Uuid& org_id, const std::vector<base::Uuid>& channel_ids);

// What its owner does by a link, and whether he could: they throw OrganisationAway (store/place.h),
// since the other cell would go on telling him. False where there is no such recipient, or, of a
// confirmation, one who left or was refused.
void CheckRecipientIsHere(Session& session, const base::Uuid& id);
bool ConfirmRecipient(Session& session, const base::Uuid& id);
bool UnsubscribeRecipient(Session& session, const base::Uuid& id);

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
