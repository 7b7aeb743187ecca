#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "domain/email/email_fact.h"
#include "store/audit.h"
#include "store/session.h"

// What organisations know of addresses and companies, and the suppression list: tables email_fact,
// email_owner, domain_pattern, company_domain and suppression.
namespace vedette::store {

// The answers to the questions, in their order: at most four statements for all of them, each by
// itself, as no answer depends on another one.
std::vector<domain::EmailKnowledge> AskEmailMemory(
    Session& session, const std::vector<domain::EmailQuestion>& questions);

// Writes what rows have learnt, in one transaction, but for addresses on the suppression list: an
// erasure may have come between. It commits asynchronously: what a crash of the database loses is
// asked again.
void LearnEmail(Session& session, const std::vector<domain::EmailLesson>& lessons);

enum class SuppressOutcome : std::uint8_t { kDone, kThereAlready, kNoOrganisation };

// Adds a key to the list of an organisation, or of all.
SuppressOutcome Suppress(Session& session, const base::Clock& clock,
                         const domain::SuppressionKey& key, const std::optional<base::Uuid>& org_id,
                         std::string_view reason, const AuditEntry& audit);
// An entry of the list as the operator sees it: never whom it is about.
struct SuppressionView {
  base::Uuid id;
  domain::SuppressionKind kind{};
  std::optional<base::Uuid> org_id;  // empty: of every organisation
  std::string reason;
  base::Timestamp created_at{};
};
struct SuppressionFilter {
  std::optional<domain::SuppressionKind> kind;
  std::optional<base::Uuid> org_id;
  // Older ones than this one only.
  std::optional<std::pair<base::Timestamp, base::Uuid>> before;
  int limit = 100;
};
// Newest first.
std::vector<SuppressionView> ListSuppressions(Session& session, const SuppressionFilter& filter);

// False where it was not there.
bool Unsuppress(Session& session, const base::Clock& clock, const domain::SuppressionKey& key,
                const std::optional<base::Uuid>& org_id, const AuditEntry& audit);

}  // namespace vedette::store
