#include "store/channels/channels.h"

#include <utility>
#include <variant>

#include "domain/channel/digest.h"
#include "store/channels/digests.h"
#include "store/channels/news.h"
#include "store/channels/recipients.h"
#include "store/endpoint_sql.h"
#include "store/place.h"
#include "store/sql.h"

namespace vedette::store {
namespace {

// Reads :channel_columns.
Channel ReadChannel(const pqxx::row& row) {
  Channel channel;
  std::optional<std::string> shown_url;
  Columns(row).Into("id"_a = &channel.id, "team_id"_a = &channel.team_id, "name"_a = &channel.name,
                    "kind"_a = &channel.kind, "shown_url"_a = &shown_url, "tag"_a = &channel.tag,
                    "events"_a = &channel.events, "digest"_a = &channel.digest,
                    "include_values"_a = &channel.include_values, "locale"_a = &channel.locale,
                    "status"_a = &channel.status, "status_reason"_a = &channel.status_reason,
                    "created_at"_a = &channel.created_at);
  channel.shown_url = std::move(shown_url).value_or("");
  return channel;
}

std::optional<Channel> FirstChannel(const pqxx::result& rows) {
  if (rows.empty()) return std::nullopt;
  return ReadChannel(rows[0]);
}

// The columns of an address; all are null where there is none.
struct UrlColumns {
  std::optional<std::string> url, sealed, key_id, shown;
  std::optional<base::Uuid> endpoint_id;
};

UrlColumns ColumnsOf(Transaction& tx, const base::Clock& clock, const base::Uuid& org_id,
                     const ChannelUrl& url) {
  UrlColumns columns;
  columns.endpoint_id = EnsureEndpoint(tx, clock, org_id, url.webhook.endpoint);
  columns.shown = url.shown;
  if (url.sealed) {
    columns.sealed = Bytea(url.sealed->bytes);
    columns.key_id = url.sealed->key_id;
  } else {
    columns.url = url.webhook.url;
  }
  return columns;
}

// Those that a channel has of the given addresses, or nothing where none are given.
std::optional<std::vector<base::Uuid>> RecipientsOf(
    Transaction& tx, const base::Clock& clock, const base::Uuid& org_id,
    const std::optional<std::vector<std::string>>& addresses) {
  if (!addresses) return std::nullopt;
  return EnsureRecipients(tx, clock, org_id, *addresses);
}

// When a new channel's digest is cut first; nothing where it is told at once.
std::optional<base::Timestamp> FirstCut(const std::string& digest, base::Timestamp now) {
  const auto read = domain::Digest::Read(digest);
  const auto* readable = std::get_if<domain::Digest>(&read);
  return readable != nullptr ? std::optional(readable->NextAfter(now)) : std::nullopt;
}

// The same after a change: what waits for a channel that is told at once from now on goes soon.
std::optional<base::Timestamp> NextCutOf(const std::string& digest, base::Timestamp now) {
  return digest == domain::kNoDigest ? now : FirstCut(digest, now);
}

// The relay, as a receiver of the organisation's.
base::Uuid MailEndpoint(Transaction& tx, const base::Clock& clock, const base::Uuid& org_id) {
  constexpr int kPort = 25;
  return EnsureEndpoint(tx, clock, org_id, {"smtp", "relay", kPort, ""});
}

// What waits for a channel that is paused ends with it, and can be replayed. What is being tried
// finds out itself.
void GiveUpWaiting(Transaction& tx, const base::Clock& clock, const base::Uuid& id) {
  CutDigest(tx, clock, id);
  tx.Exec<"channel_give_up">("id"_a = id, "question"_a = domain::NotificationType::kTest,
                             "last_error"_a = domain::kChannelPaused);
}

// What channels of kind email are, once they are read.
void AddRecipients(Session& session, const base::Uuid& org_id, std::vector<Channel*> channels) {
  std::erase_if(channels, [](const Channel* c) { return c->kind != domain::ChannelKind::kEmail; });
  if (channels.empty()) return;
  std::vector<base::Uuid> ids;
  ids.reserve(channels.size());
  for (const Channel* channel : channels) ids.push_back(channel->id);
  auto recipients = ReadRecipients(session, org_id, ids);
  for (Channel* channel : channels) {
    channel->recipients = std::move(recipients[channel->id]);
    if (channel->status == domain::ChannelStatus::kSuspended) continue;  // paused
    channel->status = domain::StatusOfMail(channel->recipients);
    channel->status_reason = domain::ReasonOfMail(channel->recipients);
  }
}

AuditEntry OfChannel(AuditEntry audit, const base::Uuid& org_id, const base::Uuid& id) {
  audit.org_id = org_id;
  audit.target = id.ToString();
  return audit;
}

}  // namespace

std::optional<Channel> CreateChannel(Session& session, const base::Clock& clock,
                                     const base::Uuid& org_id, const NewChannel& channel,
                                     const AuditEntry& audit) {
  constexpr int kMax = domain::kChannelsMax;
  const base::Uuid id = base::Uuid::V7(clock);
  auto created = InTransaction(session, [&](Transaction& tx) -> std::optional<Channel> {
    tx.Exec<"channel_lock_org">("org_id"_a = org_id);
    if (ReadOne<int>(tx.Exec<"channel_count">("org_id"_a = org_id, "limit"_a = kMax)) >= kMax)
      return std::nullopt;
    UrlColumns url;
    if (channel.url) url = ColumnsOf(tx, clock, org_id, *channel.url);
    const auto recipients = RecipientsOf(tx, clock, org_id, channel.addresses);
    if (recipients) {
      url.endpoint_id = MailEndpoint(tx, clock, org_id);
      url.shown = std::string(kMailUrl);
    }
    auto made = FirstChannel(tx.Exec<"channel_insert">(
        "id"_a = id, "org_id"_a = org_id, "team_id"_a = channel.team_id, "name"_a = channel.name,
        "kind"_a = channel.kind, "url"_a = url.url, "sealed_url"_a = url.sealed,
        "sealed_url_key_id"_a = url.key_id, "shown_url"_a = url.shown, "tag"_a = channel.tag,
        "endpoint_id"_a = url.endpoint_id, "events"_a = channel.events, "digest"_a = channel.digest,
        "include_values"_a = channel.include_values, "locale"_a = channel.locale,
        "recipient_ids"_a = recipients, "digest_at"_a = FirstCut(channel.digest, clock.Now())));
    if (recipients) AskRecipients(tx, clock, org_id, id, *url.endpoint_id, *recipients);
    InsertAudit(tx, clock, OfChannel(audit, org_id, id));
    return made;
  });
  if (created) AddRecipients(session, org_id, {&*created});
  return created;
}

std::vector<Channel> ListChannels(Session& session, const Scope& scope,
                                  const std::optional<base::Uuid>& before, int limit) {
  auto page = Read(session, [&](Transaction& tx) {
    std::vector<Channel> channels;
    for (const auto& row : tx.Exec<"channel_list">("org_id"_a = scope.org_id,
                           "team_id"_a = scope.team_id, "before"_a = before, "limit"_a = limit)) {
      channels.push_back(ReadChannel(row));
    }
    return channels;
  });
  std::vector<Channel*> all;
  for (Channel& channel : page) all.push_back(&channel);
  if (scope.org_id) AddRecipients(session, *scope.org_id, std::move(all));
  return page;
}

std::optional<Channel> GetChannel(Session& session, const Scope& scope, const base::Uuid& id) {
  auto found = Read(session, [&](Transaction& tx) {
    return FirstChannel(tx.Exec<"channel_get">("id"_a = id, "org_id"_a = scope.org_id,
                                               "team_id"_a = scope.team_id));
  });
  if (found) AddRecipients(session, *scope.org_id, {&*found});
  return found;
}

std::optional<Channel> UpdateChannel(Session& session, const base::Clock& clock,
                                     const base::Uuid& org_id, const base::Uuid& id,
                                     const ChannelChange& change, const AuditEntry& audit) {
  auto updated = InTransaction(session, [&](Transaction& tx) {
    UrlColumns url;
    if (change.url) url = ColumnsOf(tx, clock, org_id, *change.url);
    if (change.addresses) tx.Exec<"channel_lock_org">("org_id"_a = org_id);
    const auto recipients = RecipientsOf(tx, clock, org_id, change.addresses);
    auto changed = FirstChannel(tx.Exec<"channel_update">(
        "id"_a = id, "org_id"_a = org_id, "name"_a = change.name, "events"_a = change.events,
        "include_values"_a = change.include_values, "locale"_a = change.locale,
        "digest"_a = change.digest, "tag"_a = change.tag, "sets_url"_a = change.url.has_value(),
        "url"_a = url.url, "sealed_url"_a = url.sealed, "sealed_url_key_id"_a = url.key_id,
        "shown_url"_a = url.shown, "endpoint_id"_a = url.endpoint_id,
        "recipient_ids"_a = recipients, "is_active"_a = change.is_active,
        "digest_at"_a = change.digest ? NextCutOf(*change.digest, clock.Now()) : std::nullopt));
    if (changed && recipients) {
      AskRecipients(tx, clock, org_id, id, MailEndpoint(tx, clock, org_id), *recipients);
      ForgetRecipients(tx, org_id);
    }
    if (changed && change.is_active == false) GiveUpWaiting(tx, clock, id);
    if (changed) InsertAudit(tx, clock, OfChannel(audit, org_id, id));
    return changed;
  });
  if (updated) AddRecipients(session, org_id, {&*updated});
  return updated;
}

bool DeleteChannel(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                   const base::Uuid& id, const AuditEntry& audit) {
  return InTransaction(session, [&](Transaction& tx) {
    // Behind the lock nobody names one of its recipients again.
    tx.Exec<"channel_lock_org">("org_id"_a = org_id);
    if (tx.Exec<"channel_delete">("id"_a = id, "org_id"_a = org_id).empty()) return false;
    ForgetRecipients(tx, org_id);
    InsertAudit(tx, clock, OfChannel(audit, org_id, id));
    return true;
  });
}

namespace {

// The types of events that stand for the types of notifications; nothing that completed is one.
std::vector<domain::EventType> EventsOf(const std::vector<domain::NotificationType>& types) {
  std::vector<domain::EventType> events;
  for (const auto type : types) {
    if (type == domain::NotificationType::kChanged) events.push_back(domain::EventType::kChange);
    if (type == domain::NotificationType::kFailed) events.push_back(domain::EventType::kError);
  }
  return events;
}

}  // namespace

std::optional<domain::Feed> ReadFeed(Session& session, const base::Uuid& id) {
  return InTransaction(session, [&](Transaction& tx) -> std::optional<domain::Feed> {
    const auto found = tx.Exec<"channel_feed">("id"_a = id, "kind"_a = domain::ChannelKind::kFeed);
    if (found.empty()) return std::nullopt;
    domain::Feed feed;
    feed.channel_id = id;
    base::Uuid org_id;
    std::vector<domain::NotificationType> types;
    OrganisationPlace place;
    Columns(found[0]).Into("org_id"_a = &org_id, "name"_a = &feed.name, "events"_a = &types,
                           "include_values"_a = &feed.include_values,
                           "created_at"_a = &feed.created_at, "lives_at"_a = &place.lives_at);
    CheckIsHere(place);
    for (const auto& row :
         tx.Exec<"channel_feed_events">("id"_a = id, "org_id"_a = org_id,
         "types"_a = EventsOf(types), "monitors_max"_a = domain::kFeedMonitorsMax,
         "looked_max"_a = domain::kFeedLookedMax, "limit"_a = domain::kFeedEventsMax)) {
      domain::FeedEvent& told = feed.events.emplace_back();
      Columns in(row);
      in.Into("monitor_name"_a = &told.monitor_name);
      told.event = ReadTold(in);
    }
    return feed;
  });
}

bool MayName(Session& session, const Scope& scope, const std::vector<base::Uuid>& ids) {
  return Read(session, [&](Transaction& tx) {
    const auto known = ReadEach<base::Uuid>(tx.Exec<"channels_known">(
        "ids"_a = ids, "org_id"_a = scope.org_id, "team_id"_a = scope.team_id));
    return known.size() == ids.size();
  });
}

std::vector<base::Uuid> ReadMonitorChannels(Session& session, const base::Uuid& monitor_id) {
  return Read(session, [&](Transaction& tx) {
    return ReadEach<base::Uuid>(tx.Exec<"channels_of_monitor">("monitor_id"_a = monitor_id));
  });
}

}  // namespace vedette::store
