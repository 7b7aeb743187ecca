#include "api/operator/admin_json.h"

#include <chrono>
#include <utility>

#include "api/operator/job_json.h"
#include "base/json.h"
#include "domain/job/webhook.h"
#include "domain/money/money.h"
#include "domain/monitor/enums.h"

namespace vedette::admin {
namespace {

base::Json AgeJson(const std::optional<std::chrono::milliseconds>& age) {
  return age ? base::Json(age->count()) : base::Json(nullptr);
}

std::optional<std::string> ClassOf(const std::optional<std::string>& error) {
  if (!error) return std::nullopt;
  return std::string(domain::ErrorClass(*error));
}

base::Json AttemptJson(const store::DeliveryAttemptView& attempt) {
  const std::chrono::duration<double, std::milli> duration = attempt.duration;
  return {
      {"attempt", attempt.attempt},
      {"attempted_at", TimeJson(attempt.attempted_at)},
      {"delivered", attempt.delivered},
      {"status_code", attempt.status_code ? base::Json(*attempt.status_code) : base::Json()},
      {"error_class", TextJson(ClassOf(attempt.error))},
      {"error", TextJson(attempt.error)},
      {"answer", TextJson(attempt.answer)},
      {"duration_ms", duration.count()},
  };
}

base::Json MemberJson(const store::MemberView& member, const base::Uuid& this_member) {
  return {
      {"id", member.id.ToString()},
      {"roles", member.roles},
      {"version", member.version},
      {"host", member.host},
      {"pid", member.pid},
      {"started_at", TimeJson(member.started_at)},
      {"heartbeat_at", TimeJson(member.heartbeat_at)},
      {"heartbeat_age_ms", member.heartbeat_age.count()},
      {"draining", member.draining},
      {"counters", base::ParseJsonOrThrow(member.counters)},
      {"jobs", MemberJobsJson(member)},
      {"mail_check",
       member.mail_check ? base::ParseJsonOrThrow(*member.mail_check) : base::Json(nullptr)},
      {"providers",
       member.providers ? base::ParseJsonOrThrow(*member.providers) : base::Json(nullptr)},
      {"answering", member.id == this_member},
  };
}

base::Json BacklogJson(const store::BacklogView& backlog) {
  return {
      {"org_id", backlog.org_id.ToString()},
      {"name", backlog.name},
      {"chunks", backlog.chunks},
      {"checks", backlog.checks},
      {"oldest_due_age_ms", backlog.oldest_due_age.count()},
  };
}

base::Json FailingReceiverJson(const store::FailingReceiverView& receiver) {
  return {
      {"org_id", receiver.org_id.ToString()},
      {"address", receiver.address},
      {"failing_since", TimeJson(receiver.failing_since)},
      {"failed_at", TimeJson(receiver.failed_at)},
      {"failures", receiver.failures},
  };
}

base::Json FailingMonitorJson(const store::FailingMonitorView& monitor) {
  return {
      {"id", monitor.id.ToString()},
      {"org_id", monitor.org_id.ToString()},
      {"name", monitor.name},
      {"failing_since", TimeJson(monitor.failing_since)},
  };
}

base::Json LateMonitorJson(const store::LateMonitorView& monitor) {
  return {
      {"id", monitor.id.ToString()},
      {"org_id", monitor.org_id.ToString()},
      {"name", monitor.name},
      {"frequency", monitor.frequency},
      {"last_run_at", TimeJson(monitor.last_run_at)},
      {"next_run_at", TimeJson(monitor.next_run_at)},
      {"late_ms", monitor.late.count()},
  };
}

}  // namespace

base::Json TimeJson(const std::optional<base::Timestamp>& t) {
  return t ? base::Json(base::FormatTimestamp(*t)) : base::Json(nullptr);
}

base::Json TextJson(const std::optional<std::string>& text) {
  return text ? base::Json(*text) : base::Json(nullptr);
}

base::Json IdJson(const std::optional<base::Uuid>& id) {
  return id ? base::Json(id->ToString()) : base::Json(nullptr);
}

base::Json TeamJson(const store::Team& team) {
  return {
      {"id", team.id.ToString()},
      {"name", team.name},
      {"spend_limit",
       team.spend_limit_mc ? domain::CreditsToJson(*team.spend_limit_mc) : base::Json(nullptr)},
      {"spent", domain::CreditsToJson(team.spent_mc)},
  };
}

base::Json OrganisationJson(const store::Organisation& org) {
  base::Json teams = base::Json::array();
  for (const store::Team& team : org.teams) teams.push_back(TeamJson(team));
  return {
      {"id", org.id.ToString()},
      {"name", org.name},
      {"external_id", TextJson(org.external_id)},
      {"locked", org.locked},
      {"lives_at", TextJson(org.lives_at)},
      {"features", org.features},
      {"balance", domain::CreditsToJson(org.balance_mc)},
      {"reserved", domain::CreditsToJson(org.reserved_mc)},
      {"charged", domain::CreditsToJson(org.charged_mc)},
      {"run_data_bytes", org.run_data_bytes},
      {"teams", std::move(teams)},
      {"created_at", TimeJson(org.created_at)},
  };
}

base::Json WaitingForJson(const store::DeliveryView& delivery) {
  return delivery.waits_for ? base::Json(domain::DeliveryWaitName(*delivery.waits_for))
                            : base::Json(nullptr);
}

base::Json DeliveryJson(const store::DeliveryView& delivery) {
  return {
      {"id", delivery.id.ToString()},
      {"state", domain::DeliveryStateName(delivery.state)},
      {"type", domain::DeliveredTypeName(delivery.type, delivery.names_channel)},
      {"org_id", delivery.org_id.ToString()},
      {"monitor_id", IdJson(delivery.monitor_id)},
      {"row_id", IdJson(delivery.row_id)},
      {"job_id", IdJson(delivery.job_id)},
      {"channel_id", IdJson(delivery.channel_id)},
      {"event_group_id", delivery.event_group_id.ToString()},
      {"attempts", delivery.attempts},
      {"next_attempt_at", TimeJson(delivery.next_attempt_at)},
      {"waiting_for", WaitingForJson(delivery)},
      {"last_error", TextJson(delivery.last_error)},
      {"created_at", TimeJson(delivery.created_at)},
  };
}

base::Json DeliveryDetailJson(const store::DeliveryDetail& detail) {
  base::Json json = DeliveryJson(detail.delivery);
  base::Json history = base::Json::array();
  for (const auto& attempt : detail.attempts) history.push_back(AttemptJson(attempt));
  json["history"] = std::move(history);
  json["request"] = nullptr;
  if (detail.request) {
    base::Json headers = base::Json::object();
    for (const auto& [name, value] : detail.request->headers) headers[name] = value;
    json["request"] = {{"method", "POST"},
                       {"url", detail.request->url},
                       {"headers", std::move(headers)},
                       {"body", detail.request->body}};
  }
  return json;
}

namespace {

// Why an answer of a cell cannot be read; empty, with what it says, where it can.
std::string ReadAnswer(const CellAnswer& answer, base::Json* said) {
  if (!answer.error.empty()) return answer.error;
  if (base::ParseJson(answer.body, said) || !said->is_object()) {
    return "its answer is not that of an admin port";
  }
  return {};
}

// Another server's member, where it is one that stands for itself.
base::Json PlainMember(const base::Json& object, const char* name) {
  const auto it = object.find(name);
  return it == object.end() || it->is_structured() ? base::Json(nullptr) : *it;
}

base::Json CellItem(const CellAnswer& answer) {
  return {{"cell", answer.cell},
          {"url", answer.url.empty() ? base::Json(nullptr) : base::Json(answer.url)}};
}

}  // namespace

void AddCell(const CellAnswer& answer, base::Json* body) {
  base::Json said;
  base::Json item = CellItem(answer);
  std::string error = ReadAnswer(answer, &said);
  if (error.empty()) {
    for (const char* name :
         {"version", "organisations", "monitors", "checks_due", "lag_ms", "undelivered_ms"}) {
      item[name] = PlainMember(said, name);
    }
    if (PlainMember(said, "cell") != answer.cell) error = "it says that it is another cell";
  }
  item["reachable"] = error.empty();
  if (!error.empty()) item["error"] = std::move(error);
  (*body)["items"].push_back(std::move(item));
}

base::Json NothingFound() {
  return {{"items", base::Json::array()},
          {"more", false},
          {"unreachable", base::Json::array()},
          {"lives_at", nullptr}};
}

void AddFound(const CellAnswer& answer, base::Json* body) {
  base::Json said;
  const std::string error = ReadAnswer(answer, &said);
  if (!error.empty()) {
    (*body)["unreachable"].push_back({{"cell", answer.cell}, {"error", error}});
    return;
  }
  int found = 0;
  for (const base::Json& org : said.value("items", base::Json::array())) {
    if (!org.is_object()) continue;
    if (++found > kFoundPerCellMax) break;
    base::Json item = CellItem(answer);
    for (const char* name : {"id", "name", "external_id", "locked", "lives_at", "balance"}) {
      item[name] = PlainMember(org, name);
    }
    (*body)["items"].push_back(std::move(item));
  }
  if (found > kFoundPerCellMax || said.contains("next_cursor")) (*body)["more"] = true;
}

base::Json OverviewJson(const store::Overview& overview, const store::JobOverview& jobs,
                        const base::Uuid& this_member) {
  base::Json members = base::Json::array();
  for (const auto& member : overview.members) members.push_back(MemberJson(member, this_member));
  base::Json backlog = base::Json::array();
  for (const auto& org : overview.backlog) backlog.push_back(BacklogJson(org));
  base::Json late = base::Json::array();
  for (const auto& monitor : overview.late) late.push_back(LateMonitorJson(monitor));
  base::Json monitors_failing = base::Json::array();
  for (const auto& monitor : overview.monitors_failing_longest) {
    monitors_failing.push_back(FailingMonitorJson(monitor));
  }
  base::Json failing = base::Json::array();
  for (const auto& receiver : overview.failing) failing.push_back(FailingReceiverJson(receiver));
  return {
      {"at", TimeJson(overview.at)},
      {"members", std::move(members)},
      {"chunks",
       {{"due", overview.chunks_due},
        {"leased", overview.chunks_leased},
        {"waiting", overview.chunks_waiting},
        {"oldest_due_age_ms", AgeJson(overview.oldest_due_age)}}},
      {"checks", {{"due", overview.checks_due}, {"leased", overview.checks_leased}}},
      {"deliveries",
       {{"pending", overview.deliveries_pending},
        {"dead", overview.deliveries_dead},
        {"oldest_pending_age_ms", AgeJson(overview.delivery_oldest_pending_age)}}},
      {"receivers", {{"failing", overview.receivers_failing}, {"longest", std::move(failing)}}},
      {"monitors",
       {{"live", overview.monitors_live},
        {"late", overview.monitors_late},
        {"stalest", std::move(late)},
        {"failing", overview.monitors_failing},
        {"failing_longest", std::move(monitors_failing)}}},
      {"backlog", std::move(backlog)},
      {"jobs", JobsOverviewJson(jobs, overview.members)},
      {"waits", WaitsOverviewJson(jobs, overview.members)},
  };
}

}  // namespace vedette::admin
