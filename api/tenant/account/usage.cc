// What the caller's organisation, and his team, have and have spent: balance, reservations, ledger,
// and usage by day, kind, monitor and key.
#include <array>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "api/kit/ledger.h"
#include "api/kit/query_reader.h"
#include "api/tenant/documents.h"
#include "api/tenant/handlers.h"
#include "base/json.h"
#include "config/parts.h"
#include "domain/money/money.h"
#include "domain/monitor/monitor.h"
#include "domain/text/csv.h"
#include "store/accounts/accounts.h"
#include "store/accounts/ledger.h"
#include "store/accounts/usage.h"

namespace vedette::api {
namespace {

base::Json TeamJson(const store::Team& team, base::Timestamp now) {
  return {{"id", team.id.ToString()},
          {"name", team.name},
          {"spend_limit",
           team.spend_limit_mc ? domain::CreditsToJson(*team.spend_limit_mc) : base::Json(nullptr)},
          {"spent", domain::CreditsToJson(team.spent_mc)},
          {"month", base::FormatTimestamp(now).substr(0, sizeof("2026-11") - 1)}};
}

}  // namespace

rest::Handled ShowCredits(Call& call) {
  const auto org = store::ReadOrganisation(call.session(), call.caller.org_id);
  if (!org) return rest::NotFound("organisation");
  base::Json team = nullptr;
  for (const store::Team& mine : org->teams) {
    if (mine.id == call.caller.team_id) team = TeamJson(mine, call.parts.clock.Now());
  }
  return rest::JsonReply(200, {{"credits", domain::CreditsToJson(org->balance_mc)},
                               {"reserved", domain::CreditsToJson(org->reserved_mc)},
                               {"cents_per_credit", call.parts.config.cents_per_credit},
                               {"team", team}});
}

rest::Handled ShowReservations(Call& call) {
  return rest::ReservationsReply(
      store::ReadReservations(call.session(), call.caller.scope(), rest::kReservationsMax));
}

rest::Handled ShowLedger(Call& call) {
  const auto query =
      rest::ReadLedgerQuery(call.session(), call.caller.scope(), call.request().query);
  if (query.format == rest::LedgerQuery::Format::kJson) {
    return rest::LedgerPage(call.session(), query);
  }
  return rest::SendPieces(call.parts.pool, call.caller.org_id, call.answer, call.session(),
                          rest::Statement(query), {{"Content-Type", std::string(rest::kCsvType)}});
}

namespace {

// Rows of one answer; more are a 422.
constexpr int kUsageRowsMax = 5'000;
constexpr std::chrono::days kUsageDaysMax{366};
// By monitor every tick is counted, so that a time is shorter, and has so many ticks at most.
constexpr std::chrono::days kMonitorDaysMax{31};
constexpr int kUsageTicksMax = 200'000;
constexpr std::chrono::days kUsageDays{30};  // where `from` is not given

struct Groups {
  bool day = false;
  bool kind = false;
  bool monitor = false;
  bool key = false;
};

struct UsageQuery {
  store::UsageRange range;
  Groups groups;
  bool csv = false;
};

// A row of the answer. What it is not grouped by, and what is not known, is null.
struct UsageRow {
  base::Json day;
  base::Json kind;
  base::Json monitor;
  base::Json monitor_name;
  base::Json key;
  base::Json key_name;
  std::int64_t charged_mc = 0;
  std::int64_t checks = 0;
  std::int64_t jobs = 0;
};

// A time, or a day: its beginning, or as the end of a range its own end.
std::optional<base::Timestamp> ReadEdge(rest::QueryReader* input, std::string_view name,
                                        bool is_end) {
  constexpr std::size_t kDayChars = sizeof("2026-11-25") - 1;
  const auto text = input->Text(name);
  if (!text) return std::nullopt;
  try {
    if (text->size() != kDayChars) return rest::ParseQueryTime(*text);
    const auto day = rest::ParseQueryTime(*text + "T00:00:00Z");
    if (!is_end) return day;
    // Read again as it would be written: the last of all days ends in a year that no text says.
    return rest::ParseQueryTime(base::FormatTimestamp(day + std::chrono::days(1)));
  } catch (const std::invalid_argument&) {
    input->Refuse(name, "datetime_parsing",
                  "Input should be a day such as 2026-11-25, or a time as RFC 3339 has it, without "
                  "a leap second "
                  "and from 1970 on");
    return std::nullopt;
  }
}

Groups ReadGroups(rest::QueryReader* input) {
  Groups groups;
  const std::array<std::pair<std::string_view, bool*>, 4> known{{{"day", &groups.day},
                                                                 {"kind", &groups.kind},
                                                                 {"monitor", &groups.monitor},
                                                                 {"key", &groups.key}}};
  const std::string text = input->Text("group_by").value_or("day");
  std::string_view rest = text;
  while (true) {
    const std::string_view word = rest.substr(0, rest.find(','));
    bool found = false;
    for (const auto& [name, wanted] : known) {
      if (word != name) continue;
      *wanted = true;
      found = true;
    }
    if (!found) {
      input->Refuse("group_by", "enum",
                    "Input should be some of 'day', 'kind', 'monitor' and 'key', with commas");
      return groups;
    }
    if (word.size() == rest.size()) return groups;
    rest.remove_prefix(word.size() + 1);
  }
}

// By the parameter `format`, or else by what the header Accept names first.
bool ReadIsCsv(const net::ServerRequest& request, rest::QueryReader* input) {
  const auto format = input->Text("format");
  if (format && *format != "json" && *format != "csv") {
    input->Refuse("format", "enum", "Input should be 'json' or 'csv'");
  }
  if (format) return *format == "csv";
  const std::string_view accept = request.Header("accept");
  return Accepts(accept.substr(0, accept.find(',')), "text/csv").value_or(false);
}

UsageQuery ReadUsageQuery(const Call& call) {
  rest::Problems problems;
  rest::QueryReader input(call.request().query, &problems);
  UsageQuery query;
  query.range.org_id = call.caller.org_id;
  const auto from = ReadEdge(&input, "from", false);
  const auto to = ReadEdge(&input, "to", true);
  query.groups = ReadGroups(&input);
  query.csv = ReadIsCsv(call.request(), &input);
  input.Finish();
  problems.Check();
  query.range.until = to.value_or(call.parts.clock.Now());
  query.range.since =
      from.value_or(std::chrono::floor<std::chrono::days>(query.range.until) - kUsageDays);
  const auto longest = query.groups.monitor ? kMonitorDaysMax : kUsageDaysMax;
  if (query.range.since >= query.range.until) {
    input.Refuse("from", "value_error", "from should be before to");
  } else if (query.range.until - query.range.since > longest) {
    input.Refuse("from", "value_error",
                 fmt::format("At most {} days can be asked for{}", longest.count(),
                             query.groups.monitor ? " by monitor" : ""));
  }
  problems.Check();
  return query;
}

rest::Refusal TooMuch() {
  return rest::Refusal(rest::ValidationReply(
      base::Json::array({"query", "from"}), "value_error",
      fmt::format("There are more than {} rows, or by monitor more than {} ticks, in this time: "
                  "ask for a shorter one, or group by less",
                  kUsageRowsMax, kUsageTicksMax)));
}

base::Json DayJson(const std::optional<base::Timestamp>& day) {
  if (!day) return nullptr;
  return base::FormatTimestamp(*day).substr(0, sizeof("2026-11-25") - 1);
}

base::Json KindJson(const store::UsageSum& sum) {
  if (!sum.of_checks) return nullptr;
  if (*sum.of_checks) return "checks";
  return sum.job ? domain::JobKindName(*sum.job) : "job";
}

UsageRow RowOf(const store::UsageSum& sum) {
  UsageRow row{DayJson(sum.day), KindJson(sum),  nullptr,    nullptr, base::OrNull(sum.caller_id),
               nullptr,          sum.charged_mc, sum.checks, sum.jobs};
  row.key_name = base::OrNull(sum.caller_name);
  return row;
}

// Gives all charges of the time, whatever the rows are grouped by.
UsageRow AppendCharges(Call& call, const UsageQuery& query, std::vector<UsageRow>* rows) {
  const Groups& groups = query.groups;
  const auto sums =
      store::SumCharges(call.session(), query.range,
                        {groups.day, groups.kind, groups.key, groups.monitor}, kUsageRowsMax + 1);
  for (const store::UsageSum& sum : sums.groups) rows->push_back(RowOf(sum));
  return RowOf(sums.total);
}

// By monitor, what checks cost is computed: no charge says of which monitor it is.
void AppendMonitors(Call& call, const UsageQuery& query, std::vector<UsageRow>* rows) {
  const auto used = store::CountChecks(call.session(), query.range, query.groups.day,
                                       kUsageTicksMax, kUsageRowsMax);
  if (!used) throw TooMuch();
  for (const store::MonitorUsage& monitor : *used) {
    UsageRow row;
    row.day = DayJson(monitor.day);
    if (query.groups.kind) row.kind = "checks";
    row.monitor = monitor.monitor_id.ToString();
    row.monitor_name = monitor.name;
    row.checks = monitor.checks;
    row.charged_mc = monitor.checks * domain::PriceOf(monitor.tier, call.parts.config.prices_mc);
    rows->push_back(std::move(row));
  }
}

// The names and values of a row, what it is grouped by first.
std::vector<std::pair<std::string, base::Json>> MembersOf(const UsageRow& row,
                                                          const Groups& groups) {
  std::vector<std::pair<std::string, base::Json>> members;
  if (groups.day) members.emplace_back("day", row.day);
  if (groups.kind) members.emplace_back("kind", row.kind);
  if (groups.monitor) members.emplace_back("monitor", row.monitor);
  if (groups.monitor) members.emplace_back("monitor_name", row.monitor_name);
  if (groups.key) members.emplace_back("key", row.key);
  if (groups.key) members.emplace_back("key_name", row.key_name);
  members.emplace_back("credits", domain::CreditsToJson(row.charged_mc));
  members.emplace_back("checks", row.checks);
  members.emplace_back("jobs", row.jobs);
  return members;
}

base::Json ObjectOf(const UsageRow& row, const Groups& groups) {
  base::Json object = base::Json::object();
  for (auto& [name, value] : MembersOf(row, groups)) object[name] = std::move(value);
  return object;
}

rest::Reply CsvReply(const std::vector<UsageRow>& rows, const Groups& groups) {
  std::vector<std::string> columns;
  for (const auto& [name, value] : MembersOf({}, groups)) columns.push_back(name);
  rest::Reply reply{200, "", {{"Content-Type", std::string(rest::kCsvType)}}};
  domain::AppendCsvHeader(columns, domain::Formulas::kDefused, &reply.body);
  for (const UsageRow& row : rows) {
    std::vector<base::Json> cells;
    for (auto& [name, value] : MembersOf(row, groups)) cells.push_back(std::move(value));
    domain::AppendCsvRecord(cells, cells.size(), domain::Formulas::kDefused, &reply.body);
  }
  return reply;
}

}  // namespace

rest::Handled ShowUsage(Call& call) {
  const UsageQuery query = ReadUsageQuery(call);
  std::vector<UsageRow> rows;
  if (query.groups.monitor) AppendMonitors(call, query, &rows);
  const UsageRow total = AppendCharges(call, query, &rows);
  if (std::cmp_greater(rows.size(), kUsageRowsMax)) throw TooMuch();
  if (query.csv) return CsvReply(rows, query.groups);
  base::Json shown = base::Json::array();
  for (const UsageRow& row : rows) shown.push_back(ObjectOf(row, query.groups));
  return rest::JsonReply(200, {{"from", base::FormatTimestamp(query.range.since)},
                               {"to", base::FormatTimestamp(query.range.until)},
                               {"rows", std::move(shown)},
                               {"total", ObjectOf(total, {})}});
}

}  // namespace vedette::api
