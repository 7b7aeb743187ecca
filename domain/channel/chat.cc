#include "domain/channel/chat.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "domain/text/letters.h"

namespace vedette::domain {

using base::Json;

// The text is UTF-8, of which nothing is cut apart.
std::string ChatText(std::string_view text, std::size_t units_max) {
  constexpr std::string_view kCut = "…";
  std::string plain;
  std::size_t units = 0;
  for (std::size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    const std::size_t bytes = c < 0xC0 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
    const std::string_view character = text.substr(i, bytes);
    i += bytes;
    std::uint32_t code = 0;
    base::DecodeUtf8(character, &code);
    if (IsDirectionMark(code)) continue;
    units += bytes == 4 ? 2 : 1;
    if (units > units_max) return plain.append(kCut);
    if (base::IsAsciiControl(character.front())) {
      plain.push_back(' ');
    } else {
      plain.append(character);
    }
  }
  return plain;
}

namespace {

std::size_t Units(std::string_view text) {
  std::size_t units = 0;
  for (const char byte : text) {
    const auto c = static_cast<unsigned char>(byte);
    if (c >= 0xF0) {
      units += 2;
    } else if (c < 0x80 || c >= 0xC0) {
      ++units;
    }
  }
  return units;
}

// A value as people read it: a text without its quotes, nothing as a dash.
std::string ShownValue(const std::optional<std::string>& json) {
  if (!json || *json == "null") return "–";
  Json value;
  const bool is_text = !base::ParseJson(*json, &value, {.keep_numbers = true}) && value.is_string();
  return ChatText(is_text ? value.get_ref<const std::string&>() : *json, kChatValueUnits);
}

}  // namespace

ChatLine ChatLineOf(const Event& event) {
  if (event.type == EventType::kError) {
    return {"", ChatText(event.message.value_or(""), kChatValueUnits)};
  }
  return {ChatText(event.field.value_or(""), kChatFieldUnits),
          ShownValue(event.previous_value_json) + " → " + ShownValue(event.current_value_json)};
}

// The values of the row's key columns.
std::string RowLabel(const std::optional<std::string>& subject_json) {
  Json subject;
  if (!subject_json || base::ParseJson(*subject_json, &subject, {.keep_numbers = true}) ||
      !subject.is_object()) {
    return {};
  }
  std::string label;
  for (const auto& [name, value] : subject.items()) {
    if (value.is_null()) continue;
    if (!label.empty()) label += ", ";
    label += value.is_string() ? value.get_ref<const std::string&>() : base::DumpJson(value);
  }
  return ChatText(label, kChatTitleUnits);
}

ChatLine ChatLineOf(const ChannelNews& news, std::size_t n) {
  ChatLine line = ChatLineOf(news.events.at(n));
  if (!news.digest || n >= news.digest->labels.size()) return line;
  const std::string label = ChatText(news.digest->labels[n], kChatFieldUnits);
  line.field = line.field.empty() ? label : ChatText(label + ", " + line.field, kChatFieldUnits);
  return line;
}

namespace {

std::string_view WhatHappened(NotificationType type) {
  switch (type) {
    case NotificationType::kChanged:
      return "changed";
    case NotificationType::kCompleted:
      return "was checked, nothing to tell";
    case NotificationType::kFailed:
      return "could not be checked";
    default:
      return "";
  }
}

std::string TitleOf(const ChannelNews& news) {
  if (news.type == NotificationType::kTest) return "This is a test of your channel";
  if (news.digest) {
    return fmt::format("{}: {} notification{}",
                       ChatText(news.digest->channel_name, kChatTitleUnits),
                       news.digest->notifications, news.digest->notifications == 1 ? "" : "s");
  }
  if (news.notice) return ChatText(NoticeText(*news.notice), kChatUnits);
  const std::string label = RowLabel(news.subject_json);
  return fmt::format("{}: {} {}",
                     ChatText(news.monitor_name.value_or("A monitor"), kChatTitleUnits),
                     label.empty() ? "a row" : label, WhatHappened(news.type));
}

std::string MoreText(const ChatMessage& message) {
  return fmt::format("and {} more", message.left_out);
}

std::string LineText(const ChatLine& line) {
  return line.field.empty() ? line.text : line.field + ": " + line.text;
}

}  // namespace

ChatMessage ChatMessageOf(const ChannelNews& news, std::string_view monitors_url) {
  ChatMessage message;
  message.title = TitleOf(news);
  message.type = news.type;
  message.created_at = news.created_at;
  if (!monitors_url.empty() && news.type != NotificationType::kTest && !news.digest &&
      !news.notice) {
    message.link = fmt::format("{}/{}/rows/{}", monitors_url, news.monitor_id.ToString(),
                               news.row_id.ToString());
  }
  if (!news.include_values) return message;
  std::size_t units = 0;
  for (std::size_t n = 0; n < news.events.size(); ++n) {
    ChatLine line = ChatLineOf(news, n);
    units += Units(line.field) + Units(line.text);
    if (message.lines.size() == kChatChangesMax || units > kChatUnits) break;
    message.lines.push_back(std::move(line));
  }
  message.left_out = news.events.size() - message.lines.size();
  return message;
}

namespace {

// Slack reads these three characters as the beginning or the end of a mention, a link or an entity.
std::string ForSlack(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '&') {
      escaped += "&amp;";
    } else if (c == '<') {
      escaped += "&lt;";
    } else if (c == '>') {
      escaped += "&gt;";
    } else {
      escaped.push_back(c);
    }
  }
  return escaped;
}

