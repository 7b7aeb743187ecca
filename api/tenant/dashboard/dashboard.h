#pragma once

#include <cstddef>
#include <string>

#include "api/kit/body.h"
#include "api/tenant/call.h"

// What the handlers of the dashboard share.
namespace vedette::api {

inline constexpr std::size_t kAddressCharsMax = 200;

// A 404, as of a path that there is not, where the operator has not enabled the dashboard.
void CheckDashboard(const Call& call);

// The member `email`, lower case. Only valid without problems.
std::string ReadAddress(rest::BodyReader* body);

}  // namespace vedette::api
