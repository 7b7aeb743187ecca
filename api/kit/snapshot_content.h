#pragma once

#include <optional>
#include <string>

#include "api/kit/reply.h"
#include "store/monitors/rows.h"

namespace vedette::rest {

// What a snapshot says, or its picture, as it is stored; a refusal (404) where there is none. It is
// a stranger's, and no browser may take it for anything else. Pure.
Reply SnapshotReply(std::optional<std::string> content, store::SnapshotPart part);

}  // namespace vedette::rest
