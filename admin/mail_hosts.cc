#include <string>

#include "admin/handlers.h"
#include "admin/shapes.h"
#include "config/config.h"
#include "config/lookup_config.h"
#include "domain/email/verdict.h"
#include "store/audit.h"
#include "store/email/mail_facts.h"

// Mail servers that the fleet leaves alone, because they refuse it or do not answer, and how many
// questions it may ask the others.
namespace vedette::admin {
namespace {

constexpr int kKeyCharsMax = 300;

base::Json HostJson(const store::MailHost& host) {
  const auto reason = static_cast<domain::VerdictReason>(host.reason);
  return {{"key", host.key},
          {"blocked_until", TimeJson(host.blocked_until)},
          {"failures", host.failures},
          {"reason", host.reason > 0 && host.reason < domain::kVerdictReasons
                         ? base::Json(domain::VerdictReasonName(reason))
                         : base::Json(nullptr)},
          {"last_reply", host.last_reply},
          {"updated_at", base::FormatTimestamp(host.updated_at)}};
}

int BudgetMax(const config::SmtpConfig& smtp, const std::string& kind) {
  if (kind == "domain") return smtp.per_domain_hour;
  return kind == "class" ? smtp.per_class_minute : smtp.per_day;
}

}  // namespace

// Those that are blocked, or were of late; the last one first.
rest::Reply GetMailHosts(const Parts&, store::Session& session, const Call& call) {
  rest::Problems problems;
  rest::QueryReader input(call.request.query, &problems);
  const int limit = ReadListQuery(&input).limit;
  if (auto refusal = problems.Refusal()) return std::move(*refusal);
  base::Json items = base::Json::array();
  for (const store::MailHost& host : store::ReadMailHosts(session, limit)) {
    items.push_back(HostJson(host));
  }
  return rest::JsonReply(200, {{"items", std::move(items)}});
}

// What the fleet has asked mail servers in the windows that are open, the most used budget first.
// The limits are those of the process that answers.
rest::Reply GetMailBudgets(const Parts& parts, store::Session& session, const Call& call) {
  rest::Problems problems;
  rest::QueryReader input(call.request.query, &problems);
  const int limit = ReadListQuery(&input).limit;
  if (auto refusal = problems.Refusal()) return std::move(*refusal);
  base::Json items = base::Json::array();
  for (const store::MailBudget& budget : store::ReadMailBudgets(session, limit)) {
    const std::string kind = budget.key.substr(0, budget.key.find(' '));
    items.push_back({{"key", budget.key},
                     {"used", budget.used},
                     {"max", BudgetMax(parts.config.smtp, kind)},
                     {"window_at", TimeJson(budget.window_at)},
                     {"ends_at", TimeJson(budget.ends_at)}});
  }
  return rest::JsonReply(200, {{"items", std::move(items)}});
}

// The next question goes to the host again. The workers ask before each connection, so that this
// holds at once.
rest::Reply PostMailUnblock(const Parts& parts, store::Session& session, const Call& call) {
  CallBody body(parts, call);
  const auto key = body.FilledText("key", rest::Presence::kRequired, kKeyCharsMax);
  const auto reason = body.Reason();
  if (auto refusal = body.Refusal()) return std::move(*refusal);
  store::AuditEntry audit = AuditOf(call, "email.unblock", reason);
  audit.target = *key;
  const bool was_blocked = store::UnblockMailHost(session, parts.clock, *key, audit);
  return rest::JsonReply(200, {{"key", *key}, {"unblocked", was_blocked}});
}

}  // namespace vedette::admin
