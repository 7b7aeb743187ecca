#pragma once

#include <cstdint>
#include <string_view>

// What rows wait for that are to be tried later, as far as clients are told. Their numbers are
// stored (job_chunk.waits_for, and "for" in job_chunk.done): never renumber.
namespace vedette::domain {

enum class JobWait : std::uint8_t {
  kUntold = 0,      // a greylist and the like; stored as null
  kMailBudget = 1,  // permits to ask mail servers are used up, until their window ends
};

// The status_reason of a job that stands still for that, and goes on by itself.
inline constexpr std::string_view kReasonWaitingForMailBudget = "waiting_for_mail_budget";

}  // namespace vedette::domain
