#include "domain/channel/channel.h"

#include <algorithm>
#include <array>

#include "base/json.h"
#include "domain/job/webhook.h"
#include "domain/monitor/monitor_json.h"
#include "domain/text/name_table.h"

namespace vedette::domain {
namespace {

using namespace std::string_view_literals;
// A table's index is the enumeration's number.
constexpr std::array kKinds{"webhook"sv, "email"sv,   "slack"sv, "teams"sv,
                            "discord"sv, "apprise"sv, "feed"sv};
constexpr std::array kStatuses{"active"sv, "unconfirmed"sv, "suspended"sv};
constexpr std::array kServed{ChannelKind::kWebhook, ChannelKind::kSlack,   ChannelKind::kTeams,
                             ChannelKind::kDiscord, ChannelKind::kApprise, ChannelKind::kFeed};

}  // namespace

std::string_view ChannelKindName(ChannelKind kind) {
  return NameIn(kKinds, kind);
}

std::optional<ChannelKind> ParseChannelKind(std::string_view name) {
  const auto kind = FindIn<ChannelKind>(kKinds, name);
  for (const ChannelKind served : kServed) {
    if (kind == served) return kind;
  }
  return std::nullopt;
}

std::string ChannelKindNames() {
  std::string text;
  for (std::size_t i = 0; i < kServed.size(); ++i) {
    if (i > 0) text += i + 1 == kServed.size() ? " or " : ", ";
    text.append("'").append(ChannelKindName(kServed[i])).append("'");
  }
  return text;
}

std::string ShownUrl(std::string_view scheme, std::string_view host, std::string_view url) {
  constexpr std::size_t kShownChars = 4;
  std::string shown(scheme);
  shown.append("://").append(host).append("/...");
  return shown.append(url.substr(url.size() - std::min(url.size(), kShownChars)));
}

std::string_view ChannelStatusName(ChannelStatus status) {
  return NameIn(kStatuses, status);
}

std::string ChannelWebhookBody(const ChannelNews& news, std::size_t bytes_max) {
  Notification n;
  n.event_group_id = news.event_group_id;
  n.type = news.type;
  n.created_at = news.created_at;
  n.about = CheckNotice{news.monitor_id, news.row_id, news.metadata_json};
  std::string body = NotificationBody(n);
  body.pop_back();
  body += R"(,"channel_id":")" + news.channel_id.ToString() + R"(","monitor_name":)";
  body += news.monitor_name ? base::DumpJson(base::Json(*news.monitor_name)) : "null";
  if (!news.include_values) return body + "}";
  std::string events = "[";
  for (const Event& event : news.events) {
    if (events.size() > 1) events += ',';
    events += EventJson(event);
    if (body.size() + events.size() >= bytes_max) return body + R"(,"events":null})";
  }
  return body + R"(,"events":)" + events + "]}";
}

}  // namespace vedette::domain
