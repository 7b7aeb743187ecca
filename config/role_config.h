#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// Keys of [scheduler], [worker], [delivery], [jobs] and [workflows].
// config/config.h says what all of it is.
namespace vedette::config {

using std::chrono::milliseconds;

struct SchedulerConfig {
  milliseconds poll_ms;      // safety net behind notifications
  int monitors_per_cut_max;  // due monitors in one transaction
  int rows_per_cut_max;      // rows of one monitor in one transaction; the rest follows as portions
  int spread_rows_min;
  double spread;  // share of the period
  milliseconds maintenance_ms;

  bool operator==(const SchedulerConfig&) const = default;
};

struct WorkerConfig {
  milliseconds lease_ms;
  milliseconds poll_ms;
  milliseconds control_read_ms;     // how often pauses are read
  milliseconds control_age_max_ms;  // older knowledge starts no check (G5)
  int checks_in_flight_max;
  int rows_ahead_max;     // rows claimed beyond what can be in flight
  double newcomer_share;  // of both that an organisation that is alone leaves free
  int chunk_rows_max;
  milliseconds chunk_duration_target_ms;  // a chunk's size follows from it and the checks' duration
  int claims_max;                         // deaths before a chunk is halved
  int orgs_per_walk_max;
  milliseconds record_delay_ms;          // how long results of finished chunks are gathered
  milliseconds record_partial_delay_ms;  // and those of chunks that go on
  int record_checks_max;                 // results in one transaction
  milliseconds drain_timeout_ms;
  int probe_threads;                       // that one organisation may occupy; one more for others
  int per_host_max;                        // pages being fetched from one host
  milliseconds per_host_gap_ms;            // between the starts of two of them
  bool obey_robots;                        // whether robots.txt is read and obeyed
  std::size_t pages_remembered_bytes_max;  // of what was seen on pages that name their version
  std::size_t pages_held_bytes_max;        // of pages and answers that are fetched or read now
  std::size_t questions_held_bytes_max;    // of what services and models are asked now
  std::size_t rows_held_bytes_max;         // of the rows that are claimed
  std::vector<std::string> lanes;          // checks, transform, lookup, smtp, research

  bool operator==(const WorkerConfig&) const = default;
};

struct DeliveryConfig {
  milliseconds timeout_ms;  // one attempt, everything included
  milliseconds lease_ms;
  milliseconds poll_ms;
  milliseconds backoff_first_ms;
  milliseconds backoff_max_ms;
  milliseconds backoff_window_ms;
  double backoff_jitter;            // +- share
  milliseconds breaker_age_max_ms;  // how long deliveries may wait behind an open breaker
  int in_flight_max;
  int in_flight_per_endpoint_max;
  int slow_in_flight_max;
  int tests_in_flight_max;     // webhook tests under way in one process
  milliseconds slow_after_ms;  // an attempt under way for longer makes its receiver slow
  int breaker_failures;        // in a row, until it opens
  milliseconds breaker_interval_ms;
  std::size_t answer_bytes_max;
  std::size_t body_bytes_max;         // of a job's callback; over it the result is left out
  std::size_t bodies_held_bytes_max;  // of callbacks that the process sends now
  milliseconds settle_delay_ms;
  int settle_max;
  milliseconds drain_timeout_ms;

  bool operator==(const DeliveryConfig&) const = default;
};

// The engine of jobs. Slots are rows in flight in one process, but those of `transform`, which are
// parts that are being computed.
struct JobsConfig {
  int slots_transform;
  int slots_lookup;
  int slots_smtp;
  int slots_research;
  int parts_held_max;     // of transform, claimed ahead
  double newcomer_share;  // of a lane that an organisation that is alone leaves free
  double waited_share;    // of a lane that is kept for jobs that a client waits for
  int record_chunks_max;  // of one job in one transaction
  milliseconds record_delay_ms;
  milliseconds record_partial_delay_ms;
  std::size_t part_bytes_max;
  int attempts_max;           // at one row, within its time
  milliseconds wait_lane_ms;  // how long a job waits for a lane that nobody serves
  milliseconds keeper_ms;
  int open_per_org_max;

  bool operator==(const JobsConfig&) const = default;
};

// [workflows].
struct WorkflowsConfig {
  std::chrono::hours run_timeout;          // a run's deadline
  int runs_active_per_org_max;             // that have not ended
  int workflows_per_org_max;               // that are not deleted
  std::size_t run_data_bytes_per_org_max;  // of the rows of its runs that are kept
  int window_rows;                         // of one block that are open at once
  std::size_t inline_results_bytes_max;    // of the rows that go along with a callback
  bool csv_formula_guard;                  // whether cells that spreadsheets compute are defused
  std::int64_t verify_email_mc;            // [prices.workflow] verify_email: of a row

  bool operator==(const WorkflowsConfig&) const = default;
};

}  // namespace vedette::config
