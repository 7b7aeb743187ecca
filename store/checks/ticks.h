#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "config/config_fwd.h"
#include "store/scan_bounds.h"
#include "store/session.h"

namespace vedette::store {

// A monitor that began to fail with a tick that was closed (every check that was made in it
// failed), or in which a check completes again.
struct HealthChange {
  base::Uuid monitor_id;
  base::Uuid org_id;
  bool fails = false;
  // The class of a check that failed, where the process that closed the tick knows one, and the
  // address at which its row is looked at ("https://shop.example"). The store leaves both empty.
  std::string failure_class{};
  std::string address{};
};

// The way from due monitors to ticks and chunks, and the closing of large ticks. Any number of
// processes may call these at once: rows are taken with SKIP LOCKED.

struct MaterialiseLimits {
  int monitors_per_cut_max;  // due monitors in one transaction
  int rows_per_cut_max;      // rows of one monitor in one transaction; the rest follows as portions
  int chunk_rows_max;
  int spread_rows_min;  // scheduled ticks of larger monitors, but the first, are spread ...
  double spread;        // ... over this share of their period
  // A chunk is smaller where chunk_rows_max checks of its monitor, one after the other, would take
  // longer than this by what its last tick took.
  std::chrono::milliseconds chunk_duration_target{10000};
};
MaterialiseLimits MaterialiseLimitsOf(const config::Config& config);

// The places at which scans of the schedule begin, and those of the organisations' queues, in which
// new chunks get their turns.
struct MaterialiseBounds {
  enum class Schedule { kDue };
  // Monitors are cut in this order: those of one instant by organisation, so that a chunk holds
  // many of one.
  struct DuePlace {
    base::Timestamp at{};
    base::Uuid org_id;
    base::Uuid monitor_id;
    auto operator<=>(const DuePlace&) const = default;
  };
  ScanBounds<Schedule, DuePlace> due;
  ScanBounds<base::Uuid> turns;

  // Scans of the schedule begin at bounds now.
  bool Bounded(const base::Clock& clock) const;
};

struct MaterialiseResult {
  std::int64_t scheduled_ticks = 0;
  std::int64_t overlap_ticks = 0;  // closed at once: the one before is still open
  std::int64_t chunks = 0;
  bool more = false;  // the limit was reached: call again at once
};

// Opens the ticks that are due, in one transaction. `bounds` say where its scans begin, here and
// below, and learn from them; null: always at the beginning.
MaterialiseResult MaterialiseDueTicks(Session& session, const base::Clock& clock,
                                      const MaterialiseLimits& limits,
                                      MaterialiseBounds* bounds = nullptr);

// Cuts due portions of open large ticks. Fills `chunks` and `more` alone.
MaterialiseResult MaterialisePortions(Session& session, const base::Clock& clock,
                                      const MaterialiseLimits& limits,
                                      MaterialiseBounds* bounds = nullptr);

// What is left to a scheduler that has cut what was due.
struct NextMaterialisation {
  base::Timestamp now{};                    // by the database's clock, as is:
  std::optional<base::Timestamp> next_due;  // of a monitor or portion; empty when there is none
  bool large_open = false;  // there are large ticks, that have portions to cut or may have ended
};
NextMaterialisation ReadNextMaterialisation(Session& session, MaterialiseBounds* bounds = nullptr);

struct ClosedTicks {
  int count = 0;
  std::vector<HealthChange> changes;  // of their monitors
};
// Closes large ticks whose rows are all accounted for.
ClosedTicks CloseLargeTicks(Session& session, int ticks_max);

}  // namespace vedette::store
