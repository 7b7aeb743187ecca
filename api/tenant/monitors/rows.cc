#include "store/monitors/rows.h"
#include "api/kit/body.h"
#include "base/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "api/kit/query_reader.h"
#include "api/tenant/handlers.h"
#include "api/tenant/monitors/monitor_body.h"
#include "api/tenant/monitors/monitor_calls.h"
#include "config/limits_config.h"
#include "config/parts.h"
#include "domain/text/limits.h"

namespace vedette::api {
namespace {

// `stale=true` and `failing=true` look at so many rows a call, then give a cursor.
constexpr int kChosenRowsLookedAtMax = 10000;
constexpr const char* kSwitchedOffReason = "switched off through the API";

struct PageQuery {
  int limit = 0;
  int after_position = -1;
  std::optional<store::RowChoice> choice;
  std::vector<std::string> key_hashes;  // of the one row that is asked for
};

// The keys that the query may mean by `key[column]=value`, one for each key column that has a
// value: with its values as texts, and where some of them are numbers, as a row shows what it was
// given, with those as numbers. Nothing where it names none.
std::vector<std::string> ReadKeys(const rest::QueryReader& query,
                                  const std::vector<std::string>& key_columns) {
  base::Json texts = base::Json::object();
  base::Json numbers = base::Json::object();
  for (const std::string& column : key_columns) {
    auto value = query.Text("key[" + column + "]");
    if (!value) continue;
    base::Json number;
    const auto error = base::ParseJson(*value, &number, {.keep_numbers = true});
    const bool is_number = !error && (number.is_number() || base::NumberText(number));
    texts[column] = std::move(*value);
    numbers[column] = is_number ? std::move(number) : texts[column];
  }
  std::vector<std::string> keys;
  for (const base::Json* columns : {&texts, &numbers}) {
    if (columns->empty()) continue;
    auto key = domain::SplitRow(*columns, {.key_columns = key_columns}).key_hash;
    if (keys.empty() || keys.front() != key) keys.push_back(std::move(key));
  }
  return keys;
}

PageQuery ReadPageQuery(const Call& call, const domain::Monitor& monitor) {
  rest::Problems problems;
  rest::QueryReader query(call.request().query, &problems);
  PageQuery page;
  page.limit = query.Integer("limit", domain::kRowPageDefault, 1, domain::kRowPageMax);
  if (query.Boolean("stale", false)) page.choice = store::RowChoice::kStale;
  if (query.Boolean("failing", false)) {
    if (page.choice) query.Refuse("failing", "value_error", "give stale or failing, not both");
    page.choice = store::RowChoice::kFailing;
  }
  page.key_hashes = ReadKeys(query, monitor.key_columns);
  query.Finish({"cursor"});
  problems.Check();
  if (const auto text = query.Text("cursor")) {
    const auto after = rest::DecodeCursor(RowsOf(call, monitor.id), *text);
    if (!after || *after > std::numeric_limits<int>::max()) {
      throw rest::Refusal(rest::InvalidCursor());
    }
    page.after_position = static_cast<int>(*after);
  }
  return page;
}

std::string RowListTail(const rest::CursorOf& list, std::optional<int> next_after) {
  if (!next_after) return "]}";
  return "],\"next_cursor\":\"" + rest::EncodeCursor(list, std::int64_t{*next_after}) + "\"}";
}

// Makes a list of rows one of the chosen ones among the next kChosenRowsLookedAtMax; the cursor
// stands behind those that were looked at.
void ListChosenOnly(const std::shared_ptr<const domain::Monitor>& shared, const rest::CursorOf& of,
                    store::RowChoice choice, int after_position,
                    rest::ListPieces<domain::Row>* list) {
  const domain::Monitor& monitor = *shared;
  const std::int64_t end = std::min<std::int64_t>(
      monitor.row_count, std::int64_t{after_position} + 1 + kChosenRowsLookedAtMax);
  const int last_position = static_cast<int>(end) - 1;
  list->read = [shared, choice, after_position, last_position](
                   store::Session& session, const domain::Row* after, int items_max) {
    const int position = after == nullptr ? after_position : after->position;
    return store::ListChosenRows(session, *shared, choice, {position, last_position}, items_max,
                                 rest::kPageBytes);
  };
  list->tail = [of, last_position, count = monitor.row_count](const domain::Row* next_after) {
    if (next_after != nullptr) return RowListTail(of, next_after->position);
    const bool more = std::int64_t{last_position} + 1 < count;
    return RowListTail(of, more ? std::optional<int>(last_position) : std::nullopt);
  };
}

rest::Reply AddedReply(const std::vector<base::Uuid>& ids) {
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

// The body's rows, validated; or what is wrong with it.
std::vector<domain::RowValues> ReadRows(const Call& call, const rest::JsonBody& json,
                                        const domain::Monitor& monitor) {
  rest::Problems problems;
  auto rows = ReadRowsBody(json, RolesOf(monitor), call.parts.config.limits, &problems);
  problems.Check();
  CheckRows(rows, monitor.key_columns);
  return rows;
}

rest::Reply RowReply(const domain::Monitor& monitor, const domain::Row& row) {
  std::string body;
  domain::RowJson(monitor, domain::RowJson::View::kPage).Append(row, &body);
  return {200, std::move(body)};
}

// The one row with the first of these keys that there is, if it is of the choice, as a page.
rest::Reply RowOfKey(const Call& call, const domain::Monitor& monitor,
                     const std::vector<std::string>& keys, std::optional<store::RowChoice> choice) {
  std::optional<base::Uuid> id;
  for (auto key = keys.begin(); !id && key != keys.end(); ++key) {
    id = store::FindRowByKey(call.session(), monitor.id, *key);
  }
  auto row = id ? store::GetRow(call.session(), monitor.id, *id) : std::nullopt;
  if (row && choice) {
    const store::RowRange alone{row->position - 1, row->position};
    auto chosen =
        store::ListChosenRows(call.session(), monitor, *choice, alone, 1, rest::kPageBytes);
    row = chosen.items.empty() ? std::nullopt : std::optional(std::move(chosen.items.front()));
  }
  return {200, "{\"rows\":[" + (row ? RowReply(monitor, *row).body : "") + "]}"};
}

// What is asked of a row before its columns are set to `columns`: room for it. A row is mended by
// taking columns away, which is never refused.
store::ColumnsCheck CheckOf(const Call& call, const base::Json& columns) {
  const bool adds = std::any_of(columns.begin(), columns.end(),
                                [](const base::Json& value) { return !value.is_null(); });
  return [adds, &limits = call.parts.config.limits](const base::Json& row) {
    if (adds) CheckChangedRow(row, limits);
  };
}

std::string StatusMessage(domain::MonitorStatus status, std::string_view what) {
  return fmt::format("the monitor is {}: {}", domain::MonitorStatusName(status), what);
}

}  // namespace

rest::ListPieces<domain::Row> RowListParts(const std::shared_ptr<const domain::Monitor>& monitor,
                                           domain::RowJson::View view, int after_position) {
  rest::ListPieces<domain::Row> list;
  list.read = [id = monitor->id, after_position](store::Session& session, const domain::Row* after,
                                                 int items_max) {
    const int position = after == nullptr ? after_position : after->position;
    return store::ListRows(session, id, position, items_max, rest::kPageBytes);
  };
  list.write = [writer = std::make_shared<domain::RowJson>(*monitor, view)](
                   const domain::Row& row, std::string* text) { writer->Append(row, text); };
  return list;
}

rest::Handled ListRows(Call& call) {
  auto found = FindMonitor(call);
  const auto monitor = std::make_shared<const domain::Monitor>(std::move(found));
  const auto page = ReadPageQuery(call, *monitor);
  if (!page.key_hashes.empty()) return RowOfKey(call, *monitor, page.key_hashes, page.choice);
  auto list = RowListParts(monitor, domain::RowJson::View::kPage, page.after_position);
  list.head = "{\"rows\":[";
  list.limit = page.limit;
  list.tail = [of = RowsOf(call, monitor->id)](const domain::Row* next_after) {
    return RowListTail(
        of, next_after == nullptr ? std::nullopt : std::optional<int>(next_after->position));
  };
  if (page.choice) {
    ListChosenOnly(monitor, RowsOf(call, monitor->id), *page.choice, page.after_position, &list);
  }
  return SendList(call, std::move(list));
}

rest::Handled AddRows(Call& call) {
  auto monitor = FindMonitor(call);
  const config::LimitsConfig& limits = call.parts.config.limits;
  const auto json =
      ReadJsonObject(call, RowsBodyRules(call.body_bytes_max, limits.rows_per_request_max));
  auto rows = ReadRows(call, json, monitor);
  const auto add = [&] {
    return store::AddRows(call.session(), call.parts.clock, call.caller.scope(), monitor.id, rows,
                          monitor.struct_version, limits.rows_per_monitor_max,
                          AuditOf(call, "row.add", monitor.id.ToString()));
  };
  const auto outcome = WriteValidated(add, [&] {
    monitor = FindMonitor(call);
    rows = ReadRows(call, json, monitor);
  });
  using Kind = store::AddRowsOutcome::Kind;
  switch (outcome.kind) {
    case Kind::kAdded:
      return AddedReply(outcome.row_ids);
    case Kind::kNotFound:
      return rest::NotFound("monitor");
    case Kind::kConflict:
      return rest::Conflict(StatusMessage(outcome.status, "rows cannot be added"));
    case Kind::kDuplicateKey:
      return rest::ErrorReply(
          400, "duplicate_key",
          fmt::format("rows[{}] has the same key values as a row that the monitor has ({})",
                      outcome.duplicate_index, rows[outcome.duplicate_index].subject_json));
    case Kind::kChanged:
      return ChangedMeanwhile("monitor");
    case Kind::kTooMany:
      break;
  }
  return rest::ValidationReply(rest::BodyReader::Loc("rows"), "too_long",
                               fmt::format("A monitor should have at most {} rows; this one has {}",
                                           limits.rows_per_monitor_max, outcome.row_count));
}

rest::Handled ShowRow(Call& call) {
  const auto monitor = FindMonitor(call);
  const auto row = FindRow(call, monitor);
  return RowReply(monitor, row);
}

rest::Handled ChangeRow(Call& call) {
  const auto monitor = FindMonitor(call);
  const auto row = FindRow(call, monitor);
  const auto json = ReadJsonObject(call, BodyRulesOf(call));
  rest::Problems problems;
  const RowChangeBody body =
      ReadRowChangeBody(json.members, RolesOf(monitor), call.parts.config.limits, &problems);
  problems.Check();
  const base::Uuid row_id = row.id;
  store::ControlOutcome outcome;
  if (body.columns) {
    outcome = store::ChangeRowColumns(
        call.session(), call.parts.clock, call.caller.scope(), monitor.id, row_id, *body.columns,
        CheckOf(call, *body.columns), AuditOf(call, "row.update", row_id.ToString()));
  }
  if (body.is_active && outcome.kind == store::ControlOutcome::Kind::kDone) {
    outcome =
        store::SwitchRow(call.session(), call.parts.clock, call.caller.scope(), monitor.id, row_id,
                         *body.is_active, body.disabled_reason.value_or(kSwitchedOffReason),
                         AuditOf(call, "row.switch", row_id.ToString()));
  }
  if (outcome.kind == store::ControlOutcome::Kind::kConflict) {
    return rest::Conflict(StatusMessage(outcome.status, "its rows cannot be changed"));
  }
  const auto changed = store::GetRow(call.session(), monitor.id, row_id);
  if (outcome.kind == store::ControlOutcome::Kind::kNotFound || !changed)
    return rest::NotFound("row");
  return RowReply(monitor, *changed);
}

rest::Handled RemoveRow(Call& call) {
  const auto monitor = FindMonitor(call);
  const auto row = FindRow(call, monitor);
  CheckEmptyBody(call);
  const base::Uuid row_id = row.id;
  const auto outcome =
      store::RemoveRow(call.session(), call.parts.clock, call.caller.scope(), monitor.id, row_id,
                       AuditOf(call, "row.remove", row_id.ToString()));
  if (outcome.kind == store::ControlOutcome::Kind::kConflict) {
    return rest::Conflict(StatusMessage(outcome.status, "its rows cannot be removed"));
  }
  if (outcome.kind == store::ControlOutcome::Kind::kNotFound) return rest::NotFound("row");
  return rest::Reply{200, base::DumpJson({{"id", row_id.ToString()}, {"removed", true}})};
}

}  // namespace vedette::api
