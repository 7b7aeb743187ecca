#include "domain/monitor/monitor_json.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "domain/monitor/timetable.h"
#include "domain/text/limits.h"

namespace vedette::domain {
namespace {

// Appends members to one object's text.
class Members {
 public:
  explicit Members(std::string* out) : out_(out) {}

  void Raw(std::string_view key, std::string_view json) {
    if (!out_->empty() && out_->back() != '{') out_->push_back(',');
    out_->append("\"").append(key).append("\":").append(json);
  }
  void RawOrNull(std::string_view key, const std::optional<std::string>& json) {
    Raw(key, json ? std::string_view(*json) : "null");
  }
  void Text(std::string_view key, std::string_view text) { Raw(key, JsonText(text)); }
  void TextOrNull(std::string_view key, const std::optional<std::string>& text) {
    Raw(key, text ? JsonText(*text) : "null");
  }
  void Id(std::string_view key, const base::Uuid& id) { Raw(key, '"' + id.ToString() + '"'); }
  void IdOrNull(std::string_view key, const std::optional<base::Uuid>& id) {
    Raw(key, id ? '"' + id->ToString() + '"' : "null");
  }
  void Time(std::string_view key, base::Timestamp t) {
    Raw(key, '"' + base::FormatTimestamp(t) + '"');
  }
  void TimeOrNull(std::string_view key, const std::optional<base::Timestamp>& t) {
    Raw(key, t ? '"' + base::FormatTimestamp(*t) + '"' : "null");
  }
  void Number(std::string_view key, std::int64_t n) { Raw(key, std::to_string(n)); }
  void Bool(std::string_view key, bool b) { Raw(key, b ? "true" : "false"); }

