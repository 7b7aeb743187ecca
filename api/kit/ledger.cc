#include "api/kit/ledger.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "api/kit/cursor.h"
#include "api/kit/query_reader.h"
#include "api/kit/reply.h"
#include "base/crypto.h"
#include "base/json.h"
#include "domain/job/job.h"
#include "domain/money/money.h"
#include "domain/monitor/enums.h"

namespace vedette::rest {
namespace {

using By = LedgerQuery::By;
using Format = LedgerQuery::Format;

// What a day can have at most: bookings, each tier, each kind of job, and jobs that are forgotten.
constexpr int kLinesOfADayMax = 32;

struct Times {
  std::optional<base::Timestamp> since;  // empty: from the first line on
  std::optional<base::Timestamp> until;  // empty: up to now
};

// A place holds the total up to it, which is wrong in any other time: a cursor is of the account
// and of the times that were asked for.
CursorOf LedgerOf(const store::Scope& scope, const Times& times) {
  const auto number = [](const std::optional<base::Timestamp>& time) {
    return time ? std::to_string(time->time_since_epoch().count()) : std::string("-");
  };
  const base::Uuid account = scope.team_id ? *scope.team_id : scope.org_id.value_or(base::Uuid{});
  const std::string digest =
      base::Sha256(account.ToString() + number(times.since) + "/", number(times.until));
  CursorOf list{'l'};
  std::copy_n(digest.begin(), list.bound_to.bytes.size(), list.bound_to.bytes.begin());
  return list;
}

// A place is two numbers, which together are as long as an id.
std::string CursorAfter(const CursorOf& list, const store::LedgerPlace& place) {
  const std::array<std::int64_t, 2> numbers{place.entry, place.total_mc};
  base::Uuid packed;
  static_assert(sizeof numbers == sizeof packed.bytes);
  std::memcpy(packed.bytes.data(), numbers.data(), sizeof numbers);
  return EncodeCursor(list, packed);
}
std::optional<store::LedgerPlace> ReadCursor(const CursorOf& list, std::string_view cursor) {
  const auto packed = DecodeIdCursor(list, cursor);
  if (!packed) return std::nullopt;
  std::array<std::int64_t, 2> numbers{};
  std::memcpy(numbers.data(), packed->bytes.data(), sizeof numbers);
  if (numbers[0] < 0) return std::nullopt;
  return store::LedgerPlace{numbers[0], numbers[1]};
}

std::optional<base::Timestamp> ReadTime(QueryReader* input, std::string_view name) {
  const auto text = input->Text(name);
  if (!text) return std::nullopt;
  try {
    return ParseQueryTime(*text);
  } catch (const std::invalid_argument&) {
    input->Refuse(
        name, "datetime_parsing",
        "Input should be a time as RFC 3339 has it, without a leap second and from 1970 on");
    return std::nullopt;
  }
}

Times ReadTimes(QueryReader* input) {
  const Times given{ReadTime(input, "since"), ReadTime(input, "until")};
  const auto month = input->Text("month");
  if (!month) return given;
  for (const std::string_view edge : {"since", "until"}) {
    if (input->Text(edge)) {
      input->Refuse(edge, "value_error", "Give month, or since and until: a month has both");
    }
  }
  try {
    const auto since = ParseQueryTime(*month + "-01T00:00:00Z");
    const std::chrono::year_month_day first(std::chrono::floor<std::chrono::days>(since));
    return {since, std::chrono::sys_days(first + std::chrono::months(1))};
  } catch (const std::invalid_argument&) {
    input->Refuse("month", "value_error", "Input should be a month such as 2026-11, from 1970 on");
    return {};
  }
}

// The beginning of the longest time of whole days that can be asked for by day and ends then.
base::Timestamp LastDaysBefore(base::Timestamp until) {
  return std::chrono::floor<std::chrono::days>(until) - std::chrono::days(kLedgerDaysMax - 1);
}

template <typename Choice>
Choice ReadChoice(QueryReader* input, std::string_view name,
                  const std::array<std::pair<std::string_view, Choice>, 2>& choices) {
  const auto text = input->Text(name);
  if (!text) return choices[0].second;
  for (const auto& [word, choice] : choices) {
    if (*text == word) return choice;
  }
  input->Refuse(name, "enum",
                "Input should be '" + std::string(choices[0].first) + "' or '" +
                    std::string(choices[1].first) + "'");
  return choices[0].second;
}

// The lines of one page, one more than asked for where there are more.
std::vector<domain::LedgerLine> ReadLines(store::Session& session, const LedgerQuery& query,
                                          const store::LedgerPlace& after) {
  if (query.by == By::kEntry)
    return store::ReadLedger(session, query.range, after, query.limit + 1);
  return store::ReadLedgerDays(session, query.range, after.total_mc,
                               kLedgerDaysMax * kLinesOfADayMax);
}

// Writes a statement; it has one line open at a time, whatever the length.
class StatementWriter {
 public:
  explicit StatementWriter(LedgerQuery query) : query_(std::move(query)) {}

