#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/kit/body.h"

namespace vedette::api {

// A member with the ids of documents: at most kExcludedIdsMax, of 1 to kDocumentIdCharsMax
// characters each; a required one has at least one. What is wrong becomes a problem. Pure.
std::vector<std::string> ReadExcludedIds(rest::BodyReader* reader, std::string_view name,
                                         rest::Presence presence, rest::Problems* problems);

}  // namespace vedette::api