 private:
  std::string* out_;
};

std::string RunTimesJson(const Monitor& monitor) {
  std::string out = "[";
  for (const base::Timestamp t : ShownRunTimes(monitor)) {
    if (out.size() > 1) out += ',';
    out += '"' + base::FormatTimestamp(t) + '"';
  }
  return out + ']';
}

std::string TextsJson(const std::vector<std::string>& texts) {
  std::string out = "[";
  for (const std::string& text : texts) {
    if (out.size() > 1) out += ',';
    out += JsonText(text);
  }
  return out + ']';
}

std::string EventTypesJson(const Monitor& monitor) {
  std::vector<std::string> names;
  for (const NotificationType type : monitor.webhook_event_types) {
    names.emplace_back(NotificationTypeName(type));
  }
  return TextsJson(names);
}

void AppendIdentity(const Monitor& monitor, Members* m) {
  m->Id("org_id", monitor.org_id);
  m->IdOrNull("team_id", monitor.team_id);
  m->Text("name", monitor.name);
  m->Text("frequency", monitor.frequency_text);
}

void AppendKind(const Monitor& monitor, Members* m) {
  m->Text("tier", TierName(monitor.tier));
  m->Text("subject_type", SubjectTypeName(monitor.subject_type));
  m->TextOrNull("research_plan", monitor.research_plan);
}

void AppendSwitch(const ShownStatus& shown, Members* m) {
  m->Bool("is_active", shown.status == MonitorStatus::kActive);
  m->TextOrNull("disabled_reason", shown.disabled_reason);
}

void AppendSchedule(const Monitor& monitor, Members* m) {
  m->TimeOrNull("last_run_at", monitor.last_run_at);
  m->Raw("next_run_times", RunTimesJson(monitor));
  m->Raw("schedule", monitor.schedule_json
                         ? ScheduleJson(ParseStoredSchedule(*monitor.schedule_json))
                         : "null");
  m->Number("row_count", monitor.row_count - monitor.removed_row_count);
  m->Number("active_row_count", monitor.active_row_count);
}

// What is being confirmed: what was told last (worker/checks/verdict.h) stands beside it in the row
// and is nobody's to read.
std::string PendingJson(const Row& row) {
  if (!row.pending_json) return "{}";
  if (row.pending_json->find("\"told\"") == std::string::npos) return *row.pending_json;
  base::Json shown = base::Json::object();
  const base::Json pending = base::ParseJsonOrThrow(*row.pending_json);
  for (const auto& [field, value] : pending.items()) {
    if (value.value("seen", 0) > 0) {
      shown[field] = {{"value", value.at("value")}, {"seen", value.at("seen")}};
    }
  }
  return base::DumpJson(shown);
}

// What came and what went, where a list or a text of several lines has changed.
void AppendDiff(const Event& event, Members* m) {
  std::optional<ValueDiff> diff;
  if (event.previous_value_json && event.current_value_json) {
    diff = DiffOfValues(*event.previous_value_json, *event.current_value_json);
  }
  m->Raw("added", diff ? TextsJson(diff->added) : "null");
  m->Raw("removed", diff ? TextsJson(diff->removed) : "null");
}

std::optional<std::string> WaitingForName(const std::optional<WaitingFor>& waits) {
  if (!waits) return std::nullopt;
  return *waits == WaitingFor::kBalance ? "balance" : "spend_limit";
}

// Whether it does what it is for.
void AppendHealth(const Monitor& monitor, const CheckPrices& prices_mc, Members* m) {
  m->TextOrNull("waiting_for", WaitingForName(WaitsFor(monitor, prices_mc)));
  m->TimeOrNull("webhook_waiting_until", monitor.webhook_waiting_until);
  m->TimeOrNull("failing_since", monitor.failing_since);
  m->TimeOrNull("archived_at", monitor.archived_at);
}

void AppendTimes(const Monitor& monitor, Members* m) {
  m->Time("created_at", monitor.created_at);
  m->Time("updated_at", monitor.updated_at);
}

// The detail view without its closing brace.
std::string OpenDetail(const Monitor& monitor, const CheckPrices& prices_mc) {
  const ShownStatus shown = ShowStatus(monitor);
  std::string out = "{";
  Members m(&out);
  m.Id("id", monitor.id);
  AppendIdentity(monitor, &m);
  m.Raw("watched", monitor.struct_json);
  AppendKind(monitor, &m);
  AppendSwitch(shown, &m);
  m.Text("status", MonitorStatusName(shown.status));
  m.TextOrNull("webhook_url", monitor.webhook_url);
  m.Raw("webhook_event_types", EventTypesJson(monitor));
  m.Bool("webhook_failing", monitor.webhook_failing);
  m.RawOrNull("metadata", monitor.metadata_json);
  AppendSchedule(monitor, &m);
  m.Raw("key_columns", TextsJson(monitor.key_columns));
  m.Number("confirm_after", monitor.confirm_after);
  m.Number("missing_confirmations", monitor.missing_confirmations);
  m.TextOrNull("run_id", monitor.run_id);
  m.Raw("rules", monitor.rules_json ? std::string_view(*monitor.rules_json) : "{}");
  m.Raw("probe", monitor.probe_json ? std::string_view(*monitor.probe_json) : "{}");
  m.Raw("request_header_names", TextsJson(monitor.request_header_names));
  if (monitor.channel_ids) {
    std::vector<std::string> ids;
    for (const base::Uuid& id : *monitor.channel_ids) ids.push_back(id.ToString());
    m.Raw("channel_ids", TextsJson(ids));
  }
  m.Raw("tags", TextsJson(monitor.tags));
  AppendHealth(monitor, prices_mc, &m);
  AppendTimes(monitor, &m);
  return out;
}

}  // namespace

ShownStatus ShowStatus(const Monitor& monitor) {
  if (monitor.status == MonitorStatus::kActive && monitor.organisation_stopped) {
    return {MonitorStatus::kPaused, "organisation_locked"};
  }
  return {monitor.status, monitor.disabled_reason};
}

std::int64_t PriceOf(Tier tier, const CheckPrices& prices_mc) {
  const auto price = prices_mc.find(std::string(TierName(tier)));
  return price == prices_mc.end() ? 0 : price->second;
}

std::optional<WaitingFor> WaitsFor(const Monitor& monitor, const CheckPrices& prices_mc) {
  if (ShowStatus(monitor).status != MonitorStatus::kActive) return std::nullopt;
  const std::int64_t price_mc = PriceOf(monitor.tier, prices_mc);
  if (monitor.balance_mc < price_mc) return WaitingFor::kBalance;
  if (monitor.team_left_mc.value_or(price_mc) < price_mc) return WaitingFor::kSpendLimit;
  return std::nullopt;
}

std::vector<base::Timestamp> ShownRunTimes(const Monitor& monitor) {
  if (ShowStatus(monitor).status != MonitorStatus::kActive) return {};
  const Timetable timetable(monitor.anchor_at, monitor.frequency, monitor.schedule_json,
                            monitor.id);
  return timetable.NextTimes(monitor.next_run_at, kNextRunTimesShown);
}

std::string JsonText(std::string_view text) {
  return base::DumpJson(base::Json(text));
}

std::string MonitorDetailJson(const Monitor& monitor, const CheckPrices& prices_mc) {
  return OpenDetail(monitor, prices_mc) + '}';
}

std::string MonitorDetailHead(const Monitor& monitor, const CheckPrices& prices_mc) {
  return OpenDetail(monitor, prices_mc) + ",\"rows\":[";
}

std::string MonitorSummaryJson(const Monitor& monitor, const CheckPrices& prices_mc) {
  const ShownStatus shown = ShowStatus(monitor);
  std::string out = "{";
  Members m(&out);
  m.Id("id", monitor.id);
  AppendIdentity(monitor, &m);
  m.Raw("struct", monitor.struct_json);
  AppendKind(monitor, &m);
  AppendSwitch(shown, &m);
  m.TextOrNull("webhook_url", monitor.webhook_url);
  m.Raw("webhook_event_types", EventTypesJson(monitor));
  m.RawOrNull("metadata", monitor.metadata_json);
  AppendSchedule(monitor, &m);
  m.Text("status", MonitorStatusName(shown.status));
  m.Raw("tags", TextsJson(monitor.tags));
  AppendHealth(monitor, prices_mc, &m);
  AppendTimes(monitor, &m);
  return out + '}';
}

RowJson::RowJson(const Monitor& monitor, View view)
    : watched_(base::ParseJsonOrThrow(monitor.struct_json)),
      field_versions_(monitor.field_versions) {
  Members identity(&before_subject_);
  AppendIdentity(monitor, &identity);

  Members kind(&before_active_);
  kind.Raw(view == View::kDetail ? "watched" : "struct", monitor.struct_json);
  AppendKind(monitor, &kind);

  Members hook(&before_last_run_);
  hook.TextOrNull("webhook_url", monitor.webhook_url);
  if (view == View::kPage) hook.Raw("webhook_event_types", EventTypesJson(monitor));
  hook.RawOrNull("metadata", monitor.metadata_json);

  Members schedule(&before_created_);
  schedule.Raw("next_run_times", RunTimesJson(monitor));
}

void RowJson::Append(const Row& row, std::string* out) const {
  std::string text = "{";
  Members m(&text);
  m.Id("id", row.id);
  text.append(",").append(before_subject_);
  m.Raw("subject", row.subject_json);
  m.RawOrNull("context",
              ContextOf(row.context_json, field_versions_,
                        [this](std::string_view name) { return watched_.contains(name); }));
  const CurrentValues current =
      CurrentValuesOf(watched_, field_versions_,
                      {row.baseline_json, row.known_json, row.seen_json, row.struct_version});
  m.Raw("baseline", current.baseline.Text());
  m.Raw("current", current.values.Text());
  // A row that no check has examined has not been missed by one.
  m.Raw("never_observed", row.last_run_at ? TextsJson(current.never_observed) : "[]");
  text.append(",").append(before_active_);
  m.Bool("is_active", row.is_active);
  m.TextOrNull("disabled_reason", row.disabled_reason);
  text.append(",").append(before_last_run_);
  m.TimeOrNull("last_run_at", row.last_run_at);
  m.Bool("is_failing", row.failing);
  if (row.failing_since) {
    std::string failure = "{";
    Members f(&failure);
    f.Time("since", *row.failing_since);
    f.TextOrNull("message", row.failure_message);
    m.Raw("failure", failure + '}');
  }
  text.append(",").append(before_created_);
  m.Raw("pending_confirmations", PendingJson(row));
  m.Time("created_at", row.created_at);
  m.Time("updated_at", row.updated_at);
  text += '}';
  out->append(text);
}

std::string EventJson(const Event& event) {
  std::string out = "{";
  Members m(&out);
  m.Id("id", event.id);
  m.Text("event_type", EventTypeName(event.type));
  m.Id("event_group_id", event.event_group_id);
  if (event.monitor_id) m.Id("monitor_id", *event.monitor_id);
  if (event.row_id) m.Id("row_id", *event.row_id);
  m.TextOrNull("field", event.field);
  m.RawOrNull("previous_value", event.previous_value_json);
  m.RawOrNull("current_value", event.current_value_json);
  AppendDiff(event, &m);
  m.TextOrNull("message", event.message);
  m.TextOrNull("evidence", event.evidence);
  m.RawOrNull("sources", event.sources_json);
  m.Raw("confidence", event.confidence ? base::DumpJson(base::Json(*event.confidence)) : "null");
  m.Time("created_at", event.created_at);
  if (event.previous_snapshot_id) m.Id("previous_snapshot_id", *event.previous_snapshot_id);
  if (event.snapshot_id) m.Id("snapshot_id", *event.snapshot_id);
  return out + '}';
}

std::string TickJson(const Tick& tick) {
  std::string out = "{";
  Members m(&out);
  m.Number("tick_id", tick.tick_id);
  m.Text("trigger", TickTriggerName(tick.trigger));
  m.Time("due_at", tick.due_at);
  m.Time("started_at", tick.started_at);
  m.TimeOrNull("finished_at", tick.finished_at);
  m.Number("slots", tick.slots);
  m.Number("rows", tick.rows);
  std::string counts = "{";
  Members c(&counts);
  for (int i = 1; i <= kOutcomeMax; ++i) {
    const std::int64_t n = tick.outcomes[static_cast<std::size_t>(i)];
    if (n > 0) c.Number(OutcomeName(static_cast<Outcome>(i)), n);
  }
  m.Raw("outcomes", counts + '}');
  return out + '}';
}

namespace {

using base::Json;
using Items = std::vector<std::string>;

std::optional<Json> Parsed(std::string_view text) {
  Json value;
  if (base::ParseJson(text, &value, {.keep_numbers = true})) return std::nullopt;
  return value;
}

// The items of a list, or of the text of one.
std::optional<Items> ItemsOf(const Json& value) {
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    if (!text.starts_with('[')) return std::nullopt;
    const auto list = Parsed(text);
    return list && list->is_array() ? ItemsOf(*list) : std::nullopt;
  }
  if (!value.is_array()) return std::nullopt;
  Items items;
  for (const Json& item : value) {
    items.push_back(item.is_string() ? base::FoldSpace(item.get_ref<const std::string&>())
                                     : base::DumpJson(item));
  }
  return items;
}

Items LinesOf(std::string_view text) {
  Items lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string line = base::FoldSpace(text.substr(0, end));
    if (!line.empty()) lines.push_back(std::move(line));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// What `items` has more than `others`.
Items More(const Items& items, const Items& others) {
  std::unordered_map<std::string_view, std::size_t> left;
  for (const std::string& other : others) ++left[other];
  Items more;
  for (const std::string& item : items) {
    const auto it = left.find(item);
    if (it == left.end() || it->second == 0) {
      more.push_back(item);
    } else {
      --it->second;
    }
  }
  return more;
}

ValueDiff DiffOf(const Items& previous, const Items& current) {
  return {More(current, previous), More(previous, current)};
}

}  // namespace

std::optional<ValueDiff> DiffOfValues(std::string_view previous_json,
                                      std::string_view current_json) {
  const auto previous = Parsed(previous_json);
  const auto current = Parsed(current_json);
  if (!previous || !current) return std::nullopt;
  const auto items_before = ItemsOf(*previous);
  const auto items_now = ItemsOf(*current);
  if (items_before && items_now) return DiffOf(*items_before, *items_now);
  if (!previous->is_string() || !current->is_string()) return std::nullopt;
  const auto& text_before = previous->get_ref<const std::string&>();
  const auto& text_now = current->get_ref<const std::string&>();
  const auto several = [](const std::string& text) { return text.find('\n') != std::string::npos; };
  if (!several(text_before) && !several(text_now)) return std::nullopt;
  return DiffOf(LinesOf(text_before), LinesOf(text_now));
}

}  // namespace vedette::domain
