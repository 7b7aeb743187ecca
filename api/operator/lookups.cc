#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/operator/admin_json.h"
#include "api/operator/handlers.h"
#include "base/json.h"
#include "config/lookup_config.h"
#include "config/parts.h"
#include "domain/email/finders.h"
#include "domain/email/verdict.h"
#include "domain/people/people_answer.h"
#include "store/audit.h"
#include "store/email/mail_facts.h"
#include "store/fleet/fleet.h"
#include "store/jobs/read.h"

namespace vedette::admin {

// The providers that answer lookups: those of the configuration, and in which processes they fail.

namespace {

using Order = std::pair<std::string_view, const std::vector<std::string>*>;

std::array<Order, 5> OrdersOf(const config::LookupsConfig& lookups) {
  return {Order{"find_email", &lookups.find_email},
          Order{"find_email_personal", &lookups.find_email_personal},
          Order{"company_domain", &lookups.company_domain},
          Order{"reverse_email", &lookups.reverse_email}, Order{"verify_age", &lookups.verify_age}};
}

// The lists of [lookups] that name the provider; "verifier" of the one that verifies.
base::Json OrdersNaming(const config::Config& config, const std::string& id) {
  base::Json orders = base::Json::array();
  for (const auto& [name, ids] : OrdersOf(config.lookups)) {
    if (std::find(ids->begin(), ids->end(), id) != ids->end()) orders.push_back(name);
  }
  if (config.lookups.verifier == id) orders.push_back("verifier");
  return orders;
}

std::set<std::string> OwnIds() {
  std::set<std::string> ids(std::begin(domain::kOwnFinders), std::end(domain::kOwnFinders));
  ids.insert(std::begin(domain::kOwnCompanySources), std::end(domain::kOwnCompanySources));
  ids.insert(std::begin(domain::kReverseSources), std::end(domain::kReverseSources));
  ids.insert(std::begin(domain::kAgeSources), std::end(domain::kAgeSources));
  ids.insert({std::string(domain::kOwnVerifier), std::string(domain::kDnsVerifier)});
  return ids;
}

// Why a provider of our own is off; null where it is on.
base::Json WhyOff(const config::Config& config, std::string_view id) {
  if (id == "gravatar" && config.gravatar.url.empty()) {
    return "[providers.gravatar] url is empty";
  }
  if (id == "wikidata" && !config.age.wikidata) return "[age] wikidata is false";
  if (id == domain::kOwnVerifier && config.smtp.hello_name.empty()) {
    return "[email.smtp] hello_name is empty";
  }
  return nullptr;
}

base::Json FailingOf(const std::vector<store::MemberView>& members, const std::string& id) {
  base::Json failing = base::Json::array();
  for (const store::MemberView& member : members) {
    if (!member.providers || member.heartbeat_age >= store::kLaneMemberFresh) continue;
    for (const base::Json& one : base::ParseJsonOrThrow(*member.providers)) {
      if (one["id"].get<std::string>() != id) continue;
      failing.push_back({{"member_id", member.id.ToString()},
                         {"host", member.host},
                         {"pid", member.pid},
                         {"failures", one["failures"]},
                         {"left_out", one["left_out"]}});
    }
  }
  return failing;
}

}  // namespace

// The configuration is that of the process that answers.
rest::Handled GetProviders(Call& call) {
  const std::vector<store::MemberView> members = store::ReadMembers(call.session());
  base::Json items = base::Json::array();
  const auto add = [&](const std::string& id, std::string_view kind, base::Json why) {
    items.push_back({{"id", id},
                     {"kind", kind},
                     {"state", why.is_null() ? "on" : "off"},
                     {"why", why},
                     {"orders", OrdersNaming(call.parts.config, id)},
                     {"failing", FailingOf(members, id)}});
  };
  for (const std::string& id : OwnIds()) add(id, "own", WhyOff(call.parts.config, id));
  const config::ProvidersConfig& providers = call.parts.config.providers;
  for (const auto& [id, service] : providers.http) add(id, "service", nullptr);
  for (const auto& [id, recipe] : providers.recipes) add(id, "recipe", nullptr);
  for (const auto& [id, model] : providers.llm) add(id, "model", nullptr);
  return rest::JsonReply(200, {{"items", std::move(items)}});
}

// Mail servers that the fleet leaves alone, because they refuse it or do not answer, and how many
// questions it may ask the others.

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
rest::Handled GetMailHosts(Call& call) {
  rest::Problems problems;
  rest::QueryReader input(call.request().query, &problems);
  const int limit = ReadListQuery(&input).limit;
  problems.Check();
  base::Json items = base::Json::array();
  for (const store::MailHost& host : store::ReadMailHosts(call.session(), limit)) {
    items.push_back(HostJson(host));
  }
  return rest::JsonReply(200, {{"items", std::move(items)}});
}

// What the fleet has asked mail servers in the windows that are open, the most used budget first.
// The limits are those of the process that answers.
rest::Handled GetMailBudgets(Call& call) {
  rest::Problems problems;
  rest::QueryReader input(call.request().query, &problems);
  const int limit = ReadListQuery(&input).limit;
  problems.Check();
  base::Json items = base::Json::array();
  for (const store::MailBudget& budget : store::ReadMailBudgets(call.session(), limit)) {
    const std::string kind = budget.key.substr(0, budget.key.find(' '));
    items.push_back({{"key", budget.key},
                     {"used", budget.used},
                     {"max", BudgetMax(call.parts.config.smtp, kind)},
                     {"window_at", TimeJson(budget.window_at)},
                     {"ends_at", TimeJson(budget.ends_at)}});
  }
  return rest::JsonReply(200, {{"items", std::move(items)}});
}

// The next question goes to the host again. The workers ask before each connection, so that this
// holds at once.
rest::Handled PostMailUnblock(Call& call) {
  CallBody body(call);
  const auto key = body.FilledText("key", rest::Presence::kRequired, kKeyCharsMax);
  const auto reason = body.Reason();
  body.Check();
  store::AuditEntry audit = AuditOf(call, "email.unblock", reason);
  audit.target = *key;
  const bool was_blocked = store::UnblockMailHost(call.session(), call.parts.clock, *key, audit);
  return rest::JsonReply(200, {{"key", *key}, {"unblocked", was_blocked}});
}

}  // namespace vedette::admin
