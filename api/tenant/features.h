#pragma once

#include <string_view>

#include "domain/monitor/enums.h"
#include "store/accounts/auth.h"

namespace vedette::api {

// What an organisation may use, by a request as by a schedule.

// A 403 where the caller's organisation may not use what is asked for.
void CheckFeature(const store::Caller& caller, bool needed, std::string_view feature,
                  std::string_view what);
void CheckTier(const store::Caller& caller, domain::Tier tier);

}  // namespace vedette::api
