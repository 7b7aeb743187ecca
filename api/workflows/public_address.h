#pragma once

#include <optional>
#include <string>

#include "config/config_fwd.h"
#include "net/http_server.h"

namespace vedette::api {

// Where clients reach this API, without a slash at the end: [api] public_url, or else what the
// request says of it (Host and X-Forwarded-Proto). Empty where that is no host. Pure.
std::string PublicAddress(const config::Config& config, const net::ServerRequest& request);

}  // namespace vedette::api
