#pragma once

#include <optional>
#include <string>

#include "base/json_text.h"

namespace vedette::pages {

// The URL of a row's page: `url`, else `website`, else `domain` (names in any case), each from the
// subject, then from the context; blank values count as none. What has no scheme gets https://; a
// fragment is dropped. Not checked yet. Pure.
std::optional<std::string> PageAddress(const base::Json& subject, const base::Json& context);

}  // namespace vedette::pages
