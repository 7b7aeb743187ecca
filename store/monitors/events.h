#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "domain/monitor/monitor.h"
#include "store/page.h"
#include "store/scope.h"
#include "store/session.h"

namespace vedette::store {

struct EventFilter {
  std::optional<base::Uuid> event_group_id;  // one check only
  int limit = 20;
  bool include_completions = false;
  // Only those behind this one in the list.
  std::optional<domain::Event> after{};
  // None behind the one with which values, evidence and sources come to so many bytes.
  std::size_t bytes_max = std::size_t{256} * 1024;
};

// What is known of a row's checks, newest first; within one check the completion, then errors, then
// changes by field. Changes and errors of failed checks are stored; completions, and errors of
// checks skipped for insufficient balance, are derived from the outcomes. `row` is one of
// `monitor_id`'s, found in scope by the caller.
Page<domain::Event> ListEvents(Session& session, const base::Uuid& monitor_id,
                               const domain::Row& row, const EventFilter& filter);

// Events of many rows: of one monitor that the caller found in scope, or of every monitor in scope.
struct EventListFilter {
  Scope scope;  // with an organisation
  std::optional<base::Uuid> monitor_id;
  std::optional<base::Uuid> row_id{};    // of that monitor alone
  std::vector<domain::EventType> types;  // change, error; empty = both
  // Only those behind this place in the list: a tick and an event's id.
  std::int64_t after_tick_id = std::numeric_limits<std::int64_t>::max();
  base::Uuid after_id;
  int limit = 20;
  std::size_t bytes_max = std::size_t{256} * 1024;  // as in EventFilter
};

// The stored events, those of the newest ticks first, with the monitor and the row of each. What is
// only derived (completions, and checks skipped for insufficient balance) is not among them.
Page<domain::Event> ListEventsOfMany(Session& session, const EventListFilter& filter);

// How far back the list of all organisations looks at most, from now or from its last place.
inline constexpr std::chrono::days kLatestEventsWindow{7};

// The same of every organisation, which is for operators: `filter` names neither an organisation
// nor a monitor. Looks at a short time first, and at longer ones as long as the page is not full.
Page<domain::Event> ListLatestEvents(Session& session, const EventListFilter& filter,
                                     base::Timestamp now);

// The skip ledger (G7), newest first, the open tick included; ticks before `before_tick_id` where
// that is given. `monitor_id` was found in scope by the caller.
std::vector<domain::Tick> ListTicks(Session& session, const base::Uuid& monitor_id,
                                    const std::optional<std::int64_t>& before_tick_id, int limit);

}  // namespace vedette::store
