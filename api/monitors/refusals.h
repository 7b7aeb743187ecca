#pragma once

#include <optional>

#include "api/call.h"
#include "api/monitors/monitor_body.h"
#include "domain/names.h"
#include "rest/reply.h"

// What a body of the monitor routes is refused for beyond its types.
namespace vedette::api {

// The 400 of a broken rule.
rest::Reply BreachReply(const RuleBreach& breach);

// The 403 of a frequency or a tier that the organisation has no feature for, or nothing.
std::optional<rest::Reply> CheckFrequency(const Call& call, const Frequency& frequency);
std::optional<rest::Reply> CheckTier(const Call& call, domain::Tier tier);

}  // namespace vedette::api
