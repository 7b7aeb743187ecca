#include "domain/channel/channel.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

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
constexpr std::array kNoticeKinds{"balance"sv,         "spend_limit"sv,   "receiver_failing"sv,
                                  "monitor_failing"sv, "run_completed"sv, "run_failed"sv,
                                  "run_skipped"sv};
constexpr std::array kStatuses{"active"sv, "unconfirmed"sv, "suspended"sv};

}  // namespace

std::string_view ChannelKindName(ChannelKind kind) {
  return NameIn(kKinds, kind);
}

std::optional<ChannelKind> ParseChannelKind(std::string_view name) {
  return FindIn<ChannelKind>(kKinds, name);
}

std::string ChannelKindNames() {
  std::string text;
  for (std::size_t i = 0; i < kKinds.size(); ++i) {
    if (i > 0) text += i + 1 == kKinds.size() ? " or " : ", ";
    text.append("'").append(kKinds[i]).append("'");
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

std::string_view NoticeKindName(NoticeKind kind) {
  return NameIn(kNoticeKinds, kind);
}

std::string NoticeText(const AccountNotice& notice) {
  switch (notice.kind) {
    case NoticeKind::kBalance:
      return "The balance has run out: checks and jobs wait for credits";
    case NoticeKind::kSpendLimit:
      return fmt::format("The team {} has reached its spend limit of this month", notice.subject);
    case NoticeKind::kReceiverFailing:
      return fmt::format("The receiver {} has failed for 48 hours", notice.subject);
    case NoticeKind::kMonitorFailing:
      return fmt::format("{}: no check has completed for a day", notice.subject);
    case NoticeKind::kRunCompleted:
      return fmt::format("{}: the scheduled run has completed", notice.subject);
    case NoticeKind::kRunFailed:
      return fmt::format("{}: the scheduled run has ended without completing", notice.subject);
    case NoticeKind::kRunSkipped:
      break;
  }
  return fmt::format("{}: a run was skipped", notice.subject);
}

namespace {

// The members in front of `events`, without the end of the object.
std::string WebhookHead(const ChannelNews& news) {
  if (news.digest) {
    return fmt::format(
        R"({{"type":"channel.digest","event_group_id":"{}","created_at":"{}","notifications":{},)"
        R"("channel_id":"{}")",
        news.event_group_id.ToString(), base::FormatTimestamp(news.created_at),
        news.digest->notifications, news.channel_id.ToString());
  }
  if (news.notice) {
    return fmt::format(
        R"({{"type":"account.notice","event_group_id":"{}","created_at":"{}","notice":"{}",)"
        R"("about":"{}","message":{},"channel_id":"{}")",
        news.event_group_id.ToString(), base::FormatTimestamp(news.created_at),
        NoticeKindName(news.notice->kind), news.notice->about.ToString(),
        base::DumpJson(base::Json(NoticeText(*news.notice))), news.channel_id.ToString());
  }
  Notification n;
  n.event_group_id = news.event_group_id;
  n.type = news.type;
  n.created_at = news.created_at;
  n.about = CheckNotice{news.monitor_id, news.row_id, news.metadata_json};
  std::string body = NotificationBody(n);
  body.pop_back();
  body += R"(,"channel_id":")" + news.channel_id.ToString() + R"(","monitor_name":)";
  body += news.monitor_name ? base::DumpJson(base::Json(*news.monitor_name)) : "null";
  return body;
}

}  // namespace

std::string ChannelWebhookBody(const ChannelNews& news, std::size_t bytes_max) {
  std::string body = WebhookHead(news);
  if (!news.include_values || news.notice) return body + "}";
  std::string events = "[";
  for (const Event& event : news.events) {
    if (events.size() > 1) events += ',';
    events += EventJson(event);
    if (body.size() + events.size() >= bytes_max) return body + R"(,"events":null})";
  }
  return body + R"(,"events":)" + events + "]}";
}

}  // namespace vedette::domain
