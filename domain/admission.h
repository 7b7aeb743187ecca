#pragma once

#include <cstdint>
#include <optional>

namespace vedette::domain {

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

}  // namespace vedette::domain
