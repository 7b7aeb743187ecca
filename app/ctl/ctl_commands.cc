#include "app/ctl/ctl_commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "base/text.h"

namespace vedette::app {
namespace {

using base::Json;
using Place = CtlOption::Place;
using Type = CtlOption::Type;

std::vector<CtlCommand> ProcessCommands() {
  return {
      {"health", "Whether the process is alive", "GET", "/healthz", {}, {}, {}},
      {"ready", "Whether the process serves, and why not", "GET", "/readyz", {}, {}, {}},
      {"metrics", "What Prometheus would be told", "GET", "/metrics", {}, {}, {}},
      {"overview", "Queues, lag and the fleet's members", "GET", "/admin/v1/overview", {}, {}, {}},
      {"cells",
       "List the cells: who is there, and how much waits",
       "GET",
       "/admin/v1/cells",
       {},
       {},
       {"cell", "reachable", "version", "organisations", "monitors", "checks_due", "lag_ms",
        "undelivered_ms", "error"}},
      {"org-find",
       "Find an organisation at all cells",
       "GET",
       "/admin/v1/directory",
       {Required(Query("text", "q", "Its id, its external id or a part of its name"))},
       {},
       {"cell", "id", "name", "external_id", "locked", "lives_at", "balance"}},
      {"drain",
       "End the process that answers, in good order",
       "POST",
       "/admin/v1/drain",
       {kReason},
       {},
       {}},
  };
}

std::vector<CtlCommand> OperatorCommands() {
  return {
      {"me", "Whose the token is, and which role it has", "GET", "/admin/v1/me", {}, {}, {}},
      {"console-sessions",
       "Who has signed in at the console by the identity provider, newest first",
       "GET",
       "/admin/v1/console/sessions",
       {},
       {},
       {"id", "name", "role", "created_at", "expires_at"}},
      {"console-session-end",
       "End a session of the console: it is refused from the next request on",
       "DELETE",
       "/admin/v1/console/sessions/{session}",
       {Id("session", "The session's id"), kReason},
       {},
       {}},
      {"audit",
       "Who did what, newest first",
       "GET",
       "/admin/v1/audit",
       {Query("--org", "org_id", "Of one organisation"),
        Query("--principal", "principal_id", "Of one key, client or user of the API"),
        Query("--actor", "actor",
              "Of one token of the admin port, by its name; of one who signed in, by his address"),
        Query("--target", "target", "On one thing, by its id"),
        Query("--action", "action", "Of one kind, such as oauth_client.create"), kLimit, kCursor,
        Own("--follow", Type::kSwitch,
            "All entries as NDJSON, oldest first, and then each new one"),
        Own("--after", Type::kText, "With --follow: behind the entry with this seq")},
       {},
       {"at", "actor", "action", "target", "reason", "remote_address"}},
      {"audit-verify",
       "Make the hashes of the audit's chain again; says its end, or what was changed or is "
       "missing",
       "GET",
       "/admin/v1/audit/chain",
       {Own("--from", Type::kText, "Begin with the entry of this seq, and not with the oldest"),
        Own("--checkpoint", Type::kText, "The hash of the entry before, as it was said then")},
       {},
       {},
       CtlCommand::Needs::kNothing,
       CtlCommand::Calls::kVerify},
  };
}

std::vector<CtlCommand> MonitorCommands() {
  const std::string_view path = "/admin/v1/monitors/{id}";
  return {
      {"monitors",
       "List monitors, newest first",
       "GET",
       "/admin/v1/monitors",
       {Query("--status", "status", "starting, failed, active, paused, cancelled"),
        Query("--org", "org_id", "Of one organisation"),
        Query("--run", "run_id", "Made by one run of a workflow, with --org"),
        Query("--query", "q", "Part of the name, or an id"), kLimit, kCursor},
       {},
       {"id", "name", "status", "tier", "frequency", "row_count", "last_run_at", "waiting_for",
        "disabled_reason"}},
      {"failures",
       "List monitors all of whose checks fail, newest first",
       "GET",
       "/admin/v1/monitors?failing=true",
       {Query("--org", "org_id", "Of one organisation"), kLimit, kCursor},
       {},
       {"id", "name", "failing_since", "status", "org_id", "last_run_at"}},
      {"monitor", "Show a monitor with its last ticks", "GET", path, {kMonitor}, {}, {}},
      {"pause",
       "Pause a monitor: none of its checks starts 5 s later",
       "POST",
       "/admin/v1/monitors/{id}/pause",
       {kMonitor, Required(kReasonShown)},
       {},
       {}},
      {"resume",
       "Resume a paused or cancelled monitor",
       "POST",
       "/admin/v1/monitors/{id}/resume",
       {kMonitor, kReason},
       {},
       {}},
      {"cancel",
       "Cancel a monitor",
       "POST",
       "/admin/v1/monitors/{id}/cancel",
       {kMonitor, kReasonShown},
       {},
       {}},
      {"trigger",
       "Check a monitor now",
       "POST",
       "/admin/v1/monitors/{id}/trigger",
       {kMonitor, kReason},
       {},
       {}},
  };
}

std::vector<CtlCommand> JobCommands() {
  const CtlOption job = Id("id", "The job's id, which clients call task_id");
  return {
      {"jobs",
       "List jobs, newest first",
       "GET",
       "/admin/v1/jobs",
       {Query("--kind", "kind", "find_email, find_email_bulk, workflow, ..."),
        Query("--status", "status",
              "queued, running, completed, failed, cancelled, terminated, timed_out"),
        Query("--org", "org_id", "Of one organisation"), kLimit, kCursor},
       {},
       {"id", "kind", "status", "status_reason", "waiting_until", "org_id", "reserved", "charged",
        "created_at", "deadline_at"}},
      {"job",
       "Show a job with its blocks, its chunks and its deliveries",
       "GET",
       "/admin/v1/jobs/{id}",
       {job,
        {"--rows", "rows", Place::kQuery, Type::kSwitch, false,
         "Show whom it is about, too, which the audit keeps"}},
       {},
       {}},
      {"job-terminate",
       "End a job: none of its rows starts 5 s later",
       "POST",
       "/admin/v1/jobs/{id}/terminate",
       {job, Required(kReason)},
       {},
       {}},
  };
}

std::vector<CtlCommand> RunCommands() {
  const CtlOption run = Id("id", "The run's id, which clients call job_id or run_id");
  return {
      {"runs",
       "List runs of workflows, newest first",
       "GET",
       "/admin/v1/runs",
       {Query("--status", "status",
              "active, queued, running, completed, failed, cancelled, terminated, timed_out"),
        Query("--org", "org_id", "Of one organisation"), kLimit, kCursor},
       {},
       {"id", "workflow_name", "status", "status_reason", "org_id", "rows_in", "rows_out",
        "row_errors", "charged", "created_at"}},
      {"run-show",
       "Show a run with its blocks, its chunks and its files",
       "GET",
       "/admin/v1/runs/{id}",
       {run,
        {"--rows", "rows", Place::kQuery, Type::kSwitch, false,
         "Show links to its files, too, which the audit keeps"}},
       {},
       {}},
      {"run-cancel",
       "End a run: none of its rows starts 5 s later",
       "POST",
       "/admin/v1/runs/{id}/cancel",
       {run, Required(kReason)},
       {},
       {}},
  };
}

std::vector<CtlCommand> ScheduleCommands() {
  const CtlOption schedule = Id("id", "The schedule's id");
  return {
      {"schedules",
       "List schedules of workflows, newest first",
       "GET",
       "/admin/v1/schedules",
       {Query("--status", "status", "active or paused"),
        Query("--org", "org_id", "Of one organisation"),
        Query("--workflow", "workflow_id", "Of one workflow"), kLimit, kCursor},
       {},
       {"id", "name", "is_active", "frequency", "next_run_times", "org_id", "workflow_id",
        "paused_message"}},
      {"schedule",
       "Show a schedule of a workflow with its next times, and what became of its slots",
       "GET",
       "/admin/v1/schedules/{id}",
       {schedule,
        {"--rows", "rows", Place::kQuery, Type::kSwitch, false,
         "Show what it gives its runs, too, which the audit keeps"}},
       {},
       {}},
      {"schedule-pause",
       "Pause a schedule of a workflow: no run of it starts any more",
       "POST",
       "/admin/v1/schedules/{id}/pause",
       {schedule, Required(kReasonShown)},
       {},
       {}},
      {"schedule-resume",
       "Let a paused schedule of a workflow go on",
       "POST",
       "/admin/v1/schedules/{id}/resume",
       {schedule, kReason},
       {},
       {}},
  };
}

std::vector<CtlCommand> RowCommands() {
  return {
      {"rows",
       "List a monitor's rows",
       "GET",
       "/admin/v1/monitors/{id}/rows",
       {kMonitor, Query("--stale", "stale", "true: only rows not checked in time"),
        Query("--failing", "failing", "true: only rows whose last check failed"), kLimit, kCursor},
       {},
       {"id", "subject", "is_active", "last_run_at", "failure.since", "failure.message",
        "disabled_reason"}},
      {"row",
       "Show a row with its present values, and why it fails",
       "GET",
       "/admin/v1/monitors/{id}/rows/{row}",
       {kMonitor, Id("row", "The row's id")},
       {},
       {}},
      {"monitor-events",
       "List a monitor's events, newest first",
       "GET",
       "/admin/v1/monitors/{id}/events",
       {kMonitor, Query("--tick", "tick_id", "Of one tick"),
        Query("--row", "row_id", "Of one row, without completions and skipped checks"),
        Query("--type", "event_type", "change or error"), kLimit, kCursor},
       {},
       {"created_at", "event_type", "row_id", "field", "previous_value", "current_value",
        "message"}},
      {"changes",
       "List events of every monitor, newest first: those of the last seven days, or of one "
       "organisation",
       "GET",
       "/admin/v1/events",
       {Query("--org", "org_id", "Of one organisation, however old"),
        Query("--type", "event_type", "change or error"), kLimit, kCursor},
       {},
       {"created_at", "event_type", "monitor_id", "row_id", "field", "previous_value",
        "current_value", "message"}},
      {"events",
       "List a row's events, newest first",
       "GET",
       "/admin/v1/monitors/{id}/rows/{row}/events",
       {kMonitor, Id("row", "The row's id"), Query("--check", "event_group_id", "Of one check"),
        Query("--completions", "include_completions", "true: completions too"),
        Query("--limit", "limit", "At most so many, 1 to 500")},
       {},
       {"created_at", "event_type", "field", "previous_value", "current_value", "message"}},
  };
}

std::vector<CtlCommand> DeliveryCommands() {
  return {
      {"deliveries",
       "List deliveries, newest first",
       "GET",
       "/admin/v1/deliveries",
       {Query("--state", "state", "pending, dead, delivered; default: the first two"),
        Query("--org", "org_id", "Of one organisation"),
        Query("--monitor", "monitor_id", "Of one monitor"), Query("--job", "job_id", "Of one job"),
        kLimit, kCursor},
       {},
       {"id", "state", "type", "monitor_id", "job_id", "channel_id", "attempts", "next_attempt_at",
        "waiting_for", "last_error"}},
      {"delivery",
       "Show a delivery with its attempts",
       "GET",
       "/admin/v1/deliveries/{id}",
       {Id("id", "The delivery's id")},
       {},
       {}},
      {"delivery-send",
       "Send a delivery now: try a pending one, send a delivered one again, replay a dead one",
       "POST",
       "/admin/v1/deliveries/{id}/send",
       {Id("id", "The delivery's id"), kReason},
       {},
       {}},
      {"replay",
       "Send a dead delivery again",
       "POST",
       "/admin/v1/deliveries/{id}/replay",
       {Id("id", "The delivery's id"), kReason},
       {},
       {}},
      {"replay-many",
       "Send all dead deliveries again that match",
       "POST",
       "/admin/v1/deliveries/replay",
       {Body("--org", "org_id", Type::kText, "Of one organisation"),
        Body("--monitor", "monitor_id", Type::kText, "Of one monitor"),
        Body("--since", "since", Type::kText, "Made at or after (RFC 3339)"),
        Body("--until", "until", Type::kText, "Made before (RFC 3339)"),
        Body("--all", "", Type::kSwitch, "Every dead delivery of every organisation"), kReason},
       {},
       {},
       CtlCommand::Needs::kOption},
  };
}

std::vector<CtlCommand> SuppressionCommands() {
  const auto named = [](CtlOption reason) {
    return std::vector<CtlOption>{
        Body("--email", "email", Type::kText, "An address"),
        Body("--linkedin", "profile", Type::kText, "The URL of a profile"),
        Body("--domain", "domain", Type::kText, "Everybody at a domain, or with --name one person"),
        Body("--name", "name", Type::kText, "A person's name, with --domain"),
        Body("--org", "org_id", Type::kText, "For one organisation alone"),
        reason};
  };
  return {
      {"suppress",
       "Let nobody look up a person, an address or a company",
       "POST",
       "/admin/v1/suppressions",
       named(Required(kReason)),
       {},
       {}},
      {"unsuppress",
       "Take a person, an address or a company off that list",
       "POST",
       "/admin/v1/suppressions/remove",
       named(kReason),
       {},
       {}},
      {"suppressions",
       "List the suppression list, newest first, without saying who it is",
       "GET",
       "/admin/v1/suppressions",
       {Query("--kind", "kind", "address, domain, profile or person"),
        Query("--org", "org_id", "Of one organisation"), kLimit, kCursor},
       {},
       {"created_at", "kind", "org_id", "reason"}},
      {"erase",
       "Let nobody look up a person, and take them out of what lookups have stored",
       "POST",
       "/admin/v1/erase",
       {Required(Body("--email", "email", Type::kText, "The person's address")),
        Body("--linkedin", "profile", Type::kText, "The URL of the person's profile"),
        Body("--org", "org_id", Type::kText, "Of one organisation alone"),
        Body("--dry-run", "dry_run", Type::kSwitch, "Count, and change nothing"),
        Body("--reason", "reason", Type::kText, "For the audit; REQUIRED without --dry-run")},
       {},
       {},
       CtlCommand::Needs::kNothing,
       CtlCommand::Calls::kUntilTheEnd},
  };
}

std::vector<CtlCommand> MailCommands() {
  return {
      {"email hosts",
       "List the mail servers that are left alone, or were of late",
       "GET",
       "/admin/v1/email/hosts",
       {kLimit},
       {},
       {"key", "blocked_until", "failures", "reason", "last_reply"}},
      {"email budgets",
       "List what the fleet has asked mail servers of late, and how much it may",
       "GET",
       "/admin/v1/email/budgets",
       {kLimit},
       {},
       {"key", "used", "max", "ends_at"}},
      {"providers",
       "List who answers lookups, who is not configured and why, and who fails",
       "GET",
       "/admin/v1/providers",
       {},
       {},
       {"id", "kind", "state", "why", "orders", "failing"}},
      {"email unblock",
       "Ask a mail server again that is left alone",
       "POST",
       "/admin/v1/email/hosts/unblock",
       {Required(Body("key", "key", Type::kText, "Its key, as `email hosts` shows it")), kReason},
       {},
       {}},
  };
}

std::vector<CtlCommand> SearchCommands() {
  return {
      {"search-import",
       "Bring the documents whose field values are counted; they become visible all at once",
       "POST",
       "/admin/v1/search/import",
       {Required(Body("--mode", "mode", Type::kText, "people or company")),
        Body("--org", "org_id", Type::kText, "For one organisation alone; else for everybody"),
        Body("--id", "import_id", Type::kText, "Goes on with an import that was broken off"),
        Own("--empty", Type::kSwitch, "A file without documents replaces all by none"),
        {"file", "lines", Place::kFile, Type::kText, true, "One object of JSON a line"}},
       {},
       {}},
  };
}

Json NumberOf(const CtlOption& option, const std::string& text) {
  Json number;
  if (base::ParseJson(text, &number) || !number.is_number()) {
    throw std::invalid_argument(
        fmt::format("{}: \"{}\" is no number{}", option.flag, text,
                    option.type == Type::kNumberOrNone ? ", nor \"none\"" : ""));
  }
  return number;
}

Json ValueOf(const CtlOption& option, const std::vector<std::string>& given) {
  switch (option.type) {
    case Type::kText:
    case Type::kFile:
    case Type::kJsonFile:
      return given.front();
    case Type::kTextOrNone:
      return given.front() == "none" ? Json(nullptr) : Json(given.front());
    case Type::kNumber:
      return NumberOf(option, given.front());
    case Type::kNumberOrNone:
      return given.front() == "none" ? Json(nullptr) : NumberOf(option, given.front());
    case Type::kList:
      return given;
    case Type::kSwitch:
      return true;
  }
  return nullptr;
}

// The object that a file has, with its numbers as they are written.
Json ObjectOf(const CtlOption& option, const std::string& text) {
  Json object;
  if (const auto error = base::ParseJson(text, &object, {.keep_numbers = true})) {
    throw std::invalid_argument(fmt::format("{}: {}", option.flag, error->message));
  }
  if (!object.is_object()) {
    throw std::invalid_argument(fmt::format("{}: the file has no JSON object", option.flag));
  }
  return object;
}

void ReplacePlaceholder(std::string* target, std::string_view key, std::string_view value) {
  const std::string placeholder = fmt::format("{{{}}}", key);
  const std::size_t at = target->find(placeholder);
  if (at == std::string::npos) throw std::logic_error("no placeholder " + placeholder);
  target->replace(at, placeholder.size(), base::UrlEncode(value));
}

}  // namespace

std::span<const CtlCommand> CtlCommands() {
  static const std::vector<CtlCommand> kCommands = [] {
    std::vector<CtlCommand> all;
    for (auto&& group :
         {ProcessCommands(), OperatorCommands(), MonitorCommands(), RowCommands(), JobCommands(),
          RunCommands(), ScheduleCommands(), DeliveryCommands(), ChannelCommands(),
          AccountCommands(), SuppressionCommands(), SearchCommands(), MailCommands()}) {
      all.insert(all.end(), group.begin(), group.end());
    }
    return all;
  }();
  return kCommands;
}

void AddAnswer(const Json& next, Json* all) {
  all->erase("next_cursor");
  for (const auto& [key, value] : next.items()) {
    const auto before = all->find(key);
    if (before == all->end()) {
      (*all)[key] = value;
    } else if (value.is_array() && before->is_array()) {
      before->insert(before->end(), value.begin(), value.end());
    } else if (value.is_number_integer() && before->is_number_integer()) {
      *before = before->get<std::int64_t>() + value.get<std::int64_t>();
    }
  }
}

namespace {

// One that follows the audit gets all of it: what it would not be given is refused.
void RefuseBesideFollow(const CtlCommand& command, const CtlValues& values) {
  const bool follows = values.contains("--follow");
  if (!follows && values.contains("--after")) {
    throw std::invalid_argument(
        fmt::format("{}: --after needs --follow; a list goes on with --cursor", command.name));
  }
  for (const CtlOption& option : command.options) {
    if (!follows || option.place != Place::kQuery || !values.contains(option.flag)) continue;
    throw std::invalid_argument(
        fmt::format("{}: --follow gives all entries: leave out {}", command.name, option.flag));
  }
}

}  // namespace

CtlRequest MakeCtlRequest(const CtlCommand& command, const CtlValues& values) {
  CtlRequest request{std::string(command.method), std::string(command.path), std::nullopt};
  const bool chosen = std::any_of(values.begin(), values.end(), [](const auto& value) {
    return value.first.starts_with("--") && value.first != "--reason";
  });
  if (command.needs == CtlCommand::Needs::kOption && !chosen) {
    throw std::invalid_argument(fmt::format("{}: say which; see --help", command.name));
  }
  if (command.needs == CtlCommand::Needs::kOptionOrShow && !chosen) request.method = "GET";
  if (values.contains("--none") && values.contains("--feature")) {
    throw std::invalid_argument(
        fmt::format("{}: give --feature or --none, not both", command.name));
  }
  RefuseBesideFollow(command, values);
  std::string query;
  Json body = Json::object();
  for (const auto& [key, value] : command.fixed) body[key] = value;
  for (const CtlOption& option : command.options) {
    const auto it = values.find(option.flag);
    const bool given = it != values.end();
    if (option.place == Place::kPath) {
      ReplacePlaceholder(&request.target, option.key, given ? it->second.front() : "");
    } else if (option.place == Place::kQuery && given) {
      const bool first = query.empty() && command.path.find('?') == std::string_view::npos;
      const std::string value =
          option.type == Type::kSwitch ? "true" : base::UrlEncode(it->second.front());
      query += fmt::format("{}{}={}", first ? "?" : "&", option.key, value);
    } else if (option.place == Place::kBody && option.type == Type::kList) {
      // One that is not given stays as it is; --none is a list without elements.
      if (given || values.contains("--none")) {
        body[option.key] = given ? Json(it->second) : Json::array();
      }
    } else if (option.type == Type::kJsonFile && given) {
      body.update(ObjectOf(option, it->second.front()));
    } else if (option.place == Place::kBody && given && !option.key.empty()) {
      body[option.key] = ValueOf(option, it->second);
    }
  }
  request.target += query;
  const bool may_have_none =
      request.method == "GET" || (request.method == "DELETE" && body.empty());
  if (!may_have_none) request.body = std::move(body);
  return request;
}

}  // namespace vedette::app
