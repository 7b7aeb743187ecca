#pragma once

#include <vector>

#include "api/kit/body.h"
#include "api/tenant/call.h"
#include "base/uuid.h"

namespace vedette::api {

// The ids in a body's `channel_ids`, each once; none where it is null or absent.
std::vector<base::Uuid> ReadChannelIds(rest::BodyReader* reader, rest::Problems* problems);

// Refuses with a 404 where one of them is no channel of the organisation.
void CheckChannels(const Call& call, const std::vector<base::Uuid>& ids);

}  // namespace vedette::api
