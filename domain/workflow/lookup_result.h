#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/json_text.h"
#include "base/uuid.h"
#include "domain/job/job.h"

// What clients are told of a lookup: its result, its error and its callback, as functions of the
// job. The status view of the API and the callback say the same because both come from here. Pure.
namespace vedette::domain {

// A lookup that has ended, as it is stored.
struct EndedLookup {
  base::Uuid id;
  JobKind kind = JobKind::kFindEmail;
  JobStatus status = JobStatus::kCompleted;  // an end
  std::optional<std::string> status_reason;  // a code
  std::optional<std::string> error;          // a sentence
  std::int64_t charged_mc = 0;
  base::Timestamp created_at{};
  base::Timestamp finished_at{};
  std::string params_json = "{}";  // the request, as its kind stores it
  // Its rows in order: an array that has for each row an array of one cell, or null where it was
  // not recorded. Empty where no row was, or past their retention.
  std::optional<std::string> rows_json;
};

// "running" for a job that is queued, since clients do not know that state.
std::string_view ShownJobStatus(JobStatus status);

// Cents as a JSON number with at most three decimals, half away from zero.
base::Json CentsOf(std::int64_t mc, double cents_per_credit);

// The error of a completed lookup, and of its rows, past the retention of what was found.
inline constexpr std::string_view kResultExpired = "result_expired";

// The answer to a client that waits for the lookup, whatever its end. For a single one it is what
// the client sees of its row, with "task_id" and "charge_amount" in its "details"; for a bulk it is
// {"task_id", "results", "charge_amount"}, in the order of the request. A row that was not recorded
// has the job's status as its error. Throws std::invalid_argument where what is stored cannot be
// read.
base::Json WaitedResult(const EndedLookup& lookup, double cents_per_credit);

// The result that the status of a lookup shows: WaitedResult of a completed one, and of a bulk that
// has a row that was recorded; otherwise null, also past the retention of rows. For a run it is
// {"run_id"}. Throws as WaitedResult.
base::Json LookupResult(const EndedLookup& lookup, double cents_per_credit);

// Null for a completed job, else {"error": a code, "message": a sentence}.
base::Json JobErrorOf(JobStatus status, const std::optional<std::string>& status_reason,
                      const std::optional<std::string>& error);

// The body that is signed and sent, the same at every attempt: compact JSON
//   {"task_id","task_type","status","result","error","charge_amount","created_at","finished_at"}
// Where it would be over `bytes_max`, the result is null, and the receiver asks for the status.
std::string LookupCallbackBody(const EndedLookup& lookup, double cents_per_credit,
                               std::size_t bytes_max);

}  // namespace vedette::domain
