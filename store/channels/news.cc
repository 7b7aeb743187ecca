#include "store/channels/news.h"

#include <utility>

#include "domain/channel/chat.h"
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
  std::optional<base::Uuid> recipient_id;
  std::optional<domain::MailStatus> recipient_status;
  std::string address;
  in.Into("channel_id"_a = &news.channel_id, "org_id"_a = &org_id, "kind"_a = &message.kind,
          "url"_a = &message.url, "sealed_url"_a = OptionalBytesInto{&sealed},
          "sealed_url_key_id"_a = &key_id, "tag"_a = &message.tag,
          "endpoint_id"_a = &message.endpoint_id, "include_values"_a = &news.include_values,
          "channel_name"_a = &message.channel_name, "is_paused"_a = &message.is_paused,
          "recipient_id"_a = &recipient_id, "address"_a = &address,
          "recipient_status"_a = &recipient_status, "monitor_name"_a = &news.monitor_name,
          "metadata"_a = &news.metadata_json, "subject"_a = &news.subject_json);
  if (sealed) {
    message.url =
        OpenSealed(keys, {std::move(*sealed), key_id.value_or("")}, ChannelUrlBinding(org_id));
  }
  if (recipient_id) {
    message.recipient.emplace(
        domain::MailAddress{*recipient_id, std::move(address), recipient_status.value(), {}});
  }
  news.type = n.type;
  news.event_group_id = n.event_group_id;
  news.monitor_id = NoticeOf(n).monitor_id;
  news.row_id = NoticeOf(n).row_id;
  news.created_at = n.created_at;
  return message;
}

// What digests tell, for the messages that have been read.
void ReadDigests(Transaction& tx, const std::vector<domain::Notification>& notifications,
                 std::map<base::Uuid, ChannelMessage>* messages) {
  Rows<Column<"delivery_id", base::Uuid>, Column<"digest_id", base::Uuid>> asked;
  std::vector<base::Uuid> ids;
  for (const domain::Notification& n : notifications) {
    if (!domain::IsDigest(n) || !messages->contains(n.delivery_id)) continue;
    asked.Add(n.delivery_id, n.event_group_id);
    ids.push_back(n.event_group_id);
  }
  if (ids.empty()) return;
  std::map<base::Uuid, int> counts;
  for (const auto& row : tx.Exec<"digest_counts">("digest_ids"_a = ids)) {
    base::Uuid id;
    int count = 0;
    Columns(row).Into("digest_id"_a = &id, "notifications"_a = &count);
    counts.emplace(id, count);
  }
  for (const domain::Notification& n : notifications) {
    const auto message = messages->find(n.delivery_id);
    if (!domain::IsDigest(n) || message == messages->end()) continue;
    message->second.news.digest.emplace(
        domain::DigestNews{message->second.channel_name, counts[n.event_group_id], {}});
  }
  for (const auto& row : tx.Exec<"digest_events">(asked, "limit"_a = domain::kNewsEventsMax)) {
    base::Uuid delivery_id;
    std::optional<std::string> monitor_name, subject;
    Columns in(row);
    in.Into("delivery_id"_a = &delivery_id, "monitor_name"_a = &monitor_name,
            "subject"_a = &subject);
    domain::ChannelNews& news = messages->at(delivery_id).news;
    const std::string row_label = domain::RowLabel(subject);
    news.digest->labels.push_back(monitor_name.value_or("A monitor") +
                                  (row_label.empty() ? "" : ", " + row_label));
    news.events.push_back(ReadTold(in));
  }
}

// What organisations are told of themselves, likewise.
void ReadNotices(Transaction& tx, const std::vector<domain::Notification>& notifications,
                 std::map<base::Uuid, ChannelMessage>* messages) {
  std::vector<base::Uuid> ids;
  for (const domain::Notification& n : notifications) {
    if (domain::IsAccountNotice(n)) ids.push_back(n.event_group_id);
  }
  if (ids.empty()) return;
  std::map<base::Uuid, domain::AccountNotice> notices;
  for (const auto& row : tx.Exec<"notice_read">("ids"_a = ids)) {
    base::Uuid id;
    domain::AccountNotice notice;
    Columns(row).Into("id"_a = &id, "kind"_a = &notice.kind, "about"_a = &notice.about,
                      "subject"_a = &notice.subject);
    notices.emplace(id, std::move(notice));
  }
  for (const domain::Notification& n : notifications) {
    const auto message = messages->find(n.delivery_id);
    const auto notice = notices.find(n.event_group_id);
    if (!domain::IsAccountNotice(n) || message == messages->end() || notice == notices.end()) {
      continue;
    }
    message->second.news.notice = notice->second;
  }
}

}  // namespace

std::map<base::Uuid, ChannelMessage> ReadChannelMessages(
    Session& session, const std::vector<domain::Notification>& notifications,
    const config::SecurityConfig& security) {
  const auto keys = NamedKeys(security);
  return InTransaction(session, [&](Transaction& tx) {
    Rows<Column<"delivery_id", base::Uuid>, Column<"channel_id", base::Uuid>,
         Column<"monitor_id", base::Uuid>, Column<"row_id", base::Uuid>,
         Column<"recipient_id", std::optional<base::Uuid>>>
        asked;
    Rows<Column<"delivery_id", base::Uuid>, Column<"monitor_id", base::Uuid>,
         Column<"row_id", base::Uuid>, Column<"event_group_id", base::Uuid>>
        checks;
    std::map<base::Uuid, const domain::Notification*> by_delivery;
    for (const domain::Notification& n : notifications) {
      const domain::CheckNotice& notice = NoticeOf(n);
      asked.Add(n.delivery_id, notice.channel_id.value(), notice.monitor_id, notice.row_id,
                notice.recipient_id);
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
    ReadDigests(tx, notifications, &messages);
    ReadNotices(tx, notifications, &messages);
    return messages;
  });
}

domain::Event ReadTold(Columns& in) {
  domain::Event event;
  in.Into("monitor_id"_a = &event.monitor_id, "row_id"_a = &event.row_id, "id"_a = &event.id,
          "event_type"_a = &event.type, "event_group_id"_a = &event.event_group_id,
          "tick_id"_a = &event.tick_id, "field"_a = &event.field,
          "previous_value"_a = &event.previous_value_json,
          "current_value"_a = &event.current_value_json, "message"_a = &event.message,
          "evidence"_a = &event.evidence, "sources"_a = &event.sources_json,
          "confidence"_a = &event.confidence, "created_at"_a = &event.created_at);
  return event;
}

}  // namespace vedette::store
