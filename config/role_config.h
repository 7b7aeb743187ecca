#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

// Keys of [scheduler] and [worker].
// config/parts.h says what all of it is.
namespace vedette::config {

using std::chrono::milliseconds;

struct SchedulerConfig {
  double spread;  // share of the period

  // These have no keys.
  milliseconds poll_ms{1'000};         // safety net behind notifications
  int monitors_per_cut_max = 1000;     // due monitors in one transaction
  int rows_per_cut_max = 100'000;      // rows of one monitor in one; the rest follows as portions
  int spread_rows_min = 10'000;        // ticks of smaller monitors come at once
  milliseconds maintenance_ms{5'000};  // between closing, gauges, partitions and retention

  bool operator==(const SchedulerConfig&) const = default;
};

struct WorkerConfig {
  milliseconds lease_ms;
  int checks_in_flight_max;
  int claims_max;  // deaths before a chunk is halved
  milliseconds drain_timeout_ms;
  int probe_threads;                 // that one organisation may occupy; one more for others
  int per_host_max;                  // pages being fetched from one host
  milliseconds per_host_gap_ms;      // between the starts of two of them
  bool obey_robots;                  // whether robots.txt is read and obeyed
  std::size_t pages_held_bytes_max;  // of pages and answers that are fetched or read now
  std::vector<std::string> lanes;    // checks, transform, lookup, smtp, research

  // The rest has no keys.
  milliseconds poll_ms{1'000};
  // How often pauses are read, and the age beyond which that knowledge starts no check (G5): above
  // 4 s the promise that a pause holds within 5 s could not be kept.
  milliseconds control_read_ms{1'000};
  milliseconds control_age_max_ms{4'000};
  // Rows claimed beyond what can be in flight, at most: as many as keep a worker busy while it
  // claims. Where checks are slow that is none, so that they are left to workers that can start
  // them at once.
  int rows_ahead_max = 4096;
  // The share of both that an organisation that is alone leaves free for others that come due.
  double newcomer_share = 0.1;
  // Rows leased as a unit; fewer where checks are slow, so that a chunk takes about the target.
  int chunk_rows_max = 256;
  milliseconds chunk_duration_target_ms{10'000};
  int orgs_per_scan_max = 200;  // looked at in one search for work
  // How long results of finished chunks are gathered, and those of chunks that go on, so that slow
  // checks share a transaction; and results in one. More gained nothing when measured.
  milliseconds record_delay_ms{5};
  milliseconds record_partial_delay_ms{200};
  int record_checks_max = 1024;
  // What was seen on pages that name their version. The least recently seen are forgotten; a page
  // that is not remembered is fetched whole.
  std::size_t pages_remembered_bytes_max = std::size_t{64} << 20;
  std::size_t questions_held_bytes_max = std::size_t{64}
                                         << 20;  // services and models are asked now
  // Rows that are claimed. A claim takes as many as have room if each has [limits] row_bytes_max,
  // so it is at least that. The same again for parts of jobs.
  std::size_t rows_held_bytes_max = std::size_t{256} << 20;

  bool operator==(const WorkerConfig&) const = default;
};

}  // namespace vedette::config
