#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "api/handlers.h"
#include "api/monitors/lists.h"
#include "domain/limits.h"
#include "domain/monitor_json.h"
#include "rest/page.h"
#include "rest/query_reader.h"
#include "store/monitors/events.h"

namespace vedette::api {

rest::Handled ListEvents(Call& call) {
  rest::Judged<domain::Monitor> found = FindMonitor(call);
  if (auto* reply = std::get_if<rest::Reply>(&found)) return std::move(*reply);
  const auto& monitor = std::get<domain::Monitor>(found);
  rest::Judged<domain::Row> row = FindRow(call, monitor);
  if (auto* reply = std::get_if<rest::Reply>(&row)) return std::move(*reply);
  rest::Problems problems;
  rest::QueryReader query(call.request().query, &problems);
  store::EventFilter filter;
  filter.limit = query.Integer("limit", domain::kEventsDefault, 1, domain::kEventsMax);
  filter.include_completions = query.Boolean("include_completions", false);
  filter.event_group_id = query.Id("event_group_id");
  query.Finish();
  if (auto refusal = problems.Refusal()) return std::move(*refusal);
  rest::ListParts<domain::Event> list;
  list.head = "[";
  list.limit = filter.limit;
  list.read = [id = monitor.id, row = std::move(std::get<domain::Row>(row)), filter](
                  store::Session& session, const domain::Event* after, int items_max) {
    store::EventFilter page = filter;
    if (after != nullptr) page.after = *after;
    page.limit = items_max;
    page.bytes_max = rest::kPageBytes;
    return store::ListEvents(session, id, row, page);
  };
  list.write = [](const domain::Event& event, std::string* text) {
    text->append(domain::EventJson(event));
  };
  list.tail = [](const domain::Event*) { return std::string("]"); };
  return SendList(call, std::move(list));
}

rest::Handled ListTicks(Call& call) {
  rest::Judged<domain::Monitor> found = FindMonitor(call);
  if (auto* reply = std::get_if<rest::Reply>(&found)) return std::move(*reply);
  const auto& monitor = std::get<domain::Monitor>(found);
  rest::Problems problems;
  rest::QueryReader query(call.request().query, &problems);
  const int limit = query.Integer("limit", domain::kRowPageDefault, 1, domain::kRowPageMax);
  query.Finish({"cursor"});
  if (auto refusal = problems.Refusal()) return std::move(*refusal);
  const rest::CursorOf list = TicksOf(monitor.id);
  std::optional<std::int64_t> before;
  if (const auto cursor = query.Text("cursor")) {
    before = rest::DecodeCursor(list, *cursor);
    if (!before) return rest::InvalidCursor();
  }
  const auto page = rest::CutPage(
      store::ListTicks(call.session, monitor.id, before, limit + 1), limit,
      [&](const domain::Tick& tick) { return rest::EncodeCursor(list, tick.tick_id); });
  return rest::Reply{200,
                     rest::PageText("ticks", page, [](const domain::Tick& tick, std::string* text) {
                       text->append(domain::TickJson(tick));
                     })};
}

namespace {

std::vector<domain::EventType> ReadTypes(rest::QueryReader* query) {
  std::vector<domain::EventType> types;
  for (const std::string& name : query->All("event_type")) {
    if (name == domain::EventTypeName(domain::EventType::kChange)) {
      types.push_back(domain::EventType::kChange);
    } else if (name == domain::EventTypeName(domain::EventType::kError)) {
      types.push_back(domain::EventType::kError);
    } else {
      query->Refuse("event_type", "enum", "Input should be 'change' or 'error'");
    }
  }
  return types;
}

std::string EventListTail(const base::Uuid& bound_to, const domain::Event* next_after) {
  if (next_after == nullptr) return "]}";
  const rest::TimedPlace place{base::Timestamp(std::chrono::microseconds(next_after->tick_id)),
                               next_after->id};
  return "],\"next_cursor\":\"" + rest::EncodeCursor(EventsOf(bound_to), place) + "\"}";
}

// The events that `filter` leaves, in pages; `bound_to` is whose they are.
rest::Handled SendEvents(Call& call, store::EventListFilter filter, const base::Uuid& bound_to) {
  rest::Problems problems;
  rest::QueryReader query(call.request().query, &problems);
  rest::ListParts<domain::Event> list;
  list.limit = query.Integer("limit", domain::kEventsDefault, 1, domain::kEventsMax);
  filter.types = ReadTypes(&query);
  query.Finish({"cursor"});
  if (auto refusal = problems.Refusal()) return std::move(*refusal);
  if (const auto cursor = query.Text("cursor")) {
    const auto place = rest::DecodeTimedCursor(EventsOf(bound_to), *cursor);
    if (!place) return rest::InvalidCursor();
    filter.after_tick_id = place->at.time_since_epoch().count();
    filter.after_id = place->id;
  }
  list.head = "{\"events\":[";
  list.read = [filter](store::Session& session, const domain::Event* after, int items_max) {
    store::EventListFilter page = filter;
    if (after != nullptr) {
      page.after_tick_id = after->tick_id;
      page.after_id = after->id;
    }
    page.limit = items_max;
    page.bytes_max = rest::kPageBytes;
    return store::ListEventsOfMany(session, page);
  };
  list.write = [](const domain::Event& event, std::string* text) {
    text->append(domain::EventJson(event));
  };
  list.tail = [bound_to](const domain::Event* next_after) {
    return EventListTail(bound_to, next_after);
  };
  return SendList(call, std::move(list));
}

}  // namespace

rest::Handled ListMonitorEvents(Call& call) {
  rest::Judged<domain::Monitor> found = FindMonitor(call);
  if (auto* reply = std::get_if<rest::Reply>(&found)) return std::move(*reply);
  const base::Uuid id = std::get<domain::Monitor>(found).id;
  store::EventListFilter filter;
  filter.monitor_id = id;
  return SendEvents(call, std::move(filter), id);
}

rest::Handled ListAllEvents(Call& call) {
  store::EventListFilter filter;
  filter.scope = call.scope();
  return SendEvents(call, std::move(filter), call.caller.team_id.value_or(call.caller.org_id));
}

}  // namespace vedette::api
