#pragma once

#include <optional>
#include <vector>

#include "base/uuid.h"
#include "domain/monitor.h"
#include "store/session.h"

namespace vedette::store {

struct EventFilter {
  std::optional<base::Uuid> event_group_id;  // one check only
  int limit = 20;
  bool include_completions = false;
};

// What is known of a row's checks, newest first; within one check the completion, then errors, then
// changes by field. Changes and errors of failed checks are stored; completions, and errors of
// checks skipped for insufficient balance, are derived from the outcomes. `row` is one of
// `monitor_id`'s, found in scope by the caller.
std::vector<domain::Event> ListEvents(Session& session, const base::Uuid& monitor_id,
                                      const domain::Row& row, const EventFilter& filter);

}  // namespace vedette::store
