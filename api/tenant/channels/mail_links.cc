#include <utility>

#include "api/kit/query_reader.h"
#include "api/tenant/handlers.h"
#include "config/parts.h"
#include "config/security_config.h"
#include "domain/channel/mail.h"
#include "store/channels/recipients.h"

// The links of e-mail. Who has one is the owner of the address, and shows nothing else.
namespace vedette::api {
namespace {

using domain::MailLink;

// The token is in the address of the page, which nobody is to be told.
rest::Reply Page(std::string_view title, std::string_view text, bool has_button = false,
                 int status = 200) {
  return rest::Reply{status,
                     domain::MailPage(title, text, has_button),
                     {{"Content-Type", "text/html; charset=utf-8"},
                      {"Cache-Control", "no-store"},
                      {"Referrer-Policy", "no-referrer"}}};
}

rest::Reply NoLink() {
  return Page(
      "This link does not work",
      "A part of it is missing, or it is not good any more. Open it in the message again, or "
      "copy all of it.",
      false, 404);
}

struct Opened {
  base::Uuid id;
  MailLink link{};
};

std::optional<Opened> Open(const Call& call) {
  const auto& security = call.parts.config.security;
  std::vector<std::string> keys = security.encryption_keys_old;
  keys.insert(keys.begin(), security.encryption_key);
  rest::Problems problems;
  const rest::QueryReader query(call.request().query, &problems);
  const auto id = base::Uuid::Parse(call.params.at(0));
  if (!id) return std::nullopt;
  const auto link = domain::ReadMailLink(*id, query.Text("token").value_or(""), keys);
  if (!link) return std::nullopt;
  return Opened{*id, *link};
}

rest::Reply Confirm(Call& call, const base::Uuid& id) {
  if (!store::ConfirmRecipient(call.session(), id)) {
    return Page("Not confirmed", "This address is not asked any more, or was taken off before.");
  }
  return Page("Confirmed", "From now on you are told what the channel tells.");
}

}  // namespace

// Programs that look through mail open its links: one to leave does so by its button alone.
rest::Handled OpenMailLink(Call& call) {
  const auto opened = Open(call);
  if (!opened) return NoLink();
  if (opened->link == MailLink::kConfirm) return Confirm(call, opened->id);
  store::CheckRecipientIsHere(call.session(), opened->id);
  return Page("Unsubscribe", "You will not be told anything any more.", true);
}

// The button, and programs that unsubscribe with one click (RFC 8058), whose body says nothing new.
rest::Handled FollowMailLink(Call& call) {
  const auto opened = Open(call);
  if (!opened) return NoLink();
  if (opened->link == MailLink::kConfirm) return Confirm(call, opened->id);
  if (!store::UnsubscribeRecipient(call.session(), opened->id)) return NoLink();
  return Page("Unsubscribed", "You are not told anything any more.");
}

}  // namespace vedette::api
