#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

// Keys of [limits] and [retention].
// config/config.h says what all of it is.
namespace vedette::config {

struct LimitsConfig {
  int requests_per_minute;  // of one principal, over the whole fleet; 0 = off
  std::optional<std::chrono::seconds> frequency_min;  // replaces the lower bound for everyone
  int rows_per_request_max;
  std::int64_t rows_per_monitor_max;
  int struct_fields_max;
  int name_chars_max;
  std::size_t metadata_bytes_max;
  std::size_t struct_bytes_max;  // names and descriptions together, as JSON
  std::size_t row_bytes_max;     // one row's columns as JSON
  // Of one organisation: uploaded files that no monitor was made from, and their bytes.
  int uploads_unused_max;
  std::size_t uploads_unused_bytes_max;
  int signing_secrets_live_max;

  bool operator==(const LimitsConfig&) const = default;
};

struct RetentionConfig {
  std::chrono::hours events;
  std::chrono::hours check_log;
  std::chrono::hours attempts;
  std::chrono::hours dead;
  std::chrono::hours audit;
  std::chrono::hours idempotency_keys;
  std::chrono::hours uploads;
  std::chrono::hours jobs;
  std::chrono::hours runs;             // of workflows, from their end on
  std::chrono::hours run_data;         // the rows of blocks, by the day that their job was made
  std::chrono::hours mail_facts;       // what is known of mail servers, since it was last asked
  std::chrono::hours domain_patterns;  // of organisations, since they were last seen to hold

  bool operator==(const RetentionConfig&) const = default;
};

}  // namespace vedette::config
