#pragma once

#include <string>

#include "net/http_server.h"

namespace vedette::rest {

// The id by which a request is found in the log, and which its answer carries as X-Request-Id: the
// client's own, where it is at most 128 letters, digits and "-_.:", else a random UUID. So nothing
// that a client sends can forge a line of the log.
std::string RequestIdOf(const net::ServerRequest& request);

}  // namespace vedette::rest
