#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "admin/handlers.h"
#include "config/config.h"
#include "domain/email/provider_ids.h"
#include "domain/people/source_ids.h"
#include "store/fleet/fleet.h"
#include "store/jobs/read.h"

// Who answers lookups: the providers of the configuration, and in which processes they fail.
namespace vedette::admin {
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
rest::Reply GetProviders(const Parts& parts, store::Session& session, const Call&) {
  const std::vector<store::MemberView> members = store::ReadMembers(session);
  base::Json items = base::Json::array();
  const auto add = [&](const std::string& id, std::string_view kind, base::Json why) {
    items.push_back({{"id", id},
                     {"kind", kind},
                     {"state", why.is_null() ? "on" : "off"},
                     {"why", why},
                     {"orders", OrdersNaming(parts.config, id)},
                     {"failing", FailingOf(members, id)}});
  };
  for (const std::string& id : OwnIds()) add(id, "own", WhyOff(parts.config, id));
  const config::ProvidersConfig& providers = parts.config.providers;
  for (const auto& [id, service] : providers.http) add(id, "service", nullptr);
  for (const auto& [id, recipe] : providers.recipes) add(id, "recipe", nullptr);
  for (const auto& [id, model] : providers.llm) add(id, "model", nullptr);
  return rest::JsonReply(200, {{"items", std::move(items)}});
}

}  // namespace vedette::admin
