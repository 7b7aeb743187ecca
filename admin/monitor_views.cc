#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "admin/handlers.h"
#include "admin/input.h"
#include "domain/limits.h"
#include "domain/monitor.h"
#include "domain/monitor_json.h"
#include "domain/names.h"
#include "store/events.h"
#include "store/monitors.h"
#include "store/rows.h"
#include "store/tick_list.h"

namespace vedette::admin {
namespace {

// The operator sees every organisation's.
const store::MonitorScope kEveryMonitor{};

constexpr int kTicksShown = 50;
// How many rows a call for stale ones looks at.
constexpr int kStaleLookAtMax = 10000;
// A page ends early, with a cursor, once it has so many bytes: what tenants have stored may be
// large.
constexpr std::size_t kPageBytesMax = std::size_t{2} << 20;

Answer NoMonitor() {
  return NotFound("monitor");
}

std::string ListText(std::string_view name, const std::vector<std::string>& items,
                     const std::optional<std::string>& next) {
  std::string text = fmt::format("{{\"{}\":[{}]", name, fmt::join(items, ","));
  if (next) text += fmt::format(",\"next_cursor\":\"{}\"", *next);
  return text + "}";
}

// The position that a page of rows ended at, in a cursor of this monitor's.
std::string RowCursor(const base::Uuid& monitor_id, int position) {
  return MakeCursor('r', base::Timestamp(std::chrono::microseconds(position)), monitor_id);
}

}  // namespace

Answer GetMonitors(const Parts&, store::Session& session, const Call& call) {
  QueryReader input(call.request);
  store::MonitorFilter filter;
  filter.scope.org_id = input.Id("org_id");
  filter.text = input.Text("q");
  if (filter.text && filter.text->empty()) filter.text.reset();
  if (const auto status = input.Text("status"); status && !status->empty()) {
    if (const auto parsed = domain::ParseMonitorStatus(*status)) {
      filter.statuses.push_back(*parsed);
    } else {
      input.Refuse("status", "enum",
                   "Input should be starting, failed, active, paused or cancelled");
    }
  }
  const int limit = input.Limit();
  const auto cursor_text = input.Text("cursor");
  if (auto refusal = input.Refusal()) return *refusal;
  if (cursor_text) {
    const auto cursor = ReadCursor('m', *cursor_text);
    if (!cursor) return BadCursor();
    filter.before_id = cursor->id;
  }
  filter.limit = limit + 1;
  filter.bytes_max = kPageBytesMax;
  auto page = store::ListMonitors(session, filter);
  auto& monitors = page.items;
  if (monitors.size() > static_cast<std::size_t>(limit)) monitors.pop_back();
  std::optional<std::string> next;
  if (page.more) next = MakeCursor('m', monitors.back().id);
  std::vector<std::string> items;
  items.reserve(monitors.size());
  for (const auto& monitor : monitors) items.push_back(domain::MonitorSummaryJson(monitor));
  return JsonTextAnswer(200, ListText("items", items, next));
}

Answer GetMonitor(const Parts&, store::Session& session, const Call& call) {
  const auto monitor = store::GetMonitor(session, kEveryMonitor, call.ids[0]);
  if (!monitor) return NoMonitor();
  std::vector<std::string> ticks;
  for (const auto& tick : store::ListTicks(session, monitor->id, std::nullopt, kTicksShown)) {
    ticks.push_back(domain::TickJson(tick));
  }
  std::string text = domain::MonitorDetailJson(*monitor);
  text.pop_back();
  return JsonTextAnswer(200, text + fmt::format(",\"ticks\":[{}]}}", fmt::join(ticks, ",")));
}

Answer GetMonitorRows(const Parts&, store::Session& session, const Call& call) {
  QueryReader input(call.request);
  const int limit = input.Limit();
  const auto stale = input.Text("stale");
  if (stale && *stale != "true" && *stale != "false") {
    input.Refuse("stale", "bool_parsing", "Input should be true or false");
  }
  const auto cursor_text = input.Text("cursor");
  if (auto refusal = input.Refusal()) return *refusal;
  const auto monitor = store::GetMonitor(session, kEveryMonitor, call.ids[0]);
  if (!monitor) return NoMonitor();
  int after = -1;
  if (cursor_text) {
    const auto cursor = ReadCursor('r', *cursor_text);
    if (!cursor || cursor->id != monitor->id) return BadCursor();
    after = static_cast<int>(cursor->at.time_since_epoch().count());
  }
  store::Page<domain::Row> page;
  // The last position that the page tells of.
  int looked_until = after;
  if (stale == "true") {
    const auto last =
        std::min<std::int64_t>(monitor->row_count - 1, std::int64_t{after} + kStaleLookAtMax);
    page = store::ListStaleRows(session, monitor->id, monitor->frequency, after,
                                static_cast<int>(last), limit, kPageBytesMax);
    looked_until = page.more ? page.items.back().position : static_cast<int>(last);
  } else {
    page = store::ListRows(session, monitor->id, after, limit, kPageBytesMax);
    if (!page.items.empty()) looked_until = page.items.back().position;
  }
  const domain::RowJson writer(*monitor, domain::RowJson::View::kPage);
  std::vector<std::string> items;
  std::size_t bytes = 0;
  for (const auto& row : page.items) {
    if (bytes >= kPageBytesMax) break;
    writer.Append(row, &items.emplace_back());
    bytes += items.back().size();
    if (bytes >= kPageBytesMax) looked_until = row.position;
  }
  std::optional<std::string> next;
  if (looked_until > after && looked_until + 1 < monitor->row_count) {
    next = RowCursor(monitor->id, looked_until);
  }
  return JsonTextAnswer(200, ListText("rows", items, next));
}

Answer GetRowEvents(const Parts&, store::Session& session, const Call& call) {
  QueryReader input(call.request);
  store::EventFilter filter;
  filter.event_group_id = input.Id("event_group_id");
  filter.limit = input.Limit(domain::kEventsDefault, domain::kEventsMax);
  const auto completions = input.Text("include_completions");
  if (completions && *completions != "true" && *completions != "false") {
    input.Refuse("include_completions", "bool_parsing", "Input should be true or false");
  }
  filter.include_completions = completions == "true";
  if (auto refusal = input.Refusal()) return *refusal;
  // Events have no cursor: of very large ones the newest are shown.
  filter.bytes_max = kPageBytesMax;
  const auto row = store::GetRow(session, call.ids[0], call.ids[1]);
  if (!row) return NotFound("row of this monitor");
  std::vector<std::string> items;
  for (const auto& event : store::ListEvents(session, call.ids[0], *row, filter).items) {
    items.push_back(domain::EventJson(event));
  }
  return JsonTextAnswer(200, fmt::format("[{}]", fmt::join(items, ",")));
}

}  // namespace vedette::admin
