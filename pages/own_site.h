#pragma once

#include <string_view>

namespace vedette::pages {

// Whether a request for `url` may carry what is meant for `own` alone, a page's credentials: the
// same host and port, as encrypted as `own` is. A step from http on its usual port to https on its
// usual port, which is how sites redirect to themselves, loses nothing. False where one is no URL.
// Pure.
bool IsOwnSite(std::string_view own, std::string_view url);

}  // namespace vedette::pages