  bool Write(store::Session& session, std::string* text) {
    if (!begun_) Begin(session, text);
    while (text->size() < kPieceBytes) {
      const auto lines = ReadLines(session, query_, place_);
      for (const domain::LedgerLine& line : lines) {
        text->append(domain::StatementLine(line));
        place_ = {line.entry.value_or(0), line.total_mc};
      }
      const bool more =
          query_.by == By::kEntry && lines.size() > static_cast<std::size_t>(query_.limit);
      if (more) continue;
      text->append(domain::StatementEdge("closing", query_.range.until, place_.total_mc));
      return true;
    }
    return false;
  }

 private:
  void Begin(store::Session& session, std::string* text) {
    begun_ = true;
    place_ = {0, store::LedgerOpening(session, query_.range)};
    text->append(domain::StatementHead());
    text->append(domain::StatementEdge("opening", query_.range.since, place_.total_mc));
  }

  LedgerQuery query_;
  store::LedgerPlace place_;
  bool begun_ = false;
};

}  // namespace

LedgerQuery ReadLedgerQuery(store::Session& session, const store::Scope& scope,
                            std::string_view query) {
  Problems problems;
  QueryReader input(query, &problems);
  LedgerQuery read;
  read.range.scope = scope;
  const Times times = ReadTimes(&input);
  read.by = ReadChoice<By>(&input, "by", {{{"entry", By::kEntry}, {"day", By::kDay}}});
  read.format =
      ReadChoice<Format>(&input, "format", {{{"json", Format::kJson}, {"csv", Format::kCsv}}});
  read.limit = input.Integer("limit", kLedgerLinesDefault, 1, kLedgerLinesMax);
  const auto cursor = input.Text("cursor");
  input.Finish();
  if (cursor && (read.by == By::kDay || read.format == Format::kCsv)) {
    input.Refuse("cursor", "value_error", "By day, and as CSV, there are no pages to go on with");
  }
  if (times.since && times.until && *times.since > *times.until) {
    input.Refuse("since", "value_error", "Input should not be after until");
  }
  problems.Check();
  read.range.until = store::LedgerSettled(session, times.until);
  const auto first = read.by == By::kDay ? LastDaysBefore(read.range.until) : base::Timestamp();
  read.range.since = times.since.value_or(first);
  // Nothing of a time that has only begun is settled.
  read.range.until = std::max(read.range.until, read.range.since);
  if (read.by == By::kDay &&
      read.range.until - read.range.since > std::chrono::days(kLedgerDaysMax)) {
    input.Refuse("since", "value_error", "By day a time of at most 366 days can be asked for");
    problems.Check();
  }
  read.list = LedgerOf(scope, times);
  if (cursor) {
    read.after = ReadCursor(read.list, *cursor);
    if (!read.after) throw Refusal(InvalidCursor());
  }
  if (read.format == Format::kCsv) read.limit = kLedgerLinesMax;
  return read;
}

Reply LedgerPage(store::Session& session, const LedgerQuery& query) {
  const store::LedgerPlace after =
      query.after ? *query.after
                  : store::LedgerPlace{0, store::LedgerOpening(session, query.range)};
  std::vector<domain::LedgerLine> lines = ReadLines(session, query, after);
  base::Json page{{"since", base::FormatTimestamp(query.range.since)},
                  {"until", base::FormatTimestamp(query.range.until)},
                  {"opening", domain::CreditsToJson(after.total_mc)}};
  const auto limit = static_cast<std::size_t>(query.limit);
  const bool more = query.by == By::kEntry && lines.size() > limit;
  if (more) lines.resize(limit);
  const std::int64_t closing_mc = lines.empty() ? after.total_mc : lines.back().total_mc;
  base::Json shown = base::Json::array();
  for (const domain::LedgerLine& line : lines) shown.push_back(domain::LedgerLineJson(line));
  page["lines"] = std::move(shown);
  page["closing"] = domain::CreditsToJson(closing_mc);
  if (more) {
    page["next_cursor"] = CursorAfter(query.list, {lines.back().entry.value_or(0), closing_mc});
  }
  return JsonReply(200, page);
}

Reply ReservationsReply(const store::Reservations& held) {
  base::Json checks = base::Json::array();
  for (const auto& one : held.checks) {
    checks.push_back({{"tier", domain::TierName(one.tier)},
                      {"reserved", domain::CreditsToJson(one.reserved_mc)}});
  }
  base::Json jobs = base::Json::array();
  for (const auto& job : held.jobs) {
    jobs.push_back({{"job_id", job.id.ToString()},
                    {"kind", domain::JobKindName(job.kind)},
                    {"reserved", domain::CreditsToJson(job.reserved_mc)}});
  }
  return JsonReply(200, {{"reserved", domain::CreditsToJson(held.reserved_mc())},
                         {"checks", std::move(checks)},
                         {"jobs", std::move(jobs)},
                         {"job_count", held.job_count},
                         {"jobs_reserved", domain::CreditsToJson(held.jobs_mc)}});
}

PieceSource Statement(const LedgerQuery& query) {
  return [writer = std::make_shared<StatementWriter>(query)](
             store::Session& session, std::string* text) { return writer->Write(session, text); };
}

}  // namespace vedette::rest
