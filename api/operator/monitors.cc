#include <algorithm>
#include <charconv>
#include <chrono>
#include <limits>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "api/kit/body.h"
#include "api/kit/cursor.h"
#include "api/kit/reply.h"
#include "api/operator/admin_json.h"
#include "api/operator/handlers.h"
#include "base/json.h"
#include "config/parts.h"
#include "domain/monitor/enums.h"
#include "domain/monitor/monitor.h"
#include "domain/monitor/monitor_json.h"
#include "domain/text/limits.h"
#include "store/accounts/accounts.h"
#include "store/channels/channels.h"
#include "store/monitors/control.h"
#include "store/monitors/events.h"
#include "store/monitors/monitors.h"
#include "store/monitors/rows.h"

namespace vedette::admin {
namespace {

// The operator sees every organisation's.
const store::Scope kEveryMonitor{};

constexpr rest::CursorOf kMonitorList{'m'};
constexpr int kTicksShown = 50;
// How many rows a call for stale or failing ones looks at.
constexpr int kChosenLookAtMax = 10000;
// A page ends early, with a cursor, once it has this many bytes: what tenants have stored may be
// large.
constexpr std::size_t kPageBytesMax = std::size_t{2} << 20;

rest::Reply NoMonitor() {
  return rest::NotFound("monitor");
}

// The monitor whose rows a cursor is of.
rest::CursorOf RowsOf(const base::Uuid& monitor_id) {
  return {'r', monitor_id};
}

// The texts of a page of rows after position `after`.
rest::Page<std::string> ReadRows(store::Session& session, const domain::Monitor& monitor, int after,
                                 int limit, std::optional<store::RowChoice> choice) {
  store::Page<domain::Row> page;
  // The last position that the page tells of.
  int looked_until = after;
  if (choice) {
    const auto last =
        std::min<std::int64_t>(monitor.row_count - 1, std::int64_t{after} + kChosenLookAtMax);
    page = store::ListChosenRows(session, monitor, *choice, {after, static_cast<int>(last)}, limit,
                                 kPageBytesMax);
    looked_until = page.more ? page.items.back().position : static_cast<int>(last);
  } else {
    page = store::ListRows(session, monitor.id, after, limit, kPageBytesMax);
    store::ReadFailures(session, monitor.id, &page.items);
    if (!page.items.empty()) looked_until = page.items.back().position;
  }
  const domain::RowJson writer(monitor, domain::RowJson::View::kPage);
  rest::Page<std::string> texts;
  std::size_t bytes = 0;
  for (const auto& row : page.items) {
    if (bytes >= kPageBytesMax) break;
    writer.Append(row, &texts.items.emplace_back());
    bytes += texts.items.back().size();
    if (bytes >= kPageBytesMax) looked_until = row.position;
  }
  if (looked_until > after && looked_until + 1 < monitor.row_count) {
    texts.next_cursor = rest::EncodeCursor(RowsOf(monitor.id), std::int64_t{looked_until});
  }
  return texts;
}

}  // namespace

rest::Handled GetMonitors(Call& call) {
  rest::Problems problems;
  rest::QueryReader input(call.request().query, &problems);
  store::MonitorFilter filter;
  filter.scope.org_id = input.Id("org_id");
  filter.text = input.Text("q");
  if (filter.text && filter.text->empty()) filter.text.reset();
  filter.run_id = input.Text("run_id");
  if (filter.run_id && filter.run_id->empty()) filter.run_id.reset();
  if (filter.run_id && (!filter.scope.org_id || filter.text)) {
    input.Refuse("run_id", "value_error", "Give org_id beside run_id, and no q");
  }
  if (const auto status = input.Text("status"); status && !status->empty()) {
    if (const auto parsed = domain::ParseMonitorStatus(*status)) {
      filter.statuses.push_back(*parsed);
    } else {
      input.Refuse("status", "enum",
                   "Input should be starting, failed, active, paused or cancelled");
    }
  }
  filter.with_archived = input.Boolean("archived", false);
  filter.only_failing = input.Boolean("failing", false);
  const ListQuery list = ReadListQuery(&input);
  problems.Check();
  if (list.cursor) {
    filter.before_id = rest::DecodeIdCursor(kMonitorList, *list.cursor);
    if (!filter.before_id) return rest::InvalidCursor();
  }
  filter.limit = list.limit + 1;
  filter.bytes_max = kPageBytesMax;
  auto page = rest::CutPage(
      store::ListMonitors(call.session(), filter), list.limit,
      [](const domain::Monitor& monitor) { return rest::EncodeCursor(kMonitorList, monitor.id); });
  // A search for a name goes on behind what it has looked at, however few it has found.
  if (filter.text && !page.next_cursor) {
    if (const auto end = store::EndOfLook(call.session(), filter)) {
      page.next_cursor = rest::EncodeCursor(kMonitorList, *end);
    }
  }
  return rest::Reply{200,
                     rest::PageText("items", page,
                                    [prices_mc = config::MostPricesMc(call.parts.config)](
                                        const domain::Monitor& monitor, std::string* text) {
                                      text->append(domain::MonitorSummaryJson(monitor, prices_mc));
                                    })};
}

rest::Handled GetMonitor(Call& call) {
  auto monitor = store::GetMonitor(call.session(), kEveryMonitor, call.Id(0));
  if (!monitor) return NoMonitor();
  monitor->channel_ids = store::ReadMonitorChannels(call.session(), monitor->id);
  std::vector<std::string> ticks;
  for (const auto& tick :
       store::ListTicks(call.session(), monitor->id, std::nullopt, kTicksShown)) {
    ticks.push_back(domain::TickJson(tick));
  }
  std::string text = domain::MonitorDetailJson(*monitor, config::MostPricesMc(call.parts.config));
  text.pop_back();
  return rest::Reply{200, text + fmt::format(",\"ticks\":[{}]}}", fmt::join(ticks, ","))};
}

rest::Handled GetMonitorRows(Call& call) {
  rest::Problems problems;
  rest::QueryReader input(call.request().query, &problems);
  const ListQuery list = ReadListQuery(&input);
  std::optional<store::RowChoice> choice;
  if (input.Boolean("stale", false)) choice = store::RowChoice::kStale;
  if (input.Boolean("failing", false)) choice = store::RowChoice::kFailing;
  problems.Check();
  const auto monitor = store::GetMonitor(call.session(), kEveryMonitor, call.Id(0));
  if (!monitor) return NoMonitor();
  int after = -1;
  if (list.cursor) {
    const auto position = rest::DecodeCursor(RowsOf(monitor->id), *list.cursor);
    if (!position || *position > std::numeric_limits<int>::max()) return rest::InvalidCursor();
    after = static_cast<int>(*position);
  }
  return rest::Reply{
      200, rest::PageText("rows", ReadRows(call.session(), *monitor, after, list.limit, choice),
                          [](const std::string& row, std::string* text) { text->append(row); })};
}

rest::Handled GetMonitorRow(Call& call) {
  const auto monitor = store::GetMonitor(call.session(), kEveryMonitor, call.Id(0));
  if (!monitor) return NoMonitor();
  const auto row = store::GetRow(call.session(), call.Id(0), call.Id(1));
  if (!row) return rest::NotFound("row of this monitor");
  std::string text;
  domain::RowJson(*monitor, domain::RowJson::View::kPage).Append(*row, &text);
  return rest::Reply{200, std::move(text)};
}

namespace {

rest::Reply SnapshotOf(Call& call, store::SnapshotPart part) {
  const base::Uuid id = call.Id(0, "snapshot");
  return rest::SnapshotReply(store::ReadSnapshot(call.session(), kEveryMonitor, id, part), part);
}

}  // namespace

rest::Handled GetSnapshotText(Call& call) {
  return SnapshotOf(call, store::SnapshotPart::kText);
}

rest::Handled GetSnapshotPicture(Call& call) {
  return SnapshotOf(call, store::SnapshotPart::kPicture);
}

rest::Handled GetRowEvents(Call& call) {
  rest::Problems problems;
  rest::QueryReader input(call.request().query, &problems);
  store::EventFilter filter;
  filter.event_group_id = input.Id("event_group_id");
  filter.limit = input.Integer("limit", domain::kEventsDefault, 1, domain::kEventsMax);
  filter.include_completions = input.Boolean("include_completions", false);
  problems.Check();
  // Events have no cursor: of very large ones the newest are shown.
  filter.bytes_max = kPageBytesMax;
  const auto row = store::GetRow(call.session(), call.Id(0), call.Id(1));
  if (!row) return rest::NotFound("row of this monitor");
  std::vector<std::string> items;
  for (const auto& event : store::ListEvents(call.session(), call.Id(0), *row, filter).items) {
    items.push_back(domain::EventJson(event));
  }
  return rest::Reply{200, fmt::format("[{}]", fmt::join(items, ","))};
}

// The one of VEDETTE_ADMIN_TOKEN, whose name is nobody's.
constexpr std::string_view kUnnamedToken = "default";

std::string ReasonShown(const std::string& reason, const Call& call) {
  const bool named = call.caller.name != kUnnamedToken && !call.caller.session;
  return fmt::format("{} (by {})", reason, named ? call.caller.name : "the operator");
}

namespace {

rest::Reply ControlAnswer(const store::ControlOutcome& outcome, const Call& call,
                          std::string_view what) {
  using Kind = store::ControlOutcome::Kind;
  const std::string_view status = domain::MonitorStatusName(outcome.status);
  switch (outcome.kind) {
    case Kind::kNotFound:
      return NoMonitor();
    case Kind::kChanged:  // of updates by owners alone
    case Kind::kConflict:
      return rest::ErrorReply(409, fmt::format("monitor_{}", status),
                              fmt::format("the monitor is {}: it cannot be {}", status, what));
    case Kind::kDone:
      break;
  }
  return rest::JsonReply(200, {{"id", call.Id(0).ToString()},
                               {"status", status},
                               {"disabled_reason", TextJson(outcome.disabled_reason)}});
}

}  // namespace

rest::Handled PostPause(Call& call) {
  CallBody body(call);
  const auto reason = body.Reason(rest::Presence::kRequired);
  body.Check();
  return ControlAnswer(
      store::PauseMonitor(call.session(), call.parts.clock, kEveryMonitor, call.Id(0),
                          ReasonShown(*reason, call), AuditOf(call, "monitor.pause", reason)),
      call, "paused");
}

rest::Handled PostResume(Call& call) {
  CallBody body(call);
  const auto reason = body.Reason();
  body.Check();
  const auto outcome = store::ResumeMonitor(call.session(), call.parts.clock, kEveryMonitor,
                                            call.Id(0), AuditOf(call, "monitor.resume", reason));
  call.parts.signals.Raise(store::Signal::kDue);
  return ControlAnswer(outcome, call, "resumed");
}

rest::Handled PostCancel(Call& call) {
  CallBody body(call);
  const auto reason = body.Reason();
  body.Check();
  const std::string shown = ReasonShown(reason.value_or("cancelled by the operator"), call);
  return ControlAnswer(
      store::CancelMonitor(call.session(), call.parts.clock, kEveryMonitor, call.Id(0), shown,
                           AuditOf(call, "monitor.cancel", reason)),
      call, "cancelled");
}

rest::Handled PostTrigger(Call& call) {
  CallBody body(call);
  const auto reason = body.Reason();
  body.Check();
  const store::TriggerOutcome outcome = store::TriggerMonitor(
      call.session(), call.parts.clock, kEveryMonitor, call.Id(0),
      store::MaterialiseLimitsOf(call.parts.config), AuditOf(call, "monitor.trigger", reason));
  using Kind = store::TriggerOutcome::Kind;
  if (outcome.kind == Kind::kNotFound) return NoMonitor();
  if (outcome.kind == Kind::kConflict) {
    if (outcome.organisation_stopped) {
      return rest::ErrorReply(409, "organisation_locked",
                              "the organisation is locked or lacks the feature monitors");
    }
    const std::string_view status = domain::MonitorStatusName(outcome.status);
    return rest::ErrorReply(409, fmt::format("monitor_{}", status),
                            fmt::format("the monitor is {}: it cannot be triggered", status));
  }
  if (outcome.raise) call.parts.signals.Raise(*outcome.raise);
  store::ConfirmTrigger(call.session());
  return rest::JsonReply(202, {{"monitor_id", call.Id(0).ToString()},
                               {"tick_id", outcome.tick_id},
                               {"rows", outcome.rows},
                               {"joined", outcome.joined}});
}

// The stored events of many rows: of one monitor, of an organisation, and of every organisation.

namespace {

// `limit`, `event_type`; a place is read once it is known whose list it is of.
ListQuery ReadEventQuery(rest::QueryReader* input, store::EventListFilter* filter) {
  const ListQuery query = ReadListQuery(input);
  filter->limit = query.limit + 1;
  filter->bytes_max = kPageBytesMax;
  const auto type = input->Text("event_type");
  for (const auto known : {domain::EventType::kChange, domain::EventType::kError}) {
    if (type && *type == domain::EventTypeName(known)) filter->types.push_back(known);
  }
  if (type && !type->empty() && filter->types.empty()) {
    input->Refuse("event_type", "enum", "Input should be 'change' or 'error'");
  }
  return query;
}

// False for a cursor that is not one of this list.
bool ReadPlace(const rest::CursorOf& list, const ListQuery& query, store::EventListFilter* filter) {
  if (!query.cursor) return true;
  const auto place = rest::DecodeTimedCursor(list, *query.cursor);
  if (!place) return false;
  filter->after_tick_id = place->at.time_since_epoch().count();
  filter->after_id = place->id;
  return true;
}

rest::Reply EventsReply(store::Page<domain::Event> page, int limit, const rest::CursorOf& list) {
  const auto cursor_after = [&](const domain::Event& event) {
    const base::Timestamp at{std::chrono::microseconds(event.tick_id)};
    return rest::EncodeCursor(list, rest::TimedPlace{at, event.id});
  };
  return {200, rest::PageText("items", rest::CutPage(std::move(page), limit, cursor_after),
                              [](const domain::Event& event, std::string* text) {
                                text->append(domain::EventJson(event));
                              })};
}

}  // namespace

rest::Handled GetEvents(Call& call) {
  rest::Problems problems;
  rest::QueryReader input(call.request().query, &problems);
  store::EventListFilter filter;
  filter.scope.org_id = input.Id("org_id");
  const ListQuery query = ReadEventQuery(&input, &filter);
  problems.Check();
  const rest::CursorOf list{'v', filter.scope.org_id.value_or(base::Uuid{})};
  if (!ReadPlace(list, query, &filter)) return rest::InvalidCursor();
  return EventsReply(filter.scope.org_id
                         ? store::ListEventsOfMany(call.session(), filter)
                         : store::ListLatestEvents(call.session(), filter, call.parts.clock.Now()),
                     query.limit, list);
}

rest::Handled GetMonitorEvents(Call& call) {
  rest::Problems problems;
  rest::QueryReader input(call.request().query, &problems);
  store::EventListFilter filter;
  filter.monitor_id = call.Id(0);
  filter.row_id = input.Id("row_id");
  const ListQuery query = ReadEventQuery(&input, &filter);
  // The events of one tick alone: the list begins there, and ends where the tick does.
  const auto tick = input.Text("tick_id");
  std::int64_t tick_id = 0;
  if (tick && !tick->empty()) {
    const auto [end, error] = std::from_chars(tick->data(), tick->data() + tick->size(), tick_id);
    if (error != std::errc() || *end != '\0' || tick_id <= 0) {
      input.Refuse("tick_id", "int_parsing", "Input should be the number of a tick");
    }
    filter.after_tick_id = tick_id;
    filter.after_id.bytes.fill(0xff);
  }
  problems.Check();
  if (!store::GetMonitor(call.session(), kEveryMonitor, call.Id(0)))
    return rest::NotFound("monitor");
  if (filter.row_id && !store::GetRow(call.session(), call.Id(0), *filter.row_id)) {
    return rest::NotFound("row of this monitor");
  }
  const rest::CursorOf list{'e', filter.row_id.value_or(call.Id(0))};
  if (!ReadPlace(list, query, &filter)) return rest::InvalidCursor();
  auto page = store::ListEventsOfMany(call.session(), filter);
  const auto earlier = [&](const domain::Event& event) { return event.tick_id < tick_id; };
  if (std::erase_if(page.items, earlier) > 0) page.more = false;
  return EventsReply(std::move(page), query.limit, list);
}

// The public API, asked for the organisation that the first {id} names (admin.h).

namespace {

// `reason` is this port's own, for the audit: the public API does not know the member.
struct TenantBody {
  std::string text;
  std::optional<std::string> reason;
};

TenantBody ReadTenantBody(const Call& call) {
  if (call.request().method == "DELETE") {
    CallBody body(call);
    auto reason = body.Reason();
    body.Check();
    return {"", std::move(reason)};
  }
  if (call.request().method != "POST") return {call.request().body, {}};
  auto body = rest::ReadJsonBody(
      call.request(), {.bytes_max = kTenantBodyBytesMax, .json = {.keep_numbers = true}});
  if (!body.members.contains("reason")) return {call.request().body, {}};
  rest::Problems problems;
  auto reason = rest::BodyReader(body.members, &problems)
                    .FilledText("reason", rest::Presence::kOptional, domain::kReasonCharsMax);
  problems.Check();
  body.members.erase("reason");
  return {base::DumpJson(body.members), std::move(reason)};
}

// Query and body are the public API's to validate, once the body of a POST is JSON, for an
// organisation that is there.
rest::Handled AskTenantApi(const Call& call, std::string path) {
  TenantBody body = ReadTenantBody(call);
  if (!store::ReadOrganisation(call.session(), call.Id(0))) return rest::NotFound("organisation");
  if (call.parts.tenant_api == nullptr) {
    return rest::ErrorReply(409, "no_api_here",
                            "this process does not have the role api, which makes and changes "
                            "what is an organisation's: ask one with both roles, or the public "
                            "API");
  }
  call.parts.tenant_api->Call({.org_id = call.Id(0),
                               .actor = call.caller.name,
                               .reason = std::move(body.reason),
                               .method = call.request().method,
                               .path = std::move(path),
                               .query = call.request().query,
                               .body = std::move(body.text),
                               .remote_address = call.request().remote_address},
                              [answer = call.answer](net::ServerResponse response) {
                                answer->Send({response.status, std::move(response.body)});
                              });
  return rest::Parked{};
}

}  // namespace

rest::Handled AskTenantChannels(Call& call) {
  constexpr std::string_view kBefore = "/admin/v1/orgs/";
  constexpr std::size_t kIdChars = 36;
  return AskTenantApi(call, call.request().path.substr(kBefore.size() + kIdChars));
}

rest::Handled PostTenantMonitor(Call& call) {
  return AskTenantApi(call, "/monitors");
}

rest::Handled PostTenantPreview(Call& call) {
  return AskTenantApi(call, "/monitors/preview");
}

rest::Handled PostTenantSchedulePreview(Call& call) {
  return AskTenantApi(call, "/schedules/preview");
}

rest::Handled PostTenantMonitorUpdate(Call& call) {
  return AskTenantApi(call, "/monitors/" + call.Id(1).ToString() + "/update");
}

namespace {

std::string SchedulesOf(const Call& call) {
  return fmt::format("/workflows/{}/schedules", call.Id(1).ToString());
}

}  // namespace

rest::Handled PostTenantSchedule(Call& call) {
  return AskTenantApi(call, SchedulesOf(call));
}

rest::Handled PostTenantScheduleUpdate(Call& call) {
  return AskTenantApi(call, fmt::format("{}/{}/update", SchedulesOf(call), call.Id(2).ToString()));
}

rest::Handled PostTenantScheduleTrigger(Call& call) {
  return AskTenantApi(call, fmt::format("{}/{}/trigger", SchedulesOf(call), call.Id(2).ToString()));
}

}  // namespace vedette::admin
