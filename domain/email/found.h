#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/json_text.h"
#include "domain/email/candidate.h"
#include "domain/email/find_request.h"
#include "domain/email/lead.h"
#include "domain/email/verdict.h"

// What came of a lead, from the addresses that providers named to what the client sees. Pure.
//
// The cell of a row, which the job stores:
//
//   {"email": [[address, status, type], ..], "personal_email": [..], "error": null or a code,
//    "details": {"reason", "addresses": [{"address", "status", "type", "reason", "stated",
//                "provider", "confidence", "sources", "quote", "checked_at"}],
//                "tries": [{"provider", "outcome", "error_class", "elapsed_ms"}],
//                "domain", "pattern", "charged", "duplicate_of"}}
//
// Every member is there, null where it is not known. The cell of a copy is {"duplicate_of": row}.
namespace vedette::domain {

inline constexpr std::size_t kFoundAddressesMax = 5;

// Codes of a row that has no result. A row of a job that ended without it has the job's end as its
// code: "timed_out", "cancelled", "terminated".
inline constexpr std::string_view kErrorProvidersFailed = "providers_failed";
inline constexpr std::string_view kErrorTimedOut = "timed_out";

// What came of asking one provider.
enum class TryOutcome : std::uint8_t {
  kFound,
  kNothing,
  kSkipped,  // it was not asked: it failed too often of late, or this process does not know it
  kFailed,
  kLater,  // it has to be asked again after a while
};
std::string_view TryOutcomeName(TryOutcome outcome);

struct ProviderTry {
  std::string provider;
  TryOutcome outcome = TryOutcome::kNothing;
  std::string error_class{};  // of kFailed and kSkipped
  std::chrono::milliseconds elapsed{};
};

// [{"provider", "outcome", "error_class", "elapsed_ms"}], as clients see them.
base::Json TriesJson(const std::vector<ProviderTry>& tries);
// The recorded cell of each row of a job; null where there is none. `rows_json`: as FindResults.
base::Json RecordedCells(const std::optional<std::string>& rows_json, std::size_t rows);

// Whether an address still has to be verified.
//
//   open --> verified      the verifier has checked it, or it cannot be asked
//    ^   \-> later --+     it has to be asked again after a while
//    +--------------+
enum class AddressCheck : std::uint8_t { kOpen, kVerified, kLater };

struct FoundAddress {
  Candidate candidate;
  std::string provider;  // empty: the lead came with it
  std::string reason;    // why it is not OK: a name of VerdictReason; empty where it is
  AddressCheck check = AddressCheck::kOpen;
  int attempts = 0;                             // how often the verifier has said "later"
  std::optional<base::Timestamp> checked_at{};  // of our own verification
};

// What the verifier says of the address becomes its status, reason and confidence.
void ApplyVerdict(const AddressVerdict& verdict, FoundAddress* address);

// How the work on a lead ended.
enum class FindEnd : std::uint8_t {
  kAtOnce,        // nothing had to be asked; it is free
  kOwnVerified,   // the lead's own address was verified, and nothing else was asked
  kWorked,        // to its end: an address is OK, or every provider was asked
  kOutOfTime,     // the row's time was over before all were asked, or before any answered
  kNoneAnswered,  // no provider could be asked
  kError,         // the row ended without its runner
};

struct Found {
  FindEnd end = FindEnd::kWorked;
  std::vector<FoundAddress> addresses;  // best first, at most kFoundAddressesMax
  std::string reason;                   // why there is no OK address; empty where there is one
  std::string error;                    // a code; then the rest does not count and is free
  std::vector<ProviderTry> tries;
  std::optional<AddressVerdict> work_verdict{};  // of the lead's own, where another is asked for
};

// The answer to a lead that needs nobody: it came with its address, or nothing can be found for it.
// Empty where providers are to be asked, or the verifier about the lead's own address. A waited
// call of one lead in mode PERSONAL whose lead is answered so needs no job.
std::optional<Found> AnswerAtOnce(FindMode mode, const Person& person, bool verify_emails);

// The lead's own address, where that alone is verified: in mode PROFESSIONAL, with an address that
// is one.
std::optional<FoundAddress> OwnAddressToVerify(FindMode mode, const Person& person);

// The answer to a lead after providers were asked: the addresses that nobody refused, those that
// are OK before the others, stated ones before guesses, then by confidence. `seen` holds one entry
// an address, in the order in which they came. Out of time without an address is "timed_out", no
// provider that answered is "providers_failed".
// `nothing_reason`: why nothing could be found, where that is known better than "nothing_found".
Found DecideFound(std::vector<FoundAddress> seen, std::vector<ProviderTry> tries, FindEnd end,
                  std::string_view nothing_reason = {});

// The answer to a lead that ended with an error.
Found FailedFound(std::string_view error_code);

// Whether the row costs its price. Never with an error, never where it was answered at once or by
// what the organisation knew alone. Where not every answer is charged, one address is what the rule
// asks for: it is returned, it is new, and in mode PROFESSIONAL it is the company's.
bool IsCharged(FindMode mode, const Person& person, const Found& found, ChargeRule rule);

// "ok", "unknown", "not_found", or the error: for metrics.
std::string_view FoundOutcome(const Found& found);

base::Json FoundCell(FindMode mode, const Person& person, const Found& found, bool charged);
// The same, of whose details there is the reason alone: what the blocks of runs read. It takes a
// fifth of the text.
base::Json ShortFoundCell(FindMode mode, const Person& person, const Found& found);
base::Json CopyCell(std::size_t copy_of);

// What the client sees of a row: the lead's own members, over which those of the cell win.
// `copy_of`: the row whose cell it is, where the lead is a copy; it is shown, and not charged.
base::Json MergeFound(const base::Json& lead, const base::Json& cell,
                      std::optional<std::size_t> copy_of = std::nullopt);

// What the client sees of all rows of a job, in their order. `rows_json`: what the job has
// recorded, an array of arrays of cells with null in place of rows that were not recorded, or
// nothing. `unrecorded_error`: the code of those rows. A row that was erased is null. Throws
// std::invalid_argument where it is no such JSON.
base::Json FindResults(const FindRequest& request, const std::optional<std::string>& rows_json,
                       std::string_view unrecorded_error);

}  // namespace vedette::domain
