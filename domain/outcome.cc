#include "domain/outcome.h"

namespace vedette::domain {

std::string_view OutcomeName(Outcome outcome) {
  switch (outcome) {
    case Outcome::kChanged:
      return "changed";
    case Outcome::kUnchanged:
      return "unchanged";
    case Outcome::kFailed:
      return "failed";
    case Outcome::kSkippedBalance:
      return "skipped_balance";
    case Outcome::kSkippedSpendLimit:
      return "skipped_spend_limit";
    case Outcome::kSkippedPaused:
      return "skipped_paused";
    case Outcome::kSkippedOverlap:
      return "skipped_overlap";
    case Outcome::kInactive:
      return "inactive";
  }
  return "unknown";
}

void CountOutcomes(std::string_view packed, OutcomeCounts* counts) {
  for (const char c : packed) {
    const auto value = static_cast<unsigned char>(c);
    ++(*counts)[value <= kOutcomeMax ? value : kNoOutcome];
  }
}

}  // namespace vedette::domain
