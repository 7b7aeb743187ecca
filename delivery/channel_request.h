#pragma once

#include <string_view>

#include "net/http_client.h"
#include "store/channels/news.h"

namespace vedette::delivery {

// The headers and the body of an attempt to tell a chat, in its own form (domain/channel/chat.h),
// unsigned, as chats read no signatures. The message is of no other kind than those with a secret
// address. `public_url`: where this service is reached, or empty. Pure.
net::HttpRequest ChatRequest(const store::ChannelMessage& message, std::string_view public_url);

}  // namespace vedette::delivery
