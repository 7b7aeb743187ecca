#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "domain/monitor/current_values.h"
#include "domain/monitor/enums.h"

// Monitors, rows, events and ticks as the store reads them and as clients and operators see them
// (domain/monitor/monitor_json.h). Members ending in _json are JSON text, kept as it was stored.
namespace vedette::domain {

// Words of its owner's that a monitor is found by.
inline constexpr std::size_t kMonitorTagsMax = 20;
inline constexpr std::size_t kTagCharsMax = 50;

struct Monitor {
  base::Uuid id;
  base::Uuid org_id;
  std::optional<base::Uuid> team_id;
  std::string name;
  std::string frequency_text;  // as given
  std::chrono::seconds frequency{0};
  Tier tier = Tier::kLow;
  SubjectType subject_type = SubjectType::kCompany;
  MonitorStatus status = MonitorStatus::kActive;  // as stored; ShowStatus says what is shown
  std::optional<std::string> disabled_reason;     // likewise
  std::vector<std::string> key_columns;
  std::string struct_json;
  std::optional<std::string> research_plan;
  std::optional<std::string> metadata_json;
  std::optional<std::string> webhook_url;
  std::vector<NotificationType> webhook_event_types;
  int confirm_after = 1;
  int missing_confirmations = 2;
  std::optional<std::string> run_id;
  base::Timestamp created_at;
  base::Timestamp updated_at;
  base::Timestamp next_run_at;
  std::optional<base::Timestamp> last_run_at;  // the start of the last tick
  std::int64_t row_count = 0;
  std::int64_t active_row_count = 0;
  // The organisation is locked or lacks the feature `monitors`.
  bool organisation_stopped = false;
  // The last attempts to reach the webhook's receiver failed.
  bool webhook_failing = false;
  int struct_version = 0;
  FieldVersions field_versions;
  std::optional<base::Timestamp> archived_at;
  // Every check of the last ticks failed: the start of the first of them.
  std::optional<base::Timestamp> failing_since;
  std::int64_t removed_row_count = 0;     // of row_count
  std::optional<std::string> rules_json;  // domain/monitor/change_rules.h
  // The names of the headers that its pages are asked with; their values are not read here.
  std::vector<std::string> request_header_names;
  // The channels that are told; read where a monitor is shown alone.
  std::optional<std::vector<base::Uuid>> channel_ids{};
  // Its receiver failed several times in a row and is left alone until then (its breaker is open).
  std::optional<base::Timestamp> webhook_waiting_until;
  std::int64_t balance_mc = 0;               // of the organisation, and
  std::optional<std::int64_t> team_left_mc;  // what its team may still spend this month
  base::Timestamp anchor_at;
  std::optional<std::string> schedule_json;  // as stored (domain/monitor/timetable.h)
  std::optional<std::string> probe_json;     // domain/monitor/probe_options.h
  std::vector<std::string> tags{};           // each once
};

struct ShownStatus {
  MonitorStatus status;
  std::optional<std::string> disabled_reason;
};

// What everybody is shown: an active monitor of a stopped organisation is `paused`,
// `organisation_locked`; lifting that restores what was.
ShownStatus ShowStatus(const Monitor& monitor);

// The next slots of its schedule; none unless it is shown as active.
std::vector<base::Timestamp> ShownRunTimes(const Monitor& monitor);

// By the tier's name, millicredits per check.
using CheckPrices = std::map<std::string, std::int64_t>;
std::int64_t PriceOf(Tier tier, const CheckPrices& prices_mc);

// What an active monitor's checks would be skipped for now, balance first, as an admission asks.
enum class WaitingFor { kBalance, kSpendLimit };
std::optional<WaitingFor> WaitsFor(const Monitor& monitor, const CheckPrices& prices_mc);

struct Row {
  base::Uuid id;
  int position = 0;
  std::string subject_json;
  std::optional<std::string> context_json;
  std::string baseline_json;
  std::optional<std::string> pending_json;  // {field: {"value", "seen"}}
  std::optional<std::string> known_json;    // what was last observed; empty: as the baseline
  std::optional<std::string> seen_json;     // domain/monitor/current_values.h
  int struct_version = 0;
  bool is_active = true;
  std::optional<std::string> disabled_reason;
  std::optional<base::Timestamp> last_run_at;
  base::Timestamp created_at;
  base::Timestamp updated_at;
  // Whether the last check failed; and, where that was read too, since when checks fail and what
  // the last one said.
  bool failing = false;
  std::optional<base::Timestamp> failing_since;
  std::optional<std::string> failure_message;
};

struct Event {
  base::Uuid id;
  EventType type = EventType::kChange;
  base::Uuid event_group_id;
  // The monitor of the event, where events of many rows are listed.
  std::optional<base::Uuid> monitor_id;
  std::optional<base::Uuid> row_id;
  std::int64_t tick_id = 0;
  std::optional<std::string> field;
  std::optional<std::string> previous_value_json;
  std::optional<std::string> current_value_json;
  std::optional<std::string> message;
  std::optional<std::string> evidence;
  std::optional<std::string> sources_json;
  std::optional<double> confidence;
  base::Timestamp created_at;
  // What the page was like before and after a change, where that was kept.
  std::optional<base::Uuid> previous_snapshot_id;
  std::optional<base::Uuid> snapshot_id;
};

struct Tick {
  std::int64_t tick_id = 0;
  TickTrigger trigger = TickTrigger::kSchedule;
  base::Timestamp due_at;
  base::Timestamp started_at;
  std::optional<base::Timestamp> finished_at;
  std::int64_t slots = 0;
  std::int64_t rows = 0;
  OutcomeCounts outcomes{};  // of a finished tick
};

}  // namespace vedette::domain
