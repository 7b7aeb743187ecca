#include "domain/admission.h"

#include <algorithm>

namespace vedette::domain {
namespace {

int Payable(std::int64_t available_mc, std::int64_t price_mc, int checks) {
  if (price_mc == 0) return checks;
  return static_cast<int>(
      std::clamp<std::int64_t>(available_mc / price_mc, 0, static_cast<std::int64_t>(checks)));
}

}  // namespace

Admission Admit(const AdmissionRequest& request) {
  const int by_balance =
      Payable(request.balance_mc + request.reserved_mc, request.price_mc, request.checks);
  const int by_limit =
      request.spend_left_mc
          ? Payable(std::max<std::int64_t>(*request.spend_left_mc, 0) + request.reserved_mc,
                    request.price_mc, request.checks)
          : request.checks;
  Admission admission;
  admission.admitted = std::min(by_balance, by_limit);
  const int rest = request.checks - admission.admitted;
  (by_balance <= by_limit ? admission.skipped_balance : admission.skipped_spend_limit) = rest;
  admission.reserve_mc = admission.admitted * request.price_mc - request.reserved_mc;
  return admission;
}

}  // namespace vedette::domain
