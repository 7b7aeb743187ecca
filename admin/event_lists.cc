#include <charconv>
#include <chrono>
#include <utility>

#include "admin/handlers.h"
#include "domain/monitor.h"
#include "domain/monitor_json.h"
#include "domain/names.h"
#include "rest/cursor.h"
#include "store/monitors/events.h"
#include "store/monitors/monitors.h"
#include "store/monitors/rows.h"

// The stored events of many rows: of one monitor, of an organisation, and of every organisation.
namespace vedette::admin {
namespace {

// The operator sees every organisation's.
const store::Scope kEveryMonitor{};

// A page ends early, with a cursor, once it has this many bytes: what tenants have stored may be
// large.
constexpr std::size_t kPageBytesMax = std::size_t{2} << 20;

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

rest::Reply GetEvents(const Parts& parts, store::Session& session, const Call& call) {
  rest::Problems problems;
  rest::QueryReader input(call.request.query, &problems);
  store::EventListFilter filter;
  filter.scope.org_id = input.Id("org_id");
  const ListQuery query = ReadEventQuery(&input, &filter);
  if (auto refusal = problems.Refusal()) return std::move(*refusal);
  const rest::CursorOf list{'v', filter.scope.org_id.value_or(base::Uuid{})};
  if (!ReadPlace(list, query, &filter)) return rest::InvalidCursor();
  return EventsReply(filter.scope.org_id
                         ? store::ListEventsOfMany(session, filter)
                         : store::ListLatestEvents(session, filter, parts.clock.Now()),
                     query.limit, list);
}

rest::Reply GetMonitorEvents(const Parts&, store::Session& session, const Call& call) {
  rest::Problems problems;
  rest::QueryReader input(call.request.query, &problems);
  store::EventListFilter filter;
  filter.monitor_id = call.ids[0];
  filter.row_id = input.Id("row_id");
  const ListQuery query = ReadEventQuery(&input, &filter);
  // Of one tick alone: the list begins there, and ends where the tick does.
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
  if (auto refusal = problems.Refusal()) return std::move(*refusal);
  if (!store::GetMonitor(session, kEveryMonitor, call.ids[0])) return rest::NotFound("monitor");
  if (filter.row_id && !store::GetRow(session, call.ids[0], *filter.row_id)) {
    return rest::NotFound("row of this monitor");
  }
  const rest::CursorOf list{'e', filter.row_id.value_or(call.ids[0])};
  if (!ReadPlace(list, query, &filter)) return rest::InvalidCursor();
  auto page = store::ListEventsOfMany(session, filter);
  const auto earlier = [&](const domain::Event& event) { return event.tick_id < tick_id; };
  if (std::erase_if(page.items, earlier) > 0) page.more = false;
  return EventsReply(std::move(page), query.limit, list);
}

}  // namespace vedette::admin
