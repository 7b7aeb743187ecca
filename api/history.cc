#include <utility>

#include "api/cursor.h"
#include "api/handlers.h"
#include "api/list_stream.h"
#include "domain/limits.h"
#include "domain/monitor_json.h"
#include "store/events.h"
#include "store/tick_list.h"

namespace vedette::api {

Handled ListEvents(Call& call) {
  Judged<domain::Monitor> found = FindMonitor(call);
  if (auto* reply = std::get_if<Reply>(&found)) return std::move(*reply);
  const auto& monitor = std::get<domain::Monitor>(found);
  Judged<domain::Row> row = FindRow(call, monitor);
  if (auto* reply = std::get_if<Reply>(&row)) return std::move(*reply);
  Problems problems;
  QueryReader query(call.request().query, &problems);
  store::EventFilter filter;
  filter.limit = query.Integer("limit", domain::kEventsDefault, 1, domain::kEventsMax);
  filter.include_completions = query.Boolean("include_completions", false);
  if (const auto text = query.Text("event_group_id")) {
    filter.event_group_id = base::Uuid::Parse(*text);
    if (!filter.event_group_id) {
      problems.Add(base::Json::array({"query", "event_group_id"}), "uuid_parsing",
                   "Input should be a UUID", *text);
    }
  }
  if (problems.any()) return ValidationReply(problems.items());
  ListParts<domain::Event> list;
  list.head = "[";
  list.limit = filter.limit;
  list.read = [id = monitor.id, row = std::move(std::get<domain::Row>(row)), filter](
                  store::Session& session, const domain::Event* after, int items_max) {
    store::EventFilter page = filter;
    if (after != nullptr) page.after = *after;
    page.limit = items_max;
    page.bytes_max = kPageBytes;
    return store::ListEvents(session, id, row, page);
  };
  list.write = [](const domain::Event& event, std::string* text) {
    text->append(domain::EventJson(event));
  };
  list.tail = [](const domain::Event*) { return std::string("]"); };
  return SendList(call, std::move(list));
}

Handled ListTicks(Call& call) {
  Judged<domain::Monitor> found = FindMonitor(call);
  if (auto* reply = std::get_if<Reply>(&found)) return std::move(*reply);
  const auto& monitor = std::get<domain::Monitor>(found);
  Problems problems;
  QueryReader query(call.request().query, &problems);
  const int limit = query.Integer("limit", domain::kRowPageDefault, 1, domain::kRowPageMax);
  if (problems.any()) return ValidationReply(problems.items());
  std::optional<std::int64_t> before;
  if (const auto cursor = query.Text("cursor")) {
    before = DecodeCursor(CursorKind::kTicks, monitor.id, *cursor);
    if (!before) return ErrorReply(400, "invalid_cursor", "cursor is not one of these ticks");
  }
  auto ticks = store::ListTicks(call.session, monitor.id, before, limit + 1);
  const bool more = ticks.size() > static_cast<std::size_t>(limit);
  if (more) ticks.pop_back();
  std::string body = "{\"ticks\":[";
  for (const domain::Tick& tick : ticks) {
    if (body.back() != '[') body += ',';
    body += domain::TickJson(tick);
  }
  body += ']';
  if (more) {
    body += ",\"next_cursor\":\"" +
            EncodeCursor(CursorKind::kTicks, monitor.id, ticks.back().tick_id) + '"';
  }
  return Reply{200, body + '}'};
}

}  // namespace vedette::api
