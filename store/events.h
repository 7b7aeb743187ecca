#pragma once

#include <cstddef>
#include <optional>

#include "base/uuid.h"
#include "domain/monitor.h"
#include "store/page.h"
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

}  // namespace vedette::store
