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

// The failure overloaded, of a check that found no room or thread of this process in its time;
// retryable.
ProbeFailure OverloadedFailure();

// The failure of a request without an answer. `whom`: "the page", "the research service".
ProbeFailure TransportFailure(const net::HttpResponse& response, std::string_view whom);

// The failure http_status; retryable for 408, 425, 429 and 5xx, with its Retry-After.
ProbeFailure StatusFailure(const net::HttpResponse& response, std::string_view whom,
                           base::Timestamp now);

}  // namespace vedette::worker
