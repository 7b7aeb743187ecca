#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "domain/job.h"
#include "domain/principal.h"

// A job as it is shown.
namespace vedette::store {

// A block with its counters.
struct JobBlockView {
  int block = 0;
  std::string type;
  std::optional<int> input;
  domain::Lane lane = domain::Lane::kLookup;
  domain::BlockStatus status = domain::BlockStatus::kPending;
  std::optional<std::string> error;        // why it failed
  std::optional<std::string> last_error;   // of the last row that was recorded with an error
  std::optional<std::int64_t> rows_total;  // of a block without input
  int parts_total = 0;
  int opened = 0;
  int parts_done = 0;
  int part_window = 1;
  std::int64_t rows_done = 0;     // rows of its input that were recorded
  std::int64_t rows_out = 0;      // rows of its output
  std::int64_t row_errors = 0;    // recorded with an error
  std::int64_t rows_charged = 0;  // paid for
  std::optional<base::Timestamp> started_at;
  base::Timestamp updated_at{};
  std::optional<base::Timestamp> finished_at;
};

struct JobView {
  base::Uuid id;
  base::Uuid org_id;
  std::optional<base::Uuid> team_id;
  domain::JobKind kind = domain::JobKind::kFindEmail;
  domain::JobStatus status = domain::JobStatus::kQueued;
  std::optional<std::string> status_reason;  // a code; of an open job why it stands still
  std::optional<std::string> error;          // a sentence
  domain::Principal caller;
  std::int64_t estimate_mc = 0;
  std::int64_t reserved_mc = 0;
  std::int64_t charged_mc = 0;
  base::Timestamp created_at{};
  std::optional<base::Timestamp> started_at;
  base::Timestamp deadline_at{};
  std::optional<base::Timestamp> finished_at;
  // Of all blocks: rows that were recorded, and rows there are as far as is known.
  std::int64_t rows_done = 0;
  std::int64_t rows_total = 0;
  // While it stands still since permits to ask mail servers are used up: when it goes on, as far as
  // is known. Nothing of it is worked on or due then.
  std::optional<base::Timestamp> waiting_until;
};

}  // namespace vedette::store
