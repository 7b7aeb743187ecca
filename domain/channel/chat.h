#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/channel/channel.h"

// What chats show of a notification, in the form that each of them takes at its incoming webhook.
// Texts of pages and users are shown as they are: nothing in them is markup or a mention. Pure.
namespace vedette::domain {

// The limits of all the chats' forms are above these. Texts are counted in UTF-16 units, as chats
// do, and what is longer is cut.
inline constexpr std::size_t kChatTitleUnits = 100;
inline constexpr std::size_t kChatFieldUnits = 100;
inline constexpr std::size_t kChatValueUnits = 200;
inline constexpr std::size_t kChatUnits = 2000;  // of all changes of a message together
inline constexpr std::size_t kChatChangesMax = 20;

// A change or an error of the check.
struct ChatLine {
  std::string field;  // empty of an error
  std::string text;   // "1 → 2", or the error
};

// The text as it may be shown: with its control characters as spaces, without marks of direction,
// and cut.
std::string ChatText(std::string_view text, std::size_t units_max);
ChatLine ChatLineOf(const Event& event);
// The n-th event of the news; in a digest, behind its monitor and row.
ChatLine ChatLineOf(const ChannelNews& news, std::size_t n);
// A row by the values of its key columns, as JSON; empty where there are none.
std::string RowLabel(const std::optional<std::string>& subject_json);

struct ChatMessage {
  std::string title;
  NotificationType type = NotificationType::kChanged;
  std::vector<ChatLine> lines;  // at most kChatChangesMax
  std::size_t left_out = 0;     // lines that are not shown
  std::optional<std::string> link;
  base::Timestamp created_at{};
};

// `monitors_url`: MonitorsUrl (domain/auth/cell.h); empty: there is no link to the row.
ChatMessage ChatMessageOf(const ChannelNews& news, std::string_view monitors_url);

std::string SlackBody(const ChatMessage& message);    // Block Kit
std::string TeamsBody(const ChatMessage& message);    // an Adaptive Card
std::string DiscordBody(const ChatMessage& message);  // an embed
// For the Apprise API: title, body, type and, if given, the tag of whom to tell.
std::string AppriseBody(const ChatMessage& message, const std::optional<std::string>& tag);

// The text as XML and HTML have it, between tags or in a quoted attribute. Control characters are
// taken out before (ChatText); the two code points that no XML may hold become U+FFFD. Pure.
std::string EscapeMarkup(std::string_view text);

}  // namespace vedette::domain
