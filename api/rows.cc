#include "store/rows.h"

#include <fmt/format.h>

#include <utility>

#include "api/cursor.h"
#include "api/handlers.h"
#include "api/monitor_body.h"
#include "domain/limits.h"
#include "domain/monitor_json.h"

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

std::string PageJson(const domain::Monitor& monitor, const std::vector<domain::Row>& rows,
                     std::optional<int> next_after) {
  const domain::RowJson writer(monitor, domain::RowJson::View::kPage);
  std::string body = "{\"rows\":[";
  for (const domain::Row& row : rows) {
    if (body.back() != '[') body += ',';
    writer.Append(row, &body);
  }
  body += ']';
  if (next_after) {
    body += ",\"next_cursor\":\"" + EncodeCursor(CursorKind::kRows, monitor.id, *next_after) + '"';
  }
  return body + '}';
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
  Judged<base::Json> json = ReadJsonObject(call);
  if (auto* reply = std::get_if<Reply>(&json)) return std::move(*reply);
  Problems problems;
  const base::Json rows =
      ReadRowsBody(std::move(std::get<base::Json>(json)), call.parts.config.limits, &problems);
  if (problems.any()) return ValidationReply(problems.items());
  auto ruled = JudgeRows(rows, RolesOf(monitor));
  if (const auto* breach = std::get_if<RuleBreach>(&ruled)) {
    return ErrorReply(400, breach->code, breach->message);
  }
  return std::move(std::get<std::vector<domain::RowValues>>(ruled));
}

std::string StatusMessage(domain::MonitorStatus status, std::string_view what) {
  return fmt::format("the monitor is {}: {}", domain::MonitorStatusName(status), what);
}

}  // namespace

Handled ListRows(Call& call) {
  Judged<domain::Monitor> found = FindMonitor(call);
  if (auto* reply = std::get_if<Reply>(&found)) return std::move(*reply);
  const auto& monitor = std::get<domain::Monitor>(found);
  Judged<PageQuery> query = ReadPageQuery(call, monitor.id);
  if (auto* reply = std::get_if<Reply>(&query)) return std::move(*reply);
  const auto& page = std::get<PageQuery>(query);
  if (page.stale) {
    const auto stale = store::ListStaleRows(call.session, monitor, page.after_position,
                                            kStaleRowsLookedAtMax, page.limit);
    std::optional<int> next_after;
    if (stale.looked_until + 1 < monitor.row_count) next_after = stale.looked_until;
    return Reply{200, PageJson(monitor, stale.rows, next_after)};
  }
  auto rows = store::ListRows(call.session, monitor.id, page.after_position, page.limit + 1);
  std::optional<int> next_after;
  if (rows.size() > static_cast<std::size_t>(page.limit)) {
    rows.pop_back();  // it only told that there is a next page
    next_after = rows.back().position;
  }
  return Reply{200, PageJson(monitor, rows, next_after)};
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
  Judged<base::Json> json = ReadJsonObject(call);
  if (auto* reply = std::get_if<Reply>(&json)) return std::move(*reply);
  Problems problems;
  const RowSwitchBody body = ReadRowSwitchBody(std::get<base::Json>(json), &problems);
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
