#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

// Keys of [jobs] and [workflows].
// config/parts.h says what all of it is.
namespace vedette::config {

using std::chrono::milliseconds;

// The engine of jobs. Slots are rows in flight in one process, but those of `transform`, which are
// parts that are being computed.
struct JobsConfig {
  int slots_transform;
  int slots_lookup;
  int slots_research;
  int open_per_org_max;

  // The rest has no keys.
  int slots_smtp = 256;
  int parts_held_max = 16;      // of transform, claimed ahead
  double newcomer_share = 0.1;  // of a lane that an organisation that is alone leaves free
  double waited_share = 0.25;   // of a lane that is kept for jobs that a client waits for
  // Parts of one job in one transaction (small jobs share theirs, a lookup counting as an eighth of
  // a part), how long a finished part waits for others of its job, and how long the finished rows
  // of a part that goes on wait to be recorded.
  int record_chunks_max = 8;
  milliseconds record_delay_ms{5};
  milliseconds record_partial_delay_ms{1'000};
  std::size_t part_bytes_max = std::size_t{4} << 20;  // the rows of one part, as JSON
  int attempts_max = 3;                               // at one row, within its time
  milliseconds wait_lane_ms{60'000};  // until a part that no worker serves moves to another lane
  milliseconds keeper_ms{5'000};      // between looks at deadlines, orphans and retention

  bool operator==(const JobsConfig&) const = default;
};

// [workflows].
struct WorkflowsConfig {
  std::chrono::hours run_timeout;          // a run's deadline
  int runs_active_per_org_max;             // that have not ended
  std::size_t run_data_bytes_per_org_max;  // of the rows of its runs that are kept
  bool csv_formula_guard;                  // whether cells that spreadsheets compute are defused
  std::int64_t verify_email_mc;            // [prices.workflow] verify_email: of a row

  // These have no keys.
  int workflows_per_org_max = 1000;  // that are not deleted (409 over it)
  int window_rows = 4096;            // of one block that are open at once
  // The size of the rows that go along with a callback, as JSON; over it there is a link alone.
  std::size_t inline_results_bytes_max = 262'144;

  bool operator==(const WorkflowsConfig&) const = default;
};

}  // namespace vedette::config
