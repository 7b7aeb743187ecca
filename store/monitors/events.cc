#include "store/monitors/events.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>

#include "domain/job/job.h"
#include "domain/monitor/enums.h"
#include "domain/text/limits.h"
#include "store/sql.h"

namespace vedette::store {
namespace {

using domain::Event;
using domain::EventType;
using domain::Outcome;

constexpr std::int64_t kTickIdMax = std::numeric_limits<std::int64_t>::max();
// A check is looked for by its id among so many of the monitor's last ticks, so many at a time.
constexpr int kCandidateTicksMax = 100000;
constexpr int kCandidateTicksPage = 10000;

constexpr const char* kInsufficientBalance =
    "insufficient_balance: the check was skipped because the organisation's credits did not cover "
    "it";

struct TickRange {
  std::int64_t first = 0;
  std::int64_t last = kTickIdMax;
};

using DerivedChecks = std::map<std::int64_t, Outcome, std::greater<>>;  // by tick

// Reads :event_columns.
Event ReadEvent(Columns& in) {
  Event event;
  in.Into("id"_a = &event.id, "event_type"_a = &event.type,
          "event_group_id"_a = &event.event_group_id, "tick_id"_a = &event.tick_id,
          "field"_a = &event.field, "previous_value"_a = &event.previous_value_json,
          "current_value"_a = &event.current_value_json, "message"_a = &event.message,
          "evidence"_a = &event.evidence, "sources"_a = &event.sources_json,
          "confidence"_a = &event.confidence, "created_at"_a = &event.created_at,
          "previous_snapshot_id"_a = &event.previous_snapshot_id,
          "snapshot_id"_a = &event.snapshot_id);
  return event;
}

// Outcomes that stand for an event although none is stored.
std::vector<int> DerivedOutcomes(bool include_completions) {
  std::vector<int> outcomes{static_cast<int>(Outcome::kSkippedBalance)};
  if (include_completions) {
    outcomes.push_back(static_cast<int>(Outcome::kChanged));
    outcomes.push_back(static_cast<int>(Outcome::kUnchanged));
  }
  return outcomes;
}

// Newest first, `limit` at most from each of the three places where an outcome can stand: a small
// tick, the check log, and (of a chunk still under way) the row's state.
DerivedChecks ReadDerived(Transaction& tx, const base::Uuid& monitor_id, int position,
                          const TickRange& range, const EventFilter& filter) {
  const std::vector<int> outcomes = DerivedOutcomes(filter.include_completions);
  DerivedChecks checks;
  const auto add = [&checks](const pqxx::result& result) {
    for (const auto& row : result) {
      std::int64_t tick_id = 0;
      Outcome outcome = Outcome::kChanged;
      Columns(row).Into("tick_id"_a = &tick_id, "outcome"_a = &outcome);
      checks.try_emplace(tick_id, outcome);
    }
  };
  add(tx.Exec<"outcome_list_ticks">("monitor_id"_a = monitor_id, "position"_a = position,
                                    "first"_a = range.first, "last"_a = range.last,
                                    "outcomes"_a = outcomes, "limit"_a = filter.limit));
  add(tx.Exec<"outcome_list_log">(
      "monitor_id"_a = monitor_id, "block"_a = position / domain::kBlockRows,
      "place"_a = position % domain::kBlockRows, "first"_a = range.first, "last"_a = range.last,
      "outcomes"_a = outcomes, "limit"_a = filter.limit));
  add(tx.Exec<"outcome_last">("monitor_id"_a = monitor_id, "position"_a = position,
                              "first"_a = range.first, "last"_a = range.last,
                              "outcomes"_a = outcomes));
  return checks;
}

// Its time is the beginning of its tick, which is what the tick's id says: the same wherever the
// outcome stands, and at every reading.
Event Derive(const base::Uuid& row_id, std::int64_t tick_id, Outcome outcome) {
  Event event;
  event.type = domain::IsCompleted(outcome) ? EventType::kCompletion : EventType::kError;
  event.tick_id = tick_id;
  event.event_group_id = domain::EventGroupId(row_id, tick_id);
  event.id = domain::EventId(event.event_group_id, event.type);
  if (event.type == EventType::kError) event.message = kInsufficientBalance;
  event.created_at = base::Timestamp(std::chrono::microseconds(tick_id));
  return event;
}

// The rank among the events of one check: completion, error, changes.
int Rank(EventType type) {
  switch (type) {
    case EventType::kCompletion:
      return 0;
    case EventType::kError:
      return 1;
    case EventType::kChange:
      return 2;
  }
  return 3;
}

bool ComesBefore(const Event& a, const Event& b) {
  if (a.tick_id != b.tick_id) return a.tick_id > b.tick_id;
  if (a.type != b.type) return Rank(a.type) < Rank(b.type);
  return a.field < b.field;
}

// Stored events behind filter.after, newest first.
Page<Event> ListStored(Transaction& tx, const base::Uuid& row_id, const TickRange& range,
                       const EventFilter& filter) {
  std::optional<int> after_rank;
  std::optional<std::string> after_field;
  if (filter.after) {
    after_rank = Rank(filter.after->type);
    after_field = filter.after->field;
  }
  const auto result = tx.Exec<"event_list">(
      "row_id"_a = row_id, "first"_a = range.first, "last"_a = range.last, "limit"_a = filter.limit,
      "bytes_max"_a = filter.bytes_max, "after_rank"_a = after_rank, "after_field"_a = after_field);
  return ReadPage<Event>(result, filter.limit, filter.bytes_max, ReadEvent);
}

// The tick whose check of the row has this id. The id is a hash: what is not stored with an event
// is found by computing the ids of the monitor's ticks.
std::optional<std::int64_t> FindTick(Transaction& tx, const base::Uuid& monitor_id,
                                     const domain::Row& row, const base::Uuid& event_group_id) {
  const auto stored = ReadFirst<std::int64_t>(
      tx.Exec<"event_tick">("row_id"_a = row.id, "event_group_id"_a = event_group_id));
  if (stored) return stored;
  const auto matches = [&](std::int64_t tick_id) {
    return domain::EventGroupId(row.id, tick_id) == event_group_id;
  };
  const auto last = ReadFirst<std::int64_t>(
      tx.Exec<"tick_last">("monitor_id"_a = monitor_id, "position"_a = row.position));
  if (last && matches(*last)) return last;
  std::int64_t before = kTickIdMax;
  for (int looked_at = 0; looked_at < kCandidateTicksMax; looked_at += kCandidateTicksPage) {
    const auto page = ReadEach<std::int64_t>(tx.Exec<"tick_ids">(
        "monitor_id"_a = monitor_id, "before"_a = before, "limit"_a = kCandidateTicksPage));
    for (const std::int64_t tick_id : page) {
      if (matches(tick_id)) return tick_id;
    }
    if (!page.empty()) before = page.back();
    if (page.size() < static_cast<std::size_t>(kCandidateTicksPage)) break;
  }
  return std::nullopt;
}

// One after the other, until a page is full: a busy fleet fills it from the shortest.
constexpr std::chrono::microseconds kLatestWindows[] = {
    std::chrono::seconds(10), std::chrono::minutes(10), std::chrono::days(1), kLatestEventsWindow};

std::optional<std::vector<int>> TypeNumbers(const EventListFilter& filter) {
  if (filter.types.empty()) return std::nullopt;
  std::vector<int> types;
  for (const EventType type : filter.types) types.push_back(static_cast<int>(type));
  return types;
}

Event ReadOneOfMany(Columns& in) {
  Event event = ReadEvent(in);
  in.Into("monitor_id"_a = &event.monitor_id, "row_id"_a = &event.row_id);
  return event;
}

// The page that `filter` asks for of one of the statements of many events; `whose` says of which.
template <NameText statement, typename... Args>
pqxx::result ExecPage(Transaction& tx, const EventListFilter& filter,
                      const std::optional<std::vector<int>>& types, const Args&... whose) {
  return tx.Exec<statement>(whose..., "after_tick_id"_a = filter.after_tick_id,
                            "after_id"_a = filter.after_id, "types"_a = types,
                            "limit"_a = filter.limit, "bytes_max"_a = filter.bytes_max);
}

}  // namespace

Page<Event> ListEvents(Session& session, const base::Uuid& monitor_id, const domain::Row& row,
                       const EventFilter& filter) {
  return InTransaction(session, [&](Transaction& tx) {
    Page<Event> page;
    TickRange range;
    if (filter.event_group_id) {
      const auto tick_id = FindTick(tx, monitor_id, row, *filter.event_group_id);
      if (!tick_id) return page;
      range = {*tick_id, *tick_id};
    }
    if (filter.after) range.last = filter.after->tick_id;
    page = ListStored(tx, row.id, range, filter);
    std::vector<Event>& events = page.items;
    // Nothing is told beyond the last stored event that was read: more of those may follow it.
    std::optional<Event> last;
    if (page.more) {
      last = events.back();
      range.first = std::max(range.first, last->tick_id);
    }
    for (const auto& [tick_id, outcome] :
         ReadDerived(tx, monitor_id, row.position, range, filter)) {
      Event event = Derive(row.id, tick_id, outcome);
      if (filter.after && !ComesBefore(*filter.after, event)) continue;
      if (last && !ComesBefore(event, *last)) continue;
      events.push_back(std::move(event));
    }
    std::sort(events.begin(), events.end(), ComesBefore);
    page.more = last.has_value() || events.size() >= static_cast<std::size_t>(filter.limit);
    if (events.size() > static_cast<std::size_t>(filter.limit)) {
      events.resize(static_cast<std::size_t>(filter.limit));
    }
    return page;
  });
}

Page<Event> ListEventsOfMany(Session& session, const EventListFilter& filter) {
  const auto types = TypeNumbers(filter);
  return Read(session, [&](Transaction& tx) {
    const auto result =
        filter.row_id ? ExecPage<"event_list_row">(tx, filter, types, "row_id"_a = *filter.row_id)
        : filter.monitor_id
            ? ExecPage<"event_list_monitor">(tx, filter, types, "monitor_id"_a = *filter.monitor_id)
            : ExecPage<"event_list_org">(tx, filter, types,
                                         "org_id"_a = filter.scope.org_id.value(),
                                         "team_id"_a = filter.scope.team_id);
    return ReadPage<Event>(result, filter.limit, filter.bytes_max, ReadOneOfMany);
  });
}

Page<Event> ListLatestEvents(Session& session, const EventListFilter& filter, base::Timestamp now) {
  const auto types = TypeNumbers(filter);
  // Ticks are numbered by the microsecond in which they began.
  const std::int64_t end = std::min(filter.after_tick_id, now.time_since_epoch().count());
  Page<Event> page;
  for (const std::chrono::microseconds window : kLatestWindows) {
    page = Read(session, [&](Transaction& tx) {
      const auto result =
          ExecPage<"event_list_every">(tx, filter, types, "since_tick_id"_a = end - window.count());
      return ReadPage<Event>(result, filter.limit, filter.bytes_max, ReadOneOfMany);
    });
    if (page.more || page.items.size() >= static_cast<std::size_t>(filter.limit)) break;
  }
  return page;
}

namespace {

// Reads :tick_columns.
domain::Tick ReadTick(const pqxx::row& row) {
  domain::Tick tick;
  std::optional<std::string> outcomes;              // of a small tick
  std::optional<std::vector<std::int64_t>> counts;  // of a large one that has ended
  Columns(row).Into("tick_id"_a = &tick.tick_id, "trigger"_a = &tick.trigger,
                    "due_at"_a = &tick.due_at, "started_at"_a = &tick.started_at,
                    "finished_at"_a = &tick.finished_at, "slots"_a = &tick.slots,
                    "row_count"_a = &tick.rows, "outcomes"_a = OptionalBytesInto{&outcomes},
                    "counts"_a = &counts);
  if (outcomes) {
    domain::CountOutcomes(*outcomes, &tick.outcomes);
  } else if (counts) {
    std::copy_n(counts->begin(), std::min(counts->size(), tick.outcomes.size()),
                tick.outcomes.begin());
  }
  return tick;
}

}  // namespace

std::vector<domain::Tick> ListTicks(Session& session, const base::Uuid& monitor_id,
                                    const std::optional<std::int64_t>& before_tick_id, int limit) {
  const std::int64_t before = before_tick_id.value_or(std::numeric_limits<std::int64_t>::max());
  return Read(session, [&](Transaction& tx) {
    std::vector<domain::Tick> ticks;
    for (const auto& r : tx.Exec<"tick_list">("monitor_id"_a = monitor_id, "before"_a = before,
                         "limit"_a = limit)) {
      ticks.push_back(ReadTick(r));
    }
    return ticks;
  });
}

}  // namespace vedette::store
