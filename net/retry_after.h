#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "base/clock.h"
#include "net/http_client.h"

// How long an answer asks to be left alone. Pure.
namespace vedette::net {

// Longer waits are cut to this.
inline constexpr std::chrono::hours kRetryAfterMax{24};

// The Retry-After header: seconds, or an HTTP date, taken against the answer's own Date (else
// `now`), as the sender's clock is the one that set it. Empty where there is none that can be read.
std::optional<std::chrono::milliseconds> RetryAfter(const HttpResponse& response,
                                                    base::Timestamp now);

// "Sun, 06 Nov 1994 08:49:37 GMT"; the obsolete forms are not read.
std::optional<base::Timestamp> ParseHttpDate(std::string_view text);

}  // namespace vedette::net