// In such a text Slack knows neither markup nor mentions.
Json SlackText(std::string_view text) {
  return {{"type", "plain_text"}, {"text", ForSlack(text)}, {"emoji", false}};
}

Json SlackSection(const Json& text) {
  return {{"type", "section"}, {"text", text}};
}

}  // namespace

std::string SlackBody(const ChatMessage& message) {
  Json blocks = Json::array({SlackSection(SlackText(message.title))});
  for (const ChatLine& line : message.lines) {
    blocks.push_back(SlackSection(SlackText(LineText(line))));
  }
  if (message.left_out > 0) blocks.push_back(SlackSection(SlackText(MoreText(message))));
  if (message.link) {
    blocks.push_back(
        SlackSection({{"type", "mrkdwn"}, {"text", "<" + *message.link + "|Open the row>"}}));
  }
  // `text` is what a notification of the chat shows, where blocks are not.
  return base::DumpJson({{"text", ForSlack(message.title)},
                         {"mrkdwn", false},
                         {"unfurl_links", false},
                         {"blocks", std::move(blocks)}});
}

namespace {

// Teams reads markup in text blocks, and none in the runs of a rich one.
Json TeamsText(const Json& runs) {
  return {{"type", "RichTextBlock"}, {"inlines", runs}};
}

Json TeamsRun(std::string_view text, bool bold) {
  Json run{{"type", "TextRun"}, {"text", text}};
  if (bold) run["weight"] = "Bolder";
  return run;
}

}  // namespace

std::string TeamsBody(const ChatMessage& message) {
  Json body = Json::array({TeamsText(Json::array({TeamsRun(message.title, true)}))});
  for (const ChatLine& line : message.lines) {
    Json runs = Json::array();
    if (!line.field.empty()) runs.push_back(TeamsRun(line.field + ": ", true));
    runs.push_back(TeamsRun(line.text, false));
    body.push_back(TeamsText(runs));
  }
  if (message.left_out > 0) {
    body.push_back(TeamsText(Json::array({TeamsRun(MoreText(message), false)})));
  }
  Json card{{"$schema", "http://adaptivecards.io/schemas/adaptive-card.json"},
            {"type", "AdaptiveCard"},
            {"version", "1.4"},
            {"body", std::move(body)}};
  if (message.link) {
    card["actions"] = Json::array(
        {{{"type", "Action.OpenUrl"}, {"title", "Open the row"}, {"url", *message.link}}});
  }
  Json attachment{{"contentType", "application/vnd.microsoft.card.adaptive"},
                  {"contentUrl", nullptr},
                  {"content", std::move(card)}};
  return base::DumpJson(
      {{"type", "message"}, {"attachments", Json::array({std::move(attachment)})}});
}

