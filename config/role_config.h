#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// Keys of [probes.<tier>], [scheduler], [worker], [delivery], [jobs] and [workflows].
// config/config.h says what all of it is.
namespace vedette::config {

using std::chrono::milliseconds;

// How one tier is observed.
struct ProbeConfig {
  std::string kind;  // web, http, llm, null (benchmarks only)
  std::string url;
  std::string model;
  std::string api_key;         // from api_key or api_key_file
  std::string signing_secret;  // from signing_secret or signing_secret_file
  milliseconds timeout_ms;     // bounds one attempt
  int attempts_max;            // attempts within the check's deadline
  milliseconds deadline_ms;    // bounds the check, retries included; at most 10 minutes
  std::size_t body_bytes_max;
  std::string render;  // never, auto, always: which pages have their scripts run; kind web
  // Settings of the model (kind llm, and web with a model).
  std::optional<double> temperature;  // empty: not sent
  int tokens_max;                     // of one answer
  std::string tokens_max_field;       // how the model's server calls it
  std::string answer_format;          // json_schema, json_object, text

  // About 4,000 tokens of a page's text are given to the model; 0 = none is fetched. It has no key.
  std::size_t page_text_bytes_max = 16'384;

  bool operator==(const ProbeConfig&) const = default;
};

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
  int orgs_per_walk_max = 200;  // looked at in one search for work
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

struct DeliveryConfig {
  milliseconds timeout_ms;  // one attempt, everything included
  milliseconds lease_ms;
  milliseconds backoff_first_ms;
  milliseconds backoff_max_ms;
  milliseconds backoff_window_ms;
  int in_flight_max;
  int breaker_failures;  // in a row, until it opens

  // The rest has no keys. Receivers that are slow, or not known yet, have as many attempts of their
  // own as the others: LoadConfig makes it in_flight_max.
  int slow_in_flight_max = 512;
  milliseconds poll_ms{1'000};
  double backoff_jitter = 0.2;  // +- share
  // How long deliveries may wait behind an open breaker, where they do not age: 7 days.
  milliseconds breaker_age_max_ms{604'800'000};
  int in_flight_per_endpoint_max = 16;
  int tests_in_flight_max = 64;       // webhook tests under way in one process
  milliseconds slow_after_ms{1'000};  // an attempt under way for longer makes its receiver slow
  milliseconds breaker_interval_ms{30'000};  // between attempts at a receiver whose breaker is open
  std::size_t answer_bytes_max = 4096;       // of a receiver's answer, kept for the operator
  // The size of a job's callback; over it the result is left out, and the receiver reads
  // /job-status.
  std::size_t body_bytes_max = std::size_t{1} << 20;
  std::size_t bodies_held_bytes_max = std::size_t{64}
                                      << 20;  // callbacks that the process sends now
  // Outcomes are gathered for this long, or until there are this many.
  milliseconds settle_delay_ms{10};
  int settle_max = 500;
  milliseconds drain_timeout_ms{11'000};  // for attempts in flight: a little more than timeout_ms

  bool operator==(const DeliveryConfig&) const = default;
};

// The relay that e-mail of channels goes to (docs/channels.md).
struct MailConfig {
  std::string relay;     // "smtps://user@host:465"; empty: there is no e-mail
  std::string password;  // from password or password_file
  std::string from;      // the address that e-mail is from

  bool operator==(const MailConfig&) const = default;
};

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
