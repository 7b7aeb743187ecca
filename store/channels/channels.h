#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "domain/channel/channel.h"
#include "domain/channel/feed.h"
#include "domain/channel/mail.h"
#include "domain/monitor/enums.h"
#include "store/audit.h"
#include "store/endpoint.h"
#include "store/scope.h"
#include "store/sealed.h"
#include "store/session.h"

// Channels (docs/channels.md). They belong to an organisation or to one of its teams; every
// function sees only that organisation's (G8), and throws as InTransaction does (store/session.h).
namespace vedette::store {

struct Channel {
  base::Uuid id;
  std::optional<base::Uuid> team_id;  // none: the organisation's
  std::string name;
  domain::ChannelKind kind = domain::ChannelKind::kWebhook;
  std::string shown_url;  // the address, or what may be shown of it
  std::optional<std::string> tag;
  std::vector<domain::NotificationType> events;
  std::string digest;
  bool include_values = true;
  std::optional<std::string> locale;
  domain::ChannelStatus status = domain::ChannelStatus::kActive;
  std::optional<std::string> status_reason;
  base::Timestamp created_at{};
  // Those of kind email alone; what is said of them is the channel's status and its reason.
  std::vector<domain::MailAddress> recipients{};
};

// What stands in the place of an address of the web where a channel's kind is email.
inline constexpr std::string_view kMailUrl = "smtp://relay";

// An address that a channel is told at.
struct ChannelUrl {
  Webhook webhook;
  // What is stored and shown in the place of one that is secret (domain::HasSecretUrl).
  std::optional<Sealed> sealed;
  std::optional<std::string> shown;
};

struct NewChannel {
  std::optional<base::Uuid> team_id{};
  std::string name;
  domain::ChannelKind kind = domain::ChannelKind::kWebhook;
  std::optional<ChannelUrl> url;  // none of a feed
  std::optional<std::string> tag;
  // Those of kind email, which has no url: mailable, and no mailbox twice. Their owners are asked.
  std::optional<std::vector<std::string>> addresses{};
  std::vector<domain::NotificationType> events;
  std::string digest;
  bool include_values = true;
  std::optional<std::string> locale;
};
// Nothing where the organisation has kChannelsMax already.
std::optional<Channel> CreateChannel(Session& session, const base::Clock& clock,
                                     const base::Uuid& org_id, const NewChannel& channel,
                                     const AuditEntry& audit);

// Newest first, at most `limit`, behind `before`.
std::vector<Channel> ListChannels(Session& session, const Scope& scope,
                                  const std::optional<base::Uuid>& before, int limit);

std::optional<Channel> GetChannel(Session& session, const Scope& scope, const base::Uuid& id);

// Absent = unchanged.
struct ChannelChange {
  std::optional<std::string> name;
  std::optional<ChannelUrl> url;
  std::optional<std::string> tag;  // goes with the url
  std::optional<std::vector<domain::NotificationType>> events;
  std::optional<std::string> digest;
  std::optional<bool> include_values;
  std::optional<std::string> locale{};
  std::optional<std::vector<std::string>> addresses{};
  std::optional<bool> is_active{};  // false: it is paused (kSuspended), and told nothing
};
// Nothing where there is no such channel. Deliveries that wait follow it to a new address.
std::optional<Channel> UpdateChannel(Session& session, const base::Clock& clock,
                                     const base::Uuid& org_id, const base::Uuid& id,
                                     const ChannelChange& change, const AuditEntry& audit);

// False where there is no such channel. What waits for it is given up.
bool DeleteChannel(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                   const base::Uuid& id, const AuditEntry& audit);

// The feed of a channel of kind feed, or nothing; nothing of an organisation that is locked.
std::optional<domain::Feed> ReadFeed(Session& session, const base::Uuid& id);

// Whether monitors in the scope may name all of them: those of its team, if it has one, and those
// of the whole organisation.
bool MayName(Session& session, const Scope& scope, const std::vector<base::Uuid>& ids);

// The channels of a monitor that the caller found in scope, in the order in which they were given.
std::vector<base::Uuid> ReadMonitorChannels(Session& session, const base::Uuid& monitor_id);

}  // namespace vedette::store
