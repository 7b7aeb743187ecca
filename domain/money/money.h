#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/json_text.h"
#include "base/uuid.h"
#include "domain/job/job.h"
#include "domain/monitor/enums.h"

// Money is integer millicredits inside (`*_mc`); outside it is credits with at most three decimals.
namespace vedette::domain {

// The credits as a JSON number: 1500 -> 1.5, 2000 -> 2. Exact up to 2^53 millicredits.
base::Json CreditsToJson(std::int64_t mc);

// For people: "1.5", "-0.001", "2".
std::string FormatCredits(std::int64_t mc);

// Reads a JSON number of credits; empty when it is no number, has more than three decimals or
// exceeds 10^12 credits either way.
std::optional<std::int64_t> CreditsFromJson(const base::Json& value);

// Reads decimal text ("0.5"), under the same rules.
std::optional<std::int64_t> ParseCredits(std::string_view text);

// What a lead costs whose address is looked for.

// Which results are charged (docs/lookups.md):
//   kAlways   every lead that was worked on to its end
//   kFound    an address that is OK, or one that somebody stated and that nobody could verify
//   kOk       an address that is OK
enum class ChargeRule : std::uint8_t { kAlways, kFound, kOk };

struct FindEmailPrices {
  std::int64_t professional_mc;
  std::int64_t personal_mc;
  std::int64_t verify_mc;  // of a lead's own address
  ChargeRule charge;

  bool operator==(const FindEmailPrices&) const = default;
};

// What a row of a lookup of people costs: who is behind an address, how old a person is.
struct PeoplePrice {
  std::int64_t row_mc;
  ChargeRule charge;
  bool operator==(const PeoplePrice&) const = default;
};

// How many checks of a chunk can be paid for: the balance limits them first, then the team's spend
// limit. Pure.
struct AdmissionRequest {
  std::int64_t balance_mc = 0;                // of the account, without what is reserved
  std::optional<std::int64_t> spend_left_mc;  // until the team's limit; empty = no limit
  std::int64_t reserved_mc = 0;  // already reserved for these checks, and counted as spent
  std::int64_t price_mc = 0;     // of one check
  int checks = 0;
};

struct Admission {
  int admitted = 0;             // the first so many, in position order
  int skipped_balance = 0;      // then either these
  int skipped_spend_limit = 0;  // or these: one of the two is 0
  // What has to be added to the reservation; negative when less is needed than was reserved.
  std::int64_t reserve_mc = 0;
};

// Balance is asked first: where both fail, the outcome is skipped_balance. The balance never
// becomes negative: reserve_mc <= balance_mc.
Admission Admit(const AdmissionRequest& request);

// The account's ledger as it is shown: its lines as JSON and as CSV. Pure.

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
