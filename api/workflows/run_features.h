#pragma once

#include <optional>

#include "api/call.h"
#include "domain/workflow/definition.h"

namespace vedette::api {

// The 403 of the first block for which the organisation lacks a feature: its tier, or a monitor
// with what it needs. Nothing where it may run them all.
std::optional<rest::Reply> JudgeFeatures(const Call& call, const domain::Definition& definition);

}  // namespace vedette::api
