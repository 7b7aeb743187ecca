#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

// Keys of [limits] and [retention].
// config/parts.h says what all of it is.
namespace vedette::config {

struct LimitsConfig {
  int requests_per_minute;  // of one principal, over the whole fleet; 0 = off
  std::optional<std::chrono::seconds> frequency_min;  // replaces the lower bound for everyone
  std::size_t struct_bytes_max;                       // names and descriptions together, as JSON
  // The bytes of one organisation's uploaded files that no monitor was made from.
  std::size_t uploads_unused_bytes_max;

  // What clients are told of their limits stands in the interface, and has no keys.
  int rows_per_request_max = 100'000;
  std::int64_t rows_per_monitor_max = 5'000'000;  // through an uploaded file
  int struct_fields_max = 64;
  int name_chars_max = 200;
  std::size_t metadata_bytes_max = 16'384;
  std::size_t row_bytes_max = 65'536;  // one row's columns as JSON
  int uploads_unused_max = 100;        // of one organisation: the files of uploads_unused_bytes_max
  // Each adds a v1 segment to every signature; a further rotation retires the oldest.
  int signing_secrets_live_max = 5;

  bool operator==(const LimitsConfig&) const = default;
};

struct RetentionConfig {
  std::chrono::hours events;
  std::chrono::hours check_log;
  std::chrono::hours attempts;
  std::chrono::hours snapshots;  // of pages
  std::chrono::hours dead;
  std::chrono::hours audit;
  std::chrono::hours jobs;
  std::chrono::hours runs;      // of workflows, from their end on
  std::chrono::hours run_data;  // the rows of blocks, by the day that their job was made

  // These have no keys.
  std::chrono::hours idempotency_keys{24};
  std::chrono::hours uploads{24};                // files that no monitor was made from
  std::chrono::hours mail_facts{30 * 24};        // of mail servers, since they were last asked
  std::chrono::hours domain_patterns{365 * 24};  // of organisations, since they last held

  bool operator==(const RetentionConfig&) const = default;
};

}  // namespace vedette::config
