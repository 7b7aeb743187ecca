#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "admin/handlers.h"
#include "config/config.h"
#include "domain/limits.h"
#include "domain/monitor.h"
#include "domain/monitor_json.h"
#include "domain/names.h"
#include "rest/cursor.h"
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

// Whose rows a cursor is of.
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

rest::Reply GetMonitors(const Parts& parts, store::Session& session, const Call& call) {
  rest::Problems problems;
  rest::QueryReader input(call.request.query, &problems);
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
  if (auto refusal = problems.Refusal()) return std::move(*refusal);
  if (list.cursor) {
    filter.before_id = rest::DecodeIdCursor(kMonitorList, *list.cursor);
    if (!filter.before_id) return rest::InvalidCursor();
  }
  filter.limit = list.limit + 1;
  filter.bytes_max = kPageBytesMax;
  const auto page = rest::CutPage(
      store::ListMonitors(session, filter), list.limit,
      [](const domain::Monitor& monitor) { return rest::EncodeCursor(kMonitorList, monitor.id); });
  return {200,
          rest::PageText("items", page, [&](const domain::Monitor& monitor, std::string* text) {
            text->append(domain::MonitorSummaryJson(monitor, parts.config.prices_mc));
          })};
}

rest::Reply GetMonitor(const Parts& parts, store::Session& session, const Call& call) {
  const auto monitor = store::GetMonitor(session, kEveryMonitor, call.ids[0]);
  if (!monitor) return NoMonitor();
  std::vector<std::string> ticks;
  for (const auto& tick : store::ListTicks(session, monitor->id, std::nullopt, kTicksShown)) {
    ticks.push_back(domain::TickJson(tick));
  }
  std::string text = domain::MonitorDetailJson(*monitor, parts.config.prices_mc);
  text.pop_back();
  return {200, text + fmt::format(",\"ticks\":[{}]}}", fmt::join(ticks, ","))};
}

rest::Reply GetMonitorRows(const Parts&, store::Session& session, const Call& call) {
  rest::Problems problems;
  rest::QueryReader input(call.request.query, &problems);
  const ListQuery list = ReadListQuery(&input);
  std::optional<store::RowChoice> choice;
  if (input.Boolean("stale", false)) choice = store::RowChoice::kStale;
  if (input.Boolean("failing", false)) choice = store::RowChoice::kFailing;
  if (auto refusal = problems.Refusal()) return std::move(*refusal);
  const auto monitor = store::GetMonitor(session, kEveryMonitor, call.ids[0]);
  if (!monitor) return NoMonitor();
  int after = -1;
  if (list.cursor) {
    const auto position = rest::DecodeCursor(RowsOf(monitor->id), *list.cursor);
    if (!position || *position > std::numeric_limits<int>::max()) return rest::InvalidCursor();
    after = static_cast<int>(*position);
  }
  return {200,
          rest::PageText("rows", ReadRows(session, *monitor, after, list.limit, choice),
                         [](const std::string& row, std::string* text) { text->append(row); })};
}

rest::Reply GetMonitorRow(const Parts&, store::Session& session, const Call& call) {
  const auto monitor = store::GetMonitor(session, kEveryMonitor, call.ids[0]);
  if (!monitor) return NoMonitor();
  const auto row = store::GetRow(session, call.ids[0], call.ids[1]);
  if (!row) return rest::NotFound("row of this monitor");
  std::string text;
  domain::RowJson(*monitor, domain::RowJson::View::kPage).Append(*row, &text);
  return {200, std::move(text)};
}

rest::Reply GetRowEvents(const Parts&, store::Session& session, const Call& call) {
  rest::Problems problems;
  rest::QueryReader input(call.request.query, &problems);
  store::EventFilter filter;
  filter.event_group_id = input.Id("event_group_id");
  filter.limit = input.Integer("limit", domain::kEventsDefault, 1, domain::kEventsMax);
  filter.include_completions = input.Boolean("include_completions", false);
  if (auto refusal = problems.Refusal()) return std::move(*refusal);
  // Events have no cursor: of very large ones the newest are shown.
  filter.bytes_max = kPageBytesMax;
  const auto row = store::GetRow(session, call.ids[0], call.ids[1]);
  if (!row) return rest::NotFound("row of this monitor");
  std::vector<std::string> items;
  for (const auto& event : store::ListEvents(session, call.ids[0], *row, filter).items) {
    items.push_back(domain::EventJson(event));
  }
  return {200, fmt::format("[{}]", fmt::join(items, ","))};
}

}  // namespace vedette::admin
