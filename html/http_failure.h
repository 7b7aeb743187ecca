#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "domain/monitor/failure.h"
#include "net/http_client.h"

// What an HTTP answer means for a check, the same for every probe. Pure.
namespace vedette::html {

// The failure overloaded, of a check that found no room or thread of this process in its time;
// retryable.
domain::Failure OverloadedFailure();

// The class of what ends because this process stops: the name of HttpErrorClass::kShutdown.
inline constexpr std::string_view kShutdown = "shutdown";

// Whether the failure is this process's: it had no room in time, or stops. It says nothing of the
// server that was asked.
bool IsOfProcess(const domain::Failure& failure);

// The failure of a request without an answer. `whom`: "the page", "the research service".
domain::Failure TransportFailure(const net::HttpResponse& response, std::string_view whom);

// The failure http_status; retryable for 408, 425, 429 and 5xx, with its Retry-After.
domain::Failure StatusFailure(const net::HttpResponse& response, std::string_view whom,
                              base::Timestamp now);

}  // namespace vedette::html
