#pragma once

#include <chrono>
#include <optional>

#include "net/http_server.h"

namespace vedette::api {

// The preference wait=n of the request's Prefer headers (RFC 7240), in seconds, at least 1. Of
// several the first counts. What cannot be read is no preference. Pure.
std::optional<std::chrono::seconds> PreferredWait(const net::ServerRequest& request);

}  // namespace vedette::api
