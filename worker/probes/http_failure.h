#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "net/http_client.h"
#include "worker/probes/probe.h"

// What an HTTP answer means for a check, the same for every probe. Pure.
namespace vedette::worker {

// Longer waits are cut to this.
inline constexpr std::chrono::hours kRetryAfterMax{24};

// The Retry-After header: seconds, or an HTTP date, taken against the answer's own Date (else
// `now`), as the sender's clock is the one that set it. Empty where there is none that can be read.
std::optional<std::chrono::milliseconds> RetryAfter(const net::HttpResponse& response,
                                                    base::Timestamp now);

// "Sun, 06 Nov 1994 08:49:37 GMT"; the obsolete forms are not read.
std::optional<base::Timestamp> ParseHttpDate(std::string_view text);

// The failure of a request without an answer. `whom`: "the page", "the research service".
ProbeFailure TransportFailure(const net::HttpResponse& response, std::string_view whom);

// The failure http_status; retryable for 408, 425, 429 and 5xx, with its Retry-After.
ProbeFailure StatusFailure(const net::HttpResponse& response, std::string_view whom,
                           base::Timestamp now);

}  // namespace vedette::worker
