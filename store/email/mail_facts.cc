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
        const auto result = tx.Exec<"mail_domain_read">("domain"_a = domain);
        if (result.empty()) return std::nullopt;
        domain::MailDomainFacts facts;
        Columns(result.at(0))
            .Into("domain"_a = &facts.domain, "mx_kind"_a = &facts.kind, "hosts"_a = &facts.hosts,
                  "class"_a = &facts.mail_class, "mx_at"_a = &facts.mx_at,
                  "control"_a = &facts.control, "control_at"_a = &facts.control_at,
                  "accepts_all"_a = &facts.accepts_all, "accepts_all_at"_a = &facts.accepts_all_at,
                  "recipients_max"_a = &facts.recipients_max,
                  "recipients_at"_a = &facts.recipients_at);
        return facts;
      },
      Durability::kOneStatement);
}

void SaveMailDomain(Session& session, const domain::MailDomainFacts& facts) {
  InTransaction(
      session,
      [&](Transaction& tx) {
        tx.Exec<"mail_domain_save">(
            "domain"_a = facts.domain, "mx_kind"_a = facts.kind, "hosts"_a = facts.hosts,
            "class"_a = facts.mail_class, "mx_at"_a = facts.mx_at, "control"_a = facts.control,
            "control_at"_a = facts.control_at, "accepts_all"_a = facts.accepts_all,
            "accepts_all_at"_a = facts.accepts_all_at, "recipients_max"_a = facts.recipients_max,
            "recipients_at"_a = facts.recipients_at);
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
          const auto host = tx.Exec<"mail_host_state">("key"_a = host_key);
          if (!host.empty()) {
            Columns(host.at(0)).Into("blocked_until"_a = &admission.blocked_until);
          }
          if (admission.blocked_until) return;
          const auto taken = tx.Exec<"mail_budget_take">(
              "key"_a = keys, "cap"_a = caps, "window_ms"_a = windows, "used"_a = recipients);
          admission.granted = static_cast<std::size_t>(taken.size()) == keys.size();
          if (admission.granted) return;
          admission.wait = std::chrono::milliseconds(ReadOne<std::int64_t>(
              tx.Exec<"mail_budget_wait">("key"_a = keys, "cap"_a = caps, "window_ms"_a = windows,
                                          "recipients"_a = recipients)));
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
        const auto counted =
            tx.Exec<"mail_host_trouble">("key"_a = key, "domain"_a = trouble.domain);
        if (counted.empty()) return false;
        int refusals = 0;
        int connect_failures = 0;
        int blocked_before = 0;
        Columns(counted.at(0))
            .Into("refusals"_a = &refusals, "connect_failures"_a = &connect_failures,
                  "failures"_a = &blocked_before);
        if (refusals < domain::kMailRefusalsMax &&
            connect_failures < domain::kMailConnectFailuresMax) {
          return false;
        }
        tx.Exec<"mail_host_block">(
            "key"_a = key, "block_ms"_a = domain::MailBlockFor(times, blocked_before).count(),
            "reason"_a = trouble.reason,
            "last_reply"_a = trouble.last_reply.substr(0, kMailReplyBytesMax));
        return true;
      },
      Durability::kAsync);
}

void NoteMailServed(Session& session, const std::string& key) {
  InTransaction(
      session, [&](Transaction& tx) { tx.Exec<"mail_host_served">("key"_a = key); },
      Durability::kAsync);
}

bool UnblockMailHost(Session& session, const base::Clock& clock, const std::string& key,
                     const AuditEntry& audit) {
  return InTransaction(session, [&](Transaction& tx) {
    const bool was_blocked = tx.Exec<"mail_host_unblock">("key"_a = key).affected_rows() > 0;
    if (was_blocked) InsertAudit(tx, clock, audit);
    return was_blocked;
  });
}

std::vector<MailHost> ReadMailHosts(Session& session, int limit) {
  return InTransaction(
      session,
      [&](Transaction& tx) {
        std::vector<MailHost> hosts;
        for (const auto& row : tx.Exec<"mail_hosts">("limit"_a = limit)) {
          MailHost& host = hosts.emplace_back();
          Columns(row).Into("key"_a = &host.key, "failures"_a = &host.failures,
                            "blocked_until"_a = &host.blocked_until, "reason"_a = &host.reason,
                            "last_reply"_a = &host.last_reply, "updated_at"_a = &host.updated_at);
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
        for (const auto& row : tx.Exec<"mail_budgets">("limit"_a = limit)) {
          MailBudget& budget = budgets.emplace_back();
          Columns(row).Into("key"_a = &budget.key, "used"_a = &budget.used,
                            "window_at"_a = &budget.window_at, "ends_at"_a = &budget.ends_at);
        }
        return budgets;
      },
      Durability::kOneStatement);
}

}  // namespace vedette::store
