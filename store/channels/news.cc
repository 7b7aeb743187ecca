#include "store/channels/news.h"

#include <utility>

#include "store/channels/told_event.h"
#include "store/sealed.h"
#include "store/sql.h"

namespace vedette::store {
namespace {

const domain::CheckNotice& NoticeOf(const domain::Notification& n) {
  return std::get<domain::CheckNotice>(n.about);
}

// Reads a row of channel_news behind its delivery.
ChannelMessage ReadMessage(Columns& in, const domain::Notification& n,
                           const std::vector<NamedKey>& keys) {
  ChannelMessage message;
  domain::ChannelNews& news = message.news;
  base::Uuid org_id;
  std::optional<std::string> sealed, key_id;
  in.Into("channel_id"_a = &news.channel_id, "org_id"_a = &org_id, "kind"_a = &message.kind,
          "url"_a = &message.url, "sealed_url"_a = OptionalBytesInto{&sealed},
          "sealed_url_key_id"_a = &key_id, "tag"_a = &message.tag,
          "endpoint_id"_a = &message.endpoint_id, "include_values"_a = &news.include_values,
          "monitor_name"_a = &news.monitor_name, "metadata"_a = &news.metadata_json,
          "subject"_a = &news.subject_json);
  if (sealed) {
    message.url =
        OpenSealed(keys, {std::move(*sealed), key_id.value_or("")}, ChannelUrlBinding(org_id));
  }
  news.type = n.type;
  news.event_group_id = n.event_group_id;
  news.monitor_id = NoticeOf(n).monitor_id;
  news.row_id = NoticeOf(n).row_id;
  news.created_at = n.created_at;
  return message;
}

}  // namespace

std::map<base::Uuid, ChannelMessage> ReadChannelMessages(
    Session& session, const std::vector<domain::Notification>& notifications,
    const config::SecurityConfig& security) {
  const auto keys = NamedKeys(security);
  return InTransaction(session, [&](Transaction& tx) {
    Rows<Column<"delivery_id", base::Uuid>, Column<"channel_id", base::Uuid>,
         Column<"monitor_id", base::Uuid>, Column<"row_id", base::Uuid>>
        asked;
    Rows<Column<"delivery_id", base::Uuid>, Column<"monitor_id", base::Uuid>,
         Column<"row_id", base::Uuid>, Column<"event_group_id", base::Uuid>>
        checks;
    std::map<base::Uuid, const domain::Notification*> by_delivery;
    for (const domain::Notification& n : notifications) {
      const domain::CheckNotice& notice = NoticeOf(n);
      asked.Add(n.delivery_id, notice.channel_id.value(), notice.monitor_id, notice.row_id);
      checks.Add(n.delivery_id, notice.monitor_id, notice.row_id, n.event_group_id);
      by_delivery.emplace(n.delivery_id, &n);
    }
    std::map<base::Uuid, ChannelMessage> messages;
    for (const auto& row : tx.Exec<"channel_news">(asked)) {
      Columns in(row);
      base::Uuid delivery_id;
      in.Into("delivery_id"_a = &delivery_id);
      messages.emplace(delivery_id, ReadMessage(in, *by_delivery.at(delivery_id), keys));
    }
    for (const auto& row : tx.Exec<"channel_events">(checks, "limit"_a = domain::kNewsEventsMax)) {
      Columns in(row);
      base::Uuid delivery_id;
      in.Into("delivery_id"_a = &delivery_id);
      const auto message = messages.find(delivery_id);
      if (message != messages.end()) message->second.news.events.push_back(ReadTold(in));
    }
    return messages;
  });
}

}  // namespace vedette::store
