#include "store/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "api/cursor.h"
#include "api/handlers.h"
#include "api/monitor_body.h"
#include "api/row_list.h"
#include "domain/limits.h"

namespace vedette::api {
namespace {

// `stale=true` looks at so many rows a call, then gives a cursor.
constexpr int kStaleRowsLookedAtMax = 10000;
constexpr const char* kSwitchedOffReason = "switched off through the API";

struct PageQuery {
  int limit = 0;
  int after_position = -1;
  bool stale = false;
};

Judged<PageQuery> ReadPageQuery(const Call& call, const base::Uuid& monitor_id) {
  Problems problems;
  QueryReader query(call.request().query, &problems);
  PageQuery page;
  page.limit = query.Integer("limit", domain::kRowPageDefault, 1, domain::kRowPageMax);
  page.stale = query.Boolean("stale", false);
  if (problems.any()) return ValidationReply(problems.items());
  if (const auto text = query.Text("cursor")) {
    const auto after = DecodeCursor(CursorKind::kRows, monitor_id, *text);
    if (!after || *after > std::numeric_limits<int>::max()) {
      return ErrorReply(400, "invalid_cursor", "cursor is not one of this monitor's rows");
    }
    page.after_position = static_cast<int>(*after);
  }
  return page;
}

std::string RowListTail(const base::Uuid& monitor_id, std::optional<int> next_after) {
  if (!next_after) return "]}";
  return "],\"next_cursor\":\"" + EncodeCursor(CursorKind::kRows, monitor_id, *next_after) + "\"}";
}

// Makes a list of rows one of the stale ones among the next kStaleRowsLookedAtMax; the cursor
// stands behind those that were looked at.
void ListStaleOnly(const domain::Monitor& monitor, int after_position,
                   ListParts<domain::Row>* list) {
  const std::int64_t end = std::min<std::int64_t>(
      monitor.row_count, std::int64_t{after_position} + 1 + kStaleRowsLookedAtMax);
  const int last_position = static_cast<int>(end) - 1;
  list->read = [id = monitor.id, frequency = monitor.frequency, after_position, last_position](
                   store::Session& session, const domain::Row* after, int items_max) {
    const int position = after == nullptr ? after_position : after->position;
    return store::ListStaleRows(session, id, frequency, position, last_position, items_max,
                                kPageBytes);
  };
  list->tail = [id = monitor.id, last_position,
                count = monitor.row_count](const domain::Row* next_after) {
    if (next_after != nullptr) return RowListTail(id, next_after->position);
    const bool more = std::int64_t{last_position} + 1 < count;
    return RowListTail(id, more ? std::optional<int>(last_position) : std::nullopt);
  };
}

Reply AddedReply(const std::vector<base::Uuid>& ids) {
  std::string body = "{\"rows\":[";
  for (const base::Uuid& id : ids) {
    if (body.back() != '[') body += ',';
    body.append("{\"id\":\"").append(id.ToString()).append("\"}");
  }
  return {200, body + "]}"};
}

domain::ColumnRoles RolesOf(const domain::Monitor& monitor) {
  domain::ColumnRoles roles{.key_columns = monitor.key_columns};
  const base::Json watched = base::ParseJsonOrThrow(monitor.struct_json);
  for (const auto& [name, description] : watched.items()) roles.watched.insert(name);
  return roles;
}

// The body's rows, judged; or what is wrong with it.
Judged<std::vector<domain::RowValues>> JudgeRowsBody(const Call& call,
                                                     const domain::Monitor& monitor) {
  Judged<JsonBody> json = ReadJsonObject(call);
  if (auto* reply = std::get_if<Reply>(&json)) return std::move(*reply);
  Problems problems;
  auto rows =
      ReadRowsBody(std::get<JsonBody>(json), RolesOf(monitor), call.parts.config.limits, &problems);
  if (problems.any()) return ValidationReply(problems.items());
  if (const auto breach = JudgeRows(rows, monitor.key_columns)) {
    return ErrorReply(400, breach->code, breach->message);
  }
  return rows;
}

std::string StatusMessage(domain::MonitorStatus status, std::string_view what) {
  return fmt::format("the monitor is {}: {}", domain::MonitorStatusName(status), what);
}

}  // namespace

ListParts<domain::Row> RowListParts(const std::shared_ptr<const domain::Monitor>& monitor,
                                    domain::RowJson::View view, int after_position) {
  ListParts<domain::Row> list;
  list.read = [id = monitor->id, after_position](store::Session& session, const domain::Row* after,
                                                 int items_max) {
    const int position = after == nullptr ? after_position : after->position;
    return store::ListRows(session, id, position, items_max, kPageBytes);
  };
  list.write = [writer = std::make_shared<domain::RowJson>(*monitor, view)](
                   const domain::Row& row, std::string* text) { writer->Append(row, text); };
  return list;
}

Handled ListRows(Call& call) {
  Judged<domain::Monitor> found = FindMonitor(call);
  if (auto* reply = std::get_if<Reply>(&found)) return std::move(*reply);
  const auto monitor =
      std::make_shared<const domain::Monitor>(std::move(std::get<domain::Monitor>(found)));
  Judged<PageQuery> query = ReadPageQuery(call, monitor->id);
  if (auto* reply = std::get_if<Reply>(&query)) return std::move(*reply);
  const auto& page = std::get<PageQuery>(query);
  auto list = RowListParts(monitor, domain::RowJson::View::kPage, page.after_position);
  list.head = "{\"rows\":[";
  list.limit = page.limit;
  list.tail = [id = monitor->id](const domain::Row* next_after) {
    return RowListTail(
        id, next_after == nullptr ? std::nullopt : std::optional<int>(next_after->position));
  };
  if (page.stale) ListStaleOnly(*monitor, page.after_position, &list);
  return SendList(call, std::move(list));
}

Handled AddRows(Call& call) {
  Judged<domain::Monitor> found = FindMonitor(call);
  if (auto* reply = std::get_if<Reply>(&found)) return std::move(*reply);
  const auto& monitor = std::get<domain::Monitor>(found);
  auto judged = JudgeRowsBody(call, monitor);
  if (auto* reply = std::get_if<Reply>(&judged)) return std::move(*reply);
  const auto& rows = std::get<std::vector<domain::RowValues>>(judged);
  const auto outcome = store::AddRows(call.session, call.parts.clock, call.scope(), monitor.id,
                                      rows, call.parts.config.limits.rows_per_monitor_max);
  using Kind = store::AddRowsOutcome::Kind;
  switch (outcome.kind) {
    case Kind::kAdded:
      return AddedReply(outcome.row_ids);
    case Kind::kNotFound:
      return NotFound("monitor");
    case Kind::kConflict:
      return Conflict(StatusMessage(outcome.status, "rows cannot be added"));
    case Kind::kDuplicateKey:
      return ErrorReply(
          400, "duplicate_key",
          fmt::format("rows[{}] has the same key values as a row that the monitor has ({})",
                      outcome.duplicate_index, rows[outcome.duplicate_index].subject_json));
    case Kind::kTooMany:
      return ValidationReply(
          {{BodyReader::Loc("rows"),
            fmt::format("A monitor should have at most {} rows; this one has {}",
                        call.parts.config.limits.rows_per_monitor_max, outcome.row_count),
            "too_long"}});
  }
  return std::nullopt;
}

Handled SwitchRow(Call& call) {
  Judged<domain::Monitor> found = FindMonitor(call);
  if (auto* reply = std::get_if<Reply>(&found)) return std::move(*reply);
  const auto& monitor = std::get<domain::Monitor>(found);
  Judged<domain::Row> row = FindRow(call, monitor);
  if (auto* reply = std::get_if<Reply>(&row)) return std::move(*reply);
  Judged<JsonBody> json = ReadJsonObject(call);
  if (auto* reply = std::get_if<Reply>(&json)) return std::move(*reply);
  Problems problems;
  const RowSwitchBody body = ReadRowSwitchBody(std::get<JsonBody>(json).members, &problems);
  if (problems.any()) return ValidationReply(problems.items());
  const base::Uuid row_id = std::get<domain::Row>(row).id;
  const auto outcome =
      store::SwitchRow(call.session, call.scope(), monitor.id, row_id, body.is_active,
                       body.disabled_reason.value_or(kSwitchedOffReason));
  if (outcome.kind == store::ControlOutcome::Kind::kConflict) {
    return Conflict(StatusMessage(outcome.status, "its rows cannot be switched"));
  }
  const auto switched = store::GetRow(call.session, monitor.id, row_id);
  if (outcome.kind == store::ControlOutcome::Kind::kNotFound || !switched) return NotFound("row");
  std::string body_json;
  domain::RowJson(monitor, domain::RowJson::View::kPage).Append(*switched, &body_json);
  return Reply{200, std::move(body_json)};
}

}  // namespace vedette::api
