#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/uuid.h"
#include "config/config_fwd.h"
#include "domain/channel/channel.h"
#include "domain/channel/mail.h"
#include "domain/job/webhook.h"
#include "domain/monitor/monitor.h"
#include "store/session.h"

namespace vedette::store {

class Columns;  // store/sql.h; only store/ has any

// What an attempt to tell a channel needs. Holds a secret address, or a person's: do not log it.
struct ChannelMessage {
  domain::ChannelKind kind = domain::ChannelKind::kWebhook;
  std::optional<std::string> url;  // empty where it cannot be opened with any configured key
  std::optional<std::string> tag;
  std::optional<base::Uuid> endpoint_id;
  std::string channel_name;
  bool is_paused = false;
  // Kind email alone: the recipient of the delivery, and of a test the first one who is told.
  std::optional<domain::MailAddress> recipient;
  domain::ChannelNews news;
};

// What the channels of these notifications tell now, by delivery; each has a channel (CheckNotice).
// One whose channel was deleted has no entry. Throws as InTransaction (store/session.h).
std::map<base::Uuid, ChannelMessage> ReadChannelMessages(
    Session& session, const std::vector<domain::Notification>& notifications,
    const config::SecurityConfig& security);

// Internal to store/channels/: an event as channels tell it. Reads monitor_id, row_id and
// :event_columns, which come last.
domain::Event ReadTold(Columns& in);

}  // namespace vedette::store
