#include "delivery/channel_request.h"

#include <string>

#include "domain/channel/chat.h"

namespace vedette::delivery {
namespace {

std::string BodyFor(const store::ChannelMessage& message, std::string_view public_url) {
  const domain::ChatMessage shown = domain::ChatMessageOf(message.news, public_url);
  switch (message.kind) {
    case domain::ChannelKind::kSlack:
      return domain::SlackBody(shown);
    case domain::ChannelKind::kTeams:
      return domain::TeamsBody(shown);
    case domain::ChannelKind::kDiscord:
      return domain::DiscordBody(shown);
    default:
      break;
  }
  return domain::AppriseBody(shown, message.tag);
}

}  // namespace

net::HttpRequest ChatRequest(const store::ChannelMessage& message, std::string_view public_url) {
  net::HttpRequest request;
  request.headers = {{"Content-Type", "application/json"},
                     {"User-Agent", "vedette/" VEDETTE_VERSION}};
  request.body = BodyFor(message, public_url);
  return request;
}

}  // namespace vedette::delivery
