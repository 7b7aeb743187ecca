#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/kit/cursor.h"
#include "api/kit/query_reader.h"
#include "api/kit/reply.h"
#include "api/tenant/handlers.h"
#include "api/tenant/monitors/monitor_calls.h"
#include "base/json.h"
#include "domain/monitor/enums.h"
#include "domain/monitor/monitor_json.h"
#include "domain/monitor/observation.h"
#include "domain/text/limits.h"
#include "store/deliveries/delivery_views.h"
#include "store/monitors/events.h"
#include "store/monitors/rows.h"

namespace vedette::api {

rest::Handled ListEvents(Call& call) {
  const auto monitor = FindMonitor(call);
  auto row = FindRow(call, monitor);
  rest::Problems problems;
  rest::QueryReader query(call.request().query, &problems);
  store::EventFilter filter;
  filter.limit = query.Integer("limit", domain::kEventsDefault, 1, domain::kEventsMax);
  filter.include_completions = query.Boolean("include_completions", false);
  filter.event_group_id = query.Id("event_group_id");
  query.Finish();
  problems.Check();
  rest::ListPieces<domain::Event> list;
  list.head = "[";
  list.limit = filter.limit;
  list.read = [id = monitor.id, row = std::move(row), filter](
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
  const auto monitor = FindMonitor(call);
  rest::Problems problems;
  rest::QueryReader query(call.request().query, &problems);
  const int limit = query.Integer("limit", domain::kRowPageDefault, 1, domain::kRowPageMax);
  query.Finish({"cursor"});
  problems.Check();
  const rest::CursorOf list = TicksOf(call, monitor.id);
  std::optional<std::int64_t> before;
  if (const auto cursor = query.Text("cursor")) {
    before = rest::DecodeCursor(list, *cursor);
    if (!before) return rest::InvalidCursor();
  }
  const auto page = rest::CutPage(
      store::ListTicks(call.session(), monitor.id, before, limit + 1), limit,
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

std::string EventListTail(const rest::CursorOf& list, const domain::Event* next_after) {
  if (next_after == nullptr) return "]}";
  const rest::TimedPlace place{base::Timestamp(std::chrono::microseconds(next_after->tick_id)),
                               next_after->id};
  return "],\"next_cursor\":\"" + rest::EncodeCursor(list, place) + "\"}";
}

// The events that `filter` leaves, in pages; `bound_to` is whose they are.
rest::Handled SendEvents(Call& call, store::EventListFilter filter, const base::Uuid& bound_to) {
  rest::Problems problems;
  rest::QueryReader query(call.request().query, &problems);
  rest::ListPieces<domain::Event> list;
  list.limit = query.Integer("limit", domain::kEventsDefault, 1, domain::kEventsMax);
  filter.types = ReadTypes(&query);
  query.Finish({"cursor"});
  problems.Check();
  if (const auto cursor = query.Text("cursor")) {
    const auto place = rest::DecodeTimedCursor(EventsOf(call, bound_to), *cursor);
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
  list.tail = [of = EventsOf(call, bound_to)](const domain::Event* next_after) {
    return EventListTail(of, next_after);
  };
  return SendList(call, std::move(list));
}

}  // namespace

rest::Handled ListMonitorEvents(Call& call) {
  const auto found = FindMonitor(call);
  const base::Uuid id = found.id;
  store::EventListFilter filter;
  filter.monitor_id = id;
  return SendEvents(call, std::move(filter), id);
}

rest::Handled ListAllEvents(Call& call) {
  store::EventListFilter filter;
  filter.scope = call.caller.scope();
  return SendEvents(call, std::move(filter), call.caller.team_id.value_or(call.caller.org_id));
}

namespace {

std::string SnapshotText(const store::Snapshot& snapshot) {
  base::Json json{
      {"id", snapshot.id.ToString()},
      {"previous_id", nullptr},
      {"url", snapshot.url},
      {"rendered", snapshot.is_rendered},
      {"text_bytes", snapshot.text_bytes},
      {"truncated", snapshot.text_bytes > static_cast<int>(domain::kSnapshotTextBytesMax)},
      {"has_screenshot", snapshot.has_picture},
      {"created_at", base::FormatTimestamp(snapshot.created_at)}};
  if (snapshot.previous_id) json["previous_id"] = snapshot.previous_id->ToString();
  return base::DumpJson(json);
}

rest::Reply SnapshotOf(Call& call, store::SnapshotPart part) {
  const base::Uuid id = call.Id(0, "snapshot");
  return rest::SnapshotReply(store::ReadSnapshot(call.session(), call.caller.scope(), id, part),
                             part);
}

}  // namespace

rest::Handled ListSnapshots(Call& call) {
  const auto monitor = FindMonitor(call);
  const auto row = FindRow(call, monitor);
  rest::Problems problems;
  rest::QueryReader query(call.request().query, &problems);
  const int limit = query.Integer("limit", domain::kRowPageDefault, 1, domain::kRowPageMax);
  query.Finish({"cursor"});
  problems.Check();
  const rest::CursorOf list = SnapshotsOf(call, row.id);
  std::optional<std::int64_t> before;
  if (const auto cursor = query.Text("cursor")) {
    before = rest::DecodeCursor(list, *cursor);
    if (!before) return rest::InvalidCursor();
  }
  const auto page =
      rest::CutPage(store::ListSnapshots(call.session(), row.id, before, limit + 1), limit,
                    [&](const store::Snapshot& s) { return rest::EncodeCursor(list, s.tick_id); });
  return rest::Reply{
      200, rest::PageText("snapshots", page, [](const store::Snapshot& s, std::string* text) {
        text->append(SnapshotText(s));
      })};
}

rest::Handled ShowSnapshotText(Call& call) {
  return SnapshotOf(call, store::SnapshotPart::kText);
}

rest::Handled ShowSnapshotPicture(Call& call) {
  return SnapshotOf(call, store::SnapshotPart::kPicture);
}

namespace {

std::optional<domain::DeliveryState> ReadState(rest::QueryReader* query) {
  const auto text = query->Text("state");
  if (!text) return std::nullopt;
  for (const auto state : {domain::DeliveryState::kPending, domain::DeliveryState::kDead}) {
    if (*text == domain::DeliveryStateName(state)) return state;
  }
  query->Refuse("state", "enum", "Input should be 'pending' or 'dead'");
  return std::nullopt;
}

// What a receiver answered is the operator's to read.
std::string DeliveryText(const store::MonitorDelivery& delivery) {
  base::Json json{{"id", delivery.id.ToString()},
                  {"state", domain::DeliveryStateName(delivery.state)},
                  {"event_type", domain::NotificationTypeName(delivery.type)},
                  {"row_id", delivery.row_id.ToString()},
                  {"channel_id", nullptr},
                  {"event_group_id", delivery.event_group_id.ToString()},
                  {"attempts", delivery.attempts},
                  {"next_attempt_at", base::OrNull(delivery.next_attempt_at)},
                  {"waiting_for", nullptr},
                  {"last_error", nullptr},
                  {"created_at", base::FormatTimestamp(delivery.created_at)}};
  if (delivery.channel_id) json["channel_id"] = delivery.channel_id->ToString();
  if (delivery.waits_for) json["waiting_for"] = domain::DeliveryWaitName(*delivery.waits_for);
  if (delivery.last_error) json["last_error"] = *delivery.last_error;
  return base::DumpJson(json);
}

}  // namespace

rest::Handled ListDeliveries(Call& call) {
  const auto found = FindMonitor(call);
  const base::Uuid monitor_id = found.id;
  rest::Problems problems;
  rest::QueryReader query(call.request().query, &problems);
  const int limit = query.Integer("limit", domain::kRowPageDefault, 1, domain::kRowPageMax);
  const auto state = ReadState(&query);
  query.Finish({"cursor"});
  problems.Check();
  std::optional<base::Uuid> before;
  if (const auto cursor = query.Text("cursor")) {
    before = rest::DecodeIdCursor(DeliveriesOf(call, monitor_id), *cursor);
    if (!before) return rest::InvalidCursor();
  }
  const auto page = rest::CutPage(
      store::ListMonitorDeliveries(call.session(), monitor_id, state, before, limit + 1), limit,
      [&](const store::MonitorDelivery& delivery) {
        return rest::EncodeCursor(DeliveriesOf(call, monitor_id), delivery.id);
      });
  return rest::Reply{200,
                     rest::PageText("deliveries", page,
                                    [](const store::MonitorDelivery& delivery, std::string* text) {
                                      text->append(DeliveryText(delivery));
                                    })};
}

}  // namespace vedette::api
