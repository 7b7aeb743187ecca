#include "delivery/channel_request.h"

#include <string>

#include "config/config.h"
#include "domain/auth/cell.h"
#include "domain/channel/chat.h"
#include "domain/channel/mail.h"

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

std::optional<net::OutgoingMail> MailRequest(const store::ChannelMessage& message,
                                             const domain::Notification& notification,
                                             const config::Config& config, base::Timestamp now) {
  using domain::MailLink;
  using domain::MailStatus;
  // A test that a client asks for has no receiver; the question is a test that has one.
  const bool asks =
      notification.type == domain::NotificationType::kTest && !notification.endpoint_id.is_nil();
  const auto wanted = asks ? MailStatus::kUnconfirmed : MailStatus::kConfirmed;
  const auto& recipient = message.recipient;
  if (!recipient || recipient->status != wanted || recipient->address.empty()) return std::nullopt;
  const auto link = [&](MailLink use) {
    return config.public_url +
           domain::MailLinkPath(recipient->id, use, config.security.encryption_key) +
           domain::CellQuery(config.cell.id);
  };
  const domain::MailEnvelope envelope{config.mail.from, recipient->address,
                                      notification.delivery_id, now, message.channel_name};
  net::OutgoingMail mail;
  mail.from = envelope.from;
  mail.to = envelope.to;
  mail.timeout = config.delivery.timeout_ms;
  mail.message = asks ? domain::ConfirmationMail(envelope, link(MailLink::kConfirm),
                                                 link(MailLink::kUnsubscribe))
                      : domain::NewsMail(envelope, message.news, config.public_url,
                                         link(MailLink::kUnsubscribe));
  return mail;
}

}  // namespace vedette::delivery
