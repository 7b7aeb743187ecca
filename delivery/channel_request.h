#pragma once

#include <optional>
#include <string_view>

#include "base/clock.h"
#include "config/config_fwd.h"
#include "domain/job/webhook.h"
#include "net/http_client.h"
#include "net/mail_client.h"
#include "store/channels/news.h"

namespace vedette::delivery {

// The headers and the body of an attempt to tell a chat, in its own form (domain/channel/chat.h),
// unsigned, as chats read no signatures. The message is of no other kind than those with a secret
// address. `public_url`: where this service is reached, or empty. Pure.
net::HttpRequest ChatRequest(const store::ChannelMessage& message, std::string_view public_url);

// The e-mail of an attempt: the question to the owner of an address that is not confirmed, or what
// the notification tells. Nothing where the recipient is not to get it any more, or is not there.
// Pure.
std::optional<net::OutgoingMail> MailRequest(const store::ChannelMessage& message,
                                             const domain::Notification& notification,
                                             const config::Config& config, base::Timestamp now);

}  // namespace vedette::delivery