namespace {

// Discord takes a backslash before any mark of punctuation that would be markup or a mention.
std::string ForDiscord(std::string_view text) {
  constexpr std::string_view kMarks = "\\*_~`|<>[]()#@:-";
  std::string escaped;
  for (const char c : text) {
    if (kMarks.find(c) != std::string_view::npos) escaped.push_back('\\');
    escaped.push_back(c);
  }
  return escaped;
}

// Whether a person sees anything of it: no white space, and nothing that has no width.
bool IsSeen(std::string_view text) {
  const std::string folded = base::FoldSpace(text);
  for (std::string_view rest = folded; !rest.empty();) {
    std::uint32_t c = 0;
    const std::size_t length = std::max<std::size_t>(base::DecodeUtf8(rest, &c), 1);
    const bool has_no_width = c == ' ' || (c >= 0x200B && c <= 0x200F) ||
                              (c >= 0x202A && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) ||
                              c == 0xFEFF;
    if (!has_no_width) return true;
    rest.remove_prefix(length);
  }
  return false;
}

// Discord refuses a field whose name or value has nothing but white space.
std::string DiscordField(std::string_view text) {
  return IsSeen(text) ? ForDiscord(text) : "–";
}

int DiscordColour(NotificationType type) {
  constexpr int kRed = 0xC0392B;
  constexpr int kBlue = 0x2E6DA4;
  return type == NotificationType::kFailed ? kRed : kBlue;
}

}  // namespace

std::string DiscordBody(const ChatMessage& message) {
  Json embed{{"description", "**" + ForDiscord(message.title) + "**"},
             {"color", DiscordColour(message.type)},
             {"timestamp", base::FormatTimestamp(message.created_at)}};
  if (message.link) {
    embed["title"] = "Open the row";
    embed["url"] = *message.link;
  }
  Json fields = Json::array();
  for (const ChatLine& line : message.lines) {
    fields.push_back({{"name", line.field.empty() ? "Error" : DiscordField(line.field)},
                      {"value", DiscordField(line.text)}});
  }
  if (!fields.empty()) embed["fields"] = std::move(fields);
  if (message.left_out > 0) embed["footer"] = {{"text", MoreText(message)}};
  return base::DumpJson({{"embeds", Json::array({std::move(embed)})},
                         {"allowed_mentions", {{"parse", Json::array()}}}});
}

std::string AppriseBody(const ChatMessage& message, const std::optional<std::string>& tag) {
  std::string text;
  for (const ChatLine& line : message.lines) text += LineText(line) + "\n";
  if (message.left_out > 0) text += MoreText(message) + "\n";
  if (message.link) text += *message.link + "\n";
  if (text.empty()) text = message.title;
  Json body{{"title", message.title},
            {"body", text},
            {"type", message.type == NotificationType::kFailed ? "failure" : "info"},
            {"format", "text"}};
  if (tag) body["tag"] = *tag;
  return base::DumpJson(body);
}

std::string EscapeMarkup(std::string_view text) {
  std::string escaped;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = text.substr(i);
    if (rest.starts_with("\xEF\xBF\xBE") || rest.starts_with("\xEF\xBF\xBF")) {
      escaped += base::kReplacementCharacter;
      i += 2;
    } else if (text[i] == '&') {
      escaped += "&amp;";
    } else if (text[i] == '<') {
      escaped += "&lt;";
    } else if (text[i] == '>') {
      escaped += "&gt;";
    } else if (text[i] == '"') {
      escaped += "&quot;";
    } else {
      escaped.push_back(text[i]);
    }
  }
  return escaped;
}

}  // namespace vedette::domain
