#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/json_text.h"
#include "base/uuid.h"
#include "domain/job.h"
#include "domain/names.h"

// The account's ledger as it is shown: its lines as JSON and as CSV. Pure.
namespace vedette::domain {

enum class LedgerKind {
  kBooking,  // by the operator: credits that were given or taken
  kChecks,   // charged for completed checks
  kJob,      // charged for rows of a job
};
std::string_view LedgerKindName(LedgerKind kind);  // "booking", "checks", "job"

struct LedgerLine {
  std::optional<std::int64_t> entry;  // its number; empty: what a whole day has of one kind
  base::Timestamp at;                 // of a day: its beginning
  LedgerKind kind = LedgerKind::kBooking;
  std::int64_t amount_mc = 0;  // a charge is negative
  std::int64_t total_mc = 0;   // of every line up to and with this one
  std::int64_t units = 0;      // checks, or rows, that were charged
  std::optional<Tier> tier;    // of checks
  std::optional<JobKind> job;  // of a job that is still known
  std::optional<base::Uuid> team_id;
  std::optional<base::Uuid> job_id;
  std::optional<std::string> reason;  // of a booking
};

// {"entry", "at", "kind", "amount", "total", "units", "item", "team_id", "job_id", "reason"}; the
// item is the tier or the kind of the job.
base::Json LedgerLineJson(const LedgerLine& line);

// A statement: the head, an opening line, the ledger's, a closing line. The lines that open and
// close carry the total alone. Each ends with CRLF, as RFC 4180 has it. Text that a spreadsheet
// would take for a formula gets an apostrophe before it.
std::string StatementHead();
std::string StatementLine(const LedgerLine& line);
std::string StatementEdge(std::string_view kind, base::Timestamp at, std::int64_t total_mc);

}  // namespace vedette::domain
