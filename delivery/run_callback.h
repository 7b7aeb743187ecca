#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "config/config_fwd.h"
#include "domain/notification.h"
#include "store/session.h"

// What a block `outgoing_webhook` tells of the end of its run.
namespace vedette::delivery {

// The run and the block.
using RunBlock = std::pair<base::Uuid, int>;

// The bodies of these notifications, whose JobNotice has a block; a run that cannot be read has
// none. Only the link and its end differ between two calls: a retry after an hour carries a link
// that lives. The rows go along where they have at most [workflows] inline_results_bytes_max as
// JSON. On a pool's thread; throws what the store throws.
std::map<RunBlock, std::string> RunCallbackBodies(
    store::Session& session, const std::vector<domain::Notification>& notifications,
    const config::Config& config, base::Timestamp now);

}  // namespace vedette::delivery
