#include "store/email/mail_facts.h"

#include <algorithm>

#include "store/audit.h"
#include "store/sql.h"

namespace vedette::store {
namespace {

// Thrown to take back the permits of a transaction that did not get all of them.
struct NotGranted {};

}  // namespace

std::optional<domain::MailDomainFacts> ReadMailDomain(Session& session, const std::string& domain) {
  return InTransaction(
      session,
      [&](Transaction& tx) -> std::optional<domain::MailDomainFacts> {
        const auto result = tx.Exec("mail_domain_read", domain);
        if (result.empty()) return std::nullopt;
        domain::MailDomainFacts facts;
        Columns(result.at(0))
            .Into(&facts.domain, &facts.kind, &facts.hosts, &facts.mail_class, &facts.mx_at,
                  &facts.control, &facts.control_at, &facts.accepts_all, &facts.accepts_all_at,
                  &facts.recipients_max, &facts.recipients_at);
        return facts;
      },
      Durability::kOneStatement);
}

void SaveMailDomain(Session& session, const domain::MailDomainFacts& facts) {
  InTransaction(
      session,
      [&](Transaction& tx) {
        tx.Exec("mail_domain_save", facts.domain, facts.kind, facts.hosts, facts.mail_class,
                facts.mx_at, facts.control, facts.control_at, facts.accepts_all,
                facts.accepts_all_at, facts.recipients_max, facts.recipients_at);
      },
      Durability::kAsync);
}

MailAdmission AdmitRecipients(Session& session, const std::string& host_key,
                              const std::vector<MailPermit>& permits, int recipients) {
  std::vector<MailPermit> sorted = permits;  // in one order everywhere, so that nobody deadlocks
  std::sort(sorted.begin(), sorted.end(),
            [](const MailPermit& a, const MailPermit& b) { return a.key < b.key; });
  std::vector<std::string> keys;
  std::vector<int> caps;
  std::vector<std::int64_t> windows;
  for (const MailPermit& permit : sorted) {
    keys.push_back(permit.key);
    caps.push_back(permit.cap);
    windows.push_back(permit.window.count());
  }
  MailAdmission admission;
  try {
    InTransaction(
        session,
        [&](Transaction& tx) {
          admission = {};
          const auto host = tx.Exec("mail_host_state", host_key);
          if (!host.empty()) {
            Columns(host.at(0)).Into(&admission.blocked_until);
          }
          if (admission.blocked_until) return;
          const auto taken = tx.Exec("mail_budget_take", keys, caps, windows, recipients);
          admission.granted = static_cast<std::size_t>(taken.size()) == keys.size();
          if (admission.granted) return;
          admission.wait = std::chrono::milliseconds(
              ReadOne<std::int64_t>(tx.Exec("mail_budget_wait", keys, caps, windows, recipients)));
          throw NotGranted();
        },
        Durability::kAsync);
  } catch (const NotGranted&) {
    // What some keys gave is taken back with the transaction.
  }
  return admission;
}

bool NoteMailTrouble(Session& session, const std::string& key, const MailTrouble& trouble,
                     const domain::MailBlockTimes& times) {
  return InTransaction(
      session,
      [&](Transaction& tx) {
        // The first statement locks the host's row, so that of the processes that count at the same
        // time one blocks it.
        const auto counted = tx.Exec("mail_host_trouble", key, trouble.domain);
        if (counted.empty()) return false;
        int refusals = 0;
        int connect_failures = 0;
        int blocked_before = 0;
        Columns(counted.at(0)).Into(&refusals, &connect_failures, &blocked_before);
        if (refusals < domain::kMailRefusalsMax &&
            connect_failures < domain::kMailConnectFailuresMax) {
          return false;
        }
        tx.Exec("mail_host_block", key, domain::MailBlockFor(times, blocked_before).count(),
                trouble.reason, trouble.last_reply.substr(0, kMailReplyBytesMax));
        return true;
      },
      Durability::kAsync);
}

void NoteMailServed(Session& session, const std::string& key) {
  InTransaction(
      session, [&](Transaction& tx) { tx.Exec("mail_host_served", key); }, Durability::kAsync);
}

bool UnblockMailHost(Session& session, const base::Clock& clock, const std::string& key,
                     const AuditEntry& audit) {
  return InTransaction(session, [&](Transaction& tx) {
    const bool was_blocked = tx.Exec("mail_host_unblock", key).affected_rows() > 0;
    if (was_blocked) InsertAudit(tx, clock, audit);
    return was_blocked;
  });
}

std::vector<MailHost> ReadMailHosts(Session& session, int limit) {
  return InTransaction(
      session,
      [&](Transaction& tx) {
        std::vector<MailHost> hosts;
        for (const auto& row : tx.Exec("mail_hosts", limit)) {
          MailHost& host = hosts.emplace_back();
          Columns(row).Into(&host.key, &host.failures, &host.blocked_until, &host.reason,
                            &host.last_reply, &host.updated_at);
        }
        return hosts;
      },
      Durability::kOneStatement);
}

std::vector<MailBudget> ReadMailBudgets(Session& session, int limit) {
  return InTransaction(
      session,
      [&](Transaction& tx) {
        std::vector<MailBudget> budgets;
        for (const auto& row : tx.Exec("mail_budgets", limit)) {
          MailBudget& budget = budgets.emplace_back();
          Columns(row).Into(&budget.key, &budget.used, &budget.window_at, &budget.ends_at);
        }
        return budgets;
      },
      Durability::kOneStatement);
}

}  // namespace vedette::store
