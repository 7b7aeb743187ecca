#include "html/http_failure.h"

#include <fmt/format.h>

#include "base/text.h"
#include "net/retry_after.h"

namespace vedette::html {
namespace {

std::string Capitalised(std::string_view text) {
  std::string out(text);
  if (!out.empty() && out[0] >= 'a' && out[0] <= 'z') out[0] = static_cast<char>(out[0] - 32);
  return out;
}

}  // namespace

domain::Failure OverloadedFailure() {
  return {
      "overloaded", "Too many checks wait for the same as this one; it is tried again.", true, {}};
}

bool IsOfProcess(const domain::Failure& failure) {
  return failure.error_class == "overloaded" || failure.error_class == kShutdown;
}

domain::Failure TransportFailure(const net::HttpResponse& response, std::string_view whom) {
  using Class = net::HttpErrorClass;
  const Class error = response.error_class;
  if (error == Class::kBusy) return OverloadedFailure();
  const bool retryable = error == Class::kDns || error == Class::kConnect ||
                         error == Class::kTimeout || error == Class::kProtocol ||
                         error == Class::kShutdown;
  std::string reason = base::RepairUtf8(response.error);
  while (!reason.empty() && reason.back() == '.') reason.pop_back();
  return {std::string(net::HttpErrorClassName(error)),
          fmt::format("{} could not be fetched: {}.", Capitalised(whom), reason),
          retryable,
          {}};
}

domain::Failure StatusFailure(const net::HttpResponse& response, std::string_view whom,
                              base::Timestamp now) {
  const int status = response.status;
  const bool retryable =
      status == 408 || status == 425 || status == 429 || (status >= 500 && status <= 599);
  domain::Failure out{"http_status",
                      fmt::format("{} answered with the status {}.", Capitalised(whom), status),
                      retryable,
                      {}};
  if (retryable) out.retry_after = net::RetryAfter(response, now);
  return out;
}

}  // namespace vedette::html
