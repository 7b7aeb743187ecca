#include "domain/channel/feed.h"

#include <fmt/format.h>

#include "base/crypto.h"
#include "domain/channel/chat.h"

namespace vedette::domain {
namespace {

std::string TokenOf(const base::Uuid& channel_id, std::string_view encryption_key) {
  return base::Base64UrlEncode(
      base::HmacSha256(encryption_key, "channel_feed " + channel_id.ToString()));
}

std::string EntryOf(const FeedEvent& told, bool include_values, std::string_view monitors_url) {
  const Event& event = told.event;
  const ChatLine line = ChatLineOf(event);
  const std::string what = event.type == EventType::kError
                               ? std::string("a row could not be checked")
                               : line.field + " changed";
  std::string entry = fmt::format(
      "<entry><id>urn:uuid:{}</id><title>{}</title><updated>{}</updated>", event.id.ToString(),
      EscapeMarkup(ChatText(told.monitor_name, kChatTitleUnits) + ": " + what),
      base::FormatTimestamp(event.created_at));
  if (!monitors_url.empty() && event.monitor_id && event.row_id) {
    entry += fmt::format("<link href=\"{}/{}/rows/{}\"/>", EscapeMarkup(monitors_url),
                         event.monitor_id->ToString(), event.row_id->ToString());
  }
  entry += fmt::format("<content type=\"text\">{}</content></entry>",
                       include_values ? EscapeMarkup(line.text) : std::string());
  return entry;
}

}  // namespace

std::string FeedPath(const base::Uuid& channel_id, std::string_view encryption_key) {
  return fmt::format("/channels/{}/feed.atom?token={}", channel_id.ToString(),
                     TokenOf(channel_id, encryption_key));
}

bool IsFeedToken(const base::Uuid& channel_id, std::string_view token,
                 const std::vector<std::string>& encryption_keys) {
  bool is_one = false;  // every key is tried, whichever made it
  for (const std::string& key : encryption_keys) {
    if (base::ConstantTimeEqual(TokenOf(channel_id, key), token)) is_one = true;
  }
  return is_one;
}

std::string FeedDocument(const Feed& feed, std::string_view monitors_url, std::string_view self) {
  const base::Timestamp updated =
      feed.events.empty() ? feed.created_at : feed.events.front().event.created_at;
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\">"
      "<id>urn:uuid:{}</id><title>{}</title><updated>{}</updated>"
      "<author><name>vedette</name></author><link rel=\"self\" href=\"{}\"/>\n",
      feed.channel_id.ToString(), EscapeMarkup(ChatText(feed.name, kChannelNameCharsMax)),
      base::FormatTimestamp(updated), EscapeMarkup(self));
  for (const FeedEvent& told : feed.events) {
    text += EntryOf(told, feed.include_values, monitors_url) + "\n";
  }
  return text + "</feed>\n";
}

}  // namespace vedette::domain
