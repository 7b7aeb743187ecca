#include "domain/email/verdict.h"

#include <algorithm>
#include <array>

namespace vedette::domain {
namespace {

constexpr std::array<std::string_view, kVerdictReasons> kReasons = {
    "",
    "invalid_address",
    "unknown_domain",
    "null_mx",
    "no_mx",
    "dns",
    "not_public",
    "disposable",
    "catch_all",
    "catch_all_unproven",
    "unverified_by_server",
    "refused",
    "refused_unclear",
    "disabled",
    "full",
    "sender_refused",
    "policy",
    "utf8_not_served",
    "greylisted",
    "temporary",
    "timeout",
    "tls",
    "connect",
    "protocol",
    "rate",
    "blocked",
    "no_smtp_worker",
    "not_verified",
};

constexpr std::chrono::hours kDay{24};

}  // namespace

std::string_view VerdictReasonName(VerdictReason reason) {
  return kReasons.at(static_cast<std::size_t>(reason));
}

std::optional<VerdictReason> ParseVerdictReason(std::string_view name) {
  const auto* const found = std::find(kReasons.begin(), kReasons.end(), name);
  if (found == kReasons.end()) return std::nullopt;
  return static_cast<VerdictReason>(found - kReasons.begin());
}

bool AddressVerdict::IsConclusive() const {
  return VerdictLife(*this).has_value();
}

std::optional<std::chrono::hours> VerdictLife(const AddressVerdict& verdict) {
  if (verdict.verdict == Verdict::kOk) return 30 * kDay;
  if (verdict.verdict == Verdict::kRefused) return 7 * kDay;
  switch (verdict.reason) {
    case VerdictReason::kFull:
    case VerdictReason::kDisabled:
    case VerdictReason::kCatchAll:
      return kDay;
    default:
      return std::nullopt;
  }
}

}  // namespace vedette::domain
