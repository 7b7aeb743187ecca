#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/uuid.h"
#include "domain/channel/channel.h"

// The Atom feed of a channel of kind feed (RFC 4287). Pure.
namespace vedette::domain {

inline constexpr int kFeedEventsMax = 200;     // newest ones
inline constexpr int kFeedMonitorsMax = 1000;  // whose events are looked at
inline constexpr int kFeedLookedMax = 5000;    // of each monitor: many may be no entries

struct FeedEvent {
  Event event;  // with its monitor and row
  std::string monitor_name;
};

struct Feed {
  base::Uuid channel_id;
  std::string name;
  bool include_values = true;
  base::Timestamp created_at{};   // of the channel
  std::vector<FeedEvent> events;  // newest first
};

// The path of the feed with its token, which is made of the channel and of the operator's
// encryption key and lets everybody read who has it.
std::string FeedPath(const base::Uuid& channel_id, std::string_view encryption_key);
// Whether one of these keys made it.
bool IsFeedToken(const base::Uuid& channel_id, std::string_view token,
                 const std::vector<std::string>& encryption_keys);

// `monitors_url`: MonitorsUrl; `self`: the address that the document is read at.
std::string FeedDocument(const Feed& feed, std::string_view monitors_url, std::string_view self);

}  // namespace vedette::domain
