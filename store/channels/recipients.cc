#include "store/channels/recipients.h"

#include "domain/monitor/enums.h"
#include "store/place.h"
#include "store/sql.h"

namespace vedette::store {

std::vector<base::Uuid> EnsureRecipients(Transaction& tx, const base::Clock& clock,
                                         const base::Uuid& org_id,
                                         const std::vector<std::string>& addresses) {
  // In the order of their digests, which everybody keeps who locks several.
  std::map<std::string, std::string> by_digest;
  for (const std::string& address : addresses) {
    by_digest.emplace(domain::MailDigest(address), address);
  }
  Rows<Column<"id", base::Uuid>, Column<"digest", std::string>, Column<"address", std::string>>
      rows;
  for (const auto& [digest, address] : by_digest) {
    rows.Add(base::Uuid::V7(clock), Bytea(digest), address);
  }
  std::map<std::string, base::Uuid> ids;
  for (const auto& row : tx.Exec<"recipient_ensure">("org_id"_a = org_id, rows)) {
    base::Uuid id;
    std::string digest;
    Columns(row).Into("id"_a = &id, "digest"_a = BytesInto{&digest});
    ids.emplace(std::move(digest), id);
  }
  std::vector<base::Uuid> ordered;
  ordered.reserve(addresses.size());
  for (const std::string& address : addresses) {
    ordered.push_back(ids.at(domain::MailDigest(address)));
  }
  return ordered;
}

void AskRecipients(Transaction& tx, const base::Clock& clock, const base::Uuid& org_id,
                   const base::Uuid& channel_id, const base::Uuid& endpoint_id,
                   const std::vector<base::Uuid>& recipient_ids) {
  Rows<Column<"recipient_id", base::Uuid>, Column<"delivery_id", base::Uuid>> rows;
  for (const base::Uuid& id : recipient_ids) rows.Add(id, base::Uuid::V7(clock));
  if (rows.empty()) return;
  tx.Exec<"recipient_ask">(
      rows, "org_id"_a = org_id, "channel_id"_a = channel_id, "endpoint_id"_a = endpoint_id,
      "questions_max"_a = domain::kMailQuestionsPerDay, "type"_a = domain::NotificationType::kTest);
}

void ForgetRecipients(Transaction& tx, const base::Uuid& org_id) {
  tx.Exec<"recipient_forget">("org_id"_a = org_id);
  tx.Exec<"recipient_drop">("org_id"_a = org_id);
}

std::map<base::Uuid, std::vector<domain::MailAddress>> ReadRecipients(
    Session& session, const base::Uuid& org_id, const std::vector<base::Uuid>& channel_ids) {
  return Read(session, [&](Transaction& tx) {
    std::map<base::Uuid, std::vector<domain::MailAddress>> recipients;
    for (const auto& row :
         tx.Exec<"recipient_list">("channel_ids"_a = channel_ids, "org_id"_a = org_id)) {
      base::Uuid channel_id;
      domain::MailAddress address;
      Columns(row).Into("channel_id"_a = &channel_id, "id"_a = &address.id,
                        "address"_a = &address.address, "status"_a = &address.status,
                        "status_reason"_a = &address.reason);
      recipients[channel_id].push_back(std::move(address));
    }
    return recipients;
  });
}

namespace {

// Before its row is locked: a move locks the organisation first.
void HoldOrganisationOf(Transaction& tx, const base::Uuid& id) {
  const auto org_id = ReadFirst<base::Uuid>(tx.Exec<"recipient_org">("id"_a = id));
  if (org_id) HoldHere(tx, *org_id);
}

}  // namespace

void CheckRecipientIsHere(Session& session, const base::Uuid& id) {
  InTransaction(session, [&](Transaction& tx) { HoldOrganisationOf(tx, id); });
}

bool ConfirmRecipient(Session& session, const base::Uuid& id) {
  return InTransaction(session, [&](Transaction& tx) {
    HoldOrganisationOf(tx, id);
    return !tx.Exec<"recipient_confirm">("id"_a = id).empty();
  });
}

bool UnsubscribeRecipient(Session& session, const base::Uuid& id) {
  return InTransaction(session, [&](Transaction& tx) {
    HoldOrganisationOf(tx, id);
    return !tx.Exec<"recipient_unsubscribe">("id"_a = id).empty();
  });
}

}  // namespace vedette::store
