#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "domain/email/mail_facts.h"
#include "store/audit.h"
#include "store/session.h"

// What the fleet knows of mail servers: domains, hosts that are left out, permits. None of it
// belongs to an organisation. Losing any of it costs a question asked again, so nothing here waits
// for the disk.
namespace vedette::store {

std::optional<domain::MailDomainFacts> ReadMailDomain(Session& session, const std::string& domain);
// Inserts or replaces.
void SaveMailDomain(Session& session, const domain::MailDomainFacts& facts);

// One of the budgets that RCPT commands count against.
struct MailPermit {
  std::string key;  // "domain example.org", "class google", "hello verify.example.org"
  int cap = 0;      // in a window
  std::chrono::milliseconds window{};
};

// The host as its breaker says (mail_host), and the permits, asked for in one transaction.
struct MailAdmission {
  std::optional<base::Timestamp> blocked_until{};  // then nothing was taken
  int blocked_before = 0;                          // times in a row
  bool granted = false;
  std::chrono::milliseconds wait{};  // of what was not granted: until the fullest window ends
};

// Takes `recipients` permits of every key, or none at all. A window begins with its first use, by
// the database's clock.
MailAdmission AdmitRecipients(Session& session, const std::string& host_key,
                              const std::vector<MailPermit>& permits, int recipients);

// What was used of a budget in the window that is open, for the operator.
struct MailBudget {
  std::string key;  // as of a permit
  int used = 0;
  base::Timestamp window_at{};  // its first use
  base::Timestamp ends_at{};    // by the length that such a window has
};
// The most used ones first, at most `limit`.
std::vector<MailBudget> ReadMailBudgets(Session& session, int limit);

// A host that is left out, for the operator.
struct MailHost {
  std::string key;
  int failures = 0;  // how often in a row it was blocked
  std::optional<base::Timestamp> blocked_until{};
  int reason = 0;          // domain::VerdictReason
  std::string last_reply;  // without addresses, at most kMailReplyBytesMax
  base::Timestamp updated_at{};
};
inline constexpr std::size_t kMailReplyBytesMax = 300;

// Leaves the host out for `block`, by the database's clock.
void BlockMailHost(Session& session, const std::string& key, std::chrono::milliseconds block,
                   int reason, const std::string& last_reply);
// The host served us. False: it was not blocked.
bool UnblockMailHost(Session& session, const std::string& key);
// The operator says that it will: the same, with its audit.
bool UnblockMailHost(Session& session, const base::Clock& clock, const std::string& key,
                     const AuditEntry& audit);
// Those that are blocked or were of late, the last one first, at most `limit`.
std::vector<MailHost> ReadMailHosts(Session& session, int limit);

}  // namespace vedette::store
