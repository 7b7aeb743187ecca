#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "domain/email/mail_host.h"
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

// What a host did that may block it, as the fleet counts (domain/email/mail_host.h). A host that
// is blocked is counted nothing; a block is by the database's clock.
struct MailTrouble {
  std::string domain{};  // it refused us, about this one; empty: a connection to it failed
  int reason = 0;        // domain::VerdictReason, of the block
  std::string last_reply{};
};
// True: the host is blocked now.
bool NoteMailTrouble(Session& session, const std::string& key, const MailTrouble& trouble,
                     const domain::MailBlockTimes& times);
// The host served us: what was counted of it is over, but for a block that goes on.
void NoteMailServed(Session& session, const std::string& key);
// The operator says that it will. False: nothing was counted of it.
bool UnblockMailHost(Session& session, const base::Clock& clock, const std::string& key,
                     const AuditEntry& audit);
// Those that are blocked or were of late, the last one first, at most `limit`.
std::vector<MailHost> ReadMailHosts(Session& session, int limit);

}  // namespace vedette::store
