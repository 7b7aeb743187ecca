#pragma once

#include <optional>

#include "net/public_address.h"

namespace vedette::net {

// The address of this machine from which packets to `peer` leave, by the system's routes. Nothing
// is sent. Empty where there is no route.
std::optional<IpAddress> LocalAddressTowards(const IpAddress& peer);

}  // namespace vedette::net
