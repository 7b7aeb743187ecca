#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "domain/monitor/enums.h"
#include "domain/monitor/monitor.h"

// Channels: where people are told what monitors see (docs/channels.md). Pure.
namespace vedette::domain {

// The numbers are stored: never renumber.
enum class ChannelKind : std::uint8_t {
  kWebhook = 0,
  kEmail = 1,
  kSlack = 2,
  kTeams = 3,
  kDiscord = 4,
  kApprise = 5,
  kFeed = 6,
};
std::string_view ChannelKindName(ChannelKind kind);
// Nothing for any other name.
std::optional<ChannelKind> ParseChannelKind(std::string_view name);
// The names of those, for a sentence: "'webhook', 'slack' or 'teams'".
std::string ChannelKindNames();

// Whether the address alone lets everybody write there: it is sealed, and shown only in part.
constexpr bool HasSecretUrl(ChannelKind kind) {
  return kind == ChannelKind::kSlack || kind == ChannelKind::kTeams ||
         kind == ChannelKind::kDiscord || kind == ChannelKind::kApprise;
}
// What is shown of such an address: its scheme and host, and its last four characters.
std::string ShownUrl(std::string_view scheme, std::string_view host, std::string_view url);

// A channel is told as long as it is active.
enum class ChannelStatus : std::uint8_t {
  kActive = 0,
  kUnconfirmed = 1,  // its addresses wait for their owners
  kSuspended = 2,    // it could not be told any more, and says why
};
std::string_view ChannelStatusName(ChannelStatus status);

// Why what waited for a channel was given up.
inline constexpr std::string_view kChannelPaused = "channel_paused: the channel is paused";

inline constexpr int kChannelsMax = 100;                // of an organisation
inline constexpr std::size_t kMonitorChannelsMax = 10;  // of a monitor
inline constexpr std::size_t kChannelNameCharsMax = 200;
inline constexpr std::size_t kChannelTagCharsMax = 100;
inline constexpr int kNewsEventsMax = 500;  // that one notification tells

// What was gathered for a channel, and is told together.
struct DigestNews {
  std::string channel_name;
  int notifications = 0;
  std::vector<std::string> labels;  // of each event: its monitor and row
};

// What an organisation is told of itself. The numbers are stored: never renumber.
enum class NoticeKind : std::uint8_t {
  kBalance = 0,          // its credits pay no check any more
  kSpendLimit = 1,       // nor does what a team may still spend this month
  kReceiverFailing = 2,  // attempts at an address have failed for 48 hours on end
  kMonitorFailing = 3,   // no check of a monitor has completed for a day
  // What became of a slot of a workflow's schedule, told by the schedule's own channels.
  kRunCompleted = 4,
  kRunFailed = 5,   // it ended otherwise
  kRunSkipped = 6,  // there was none; the subject has the reason
};
std::string_view NoticeKindName(NoticeKind kind);
inline constexpr int kNoticesPerDay = 100;  // that an organisation is told of itself

struct AccountNotice {
  NoticeKind kind = NoticeKind::kBalance;
  // The organisation, a team, a receiver, a monitor or a run; of a slot without one its schedule.
  base::Uuid about;
  std::string subject;  // its name, or what may be shown of its address; of a run its schedule's
};
// A sentence.
std::string NoticeText(const AccountNotice& notice);

// A notification of a check as a channel tells it, a digest, or a notice.
struct ChannelNews {
  base::Uuid channel_id;
  bool include_values = true;
  NotificationType type = NotificationType::kChanged;
  base::Uuid event_group_id;
  base::Uuid monitor_id;
  base::Uuid row_id;
  // Empty in a test, and where the monitor is not there any more.
  std::optional<std::string> monitor_name;
  std::optional<std::string> metadata_json;
  std::optional<std::string> subject_json;  // of the row
  base::Timestamp created_at{};
  // Those of the check, or of all that are gathered, with their monitor and row; at most
  // kNewsEventsMax.
  std::vector<Event> events;
  std::optional<DigestNews> digest{};
  std::optional<AccountNotice> notice{};
};

// The body for a channel of kind webhook: that of a monitor's own webhook (domain/job/webhook.h)
// with `channel_id`, `monitor_name` and, where the channel includes values, `events` behind it,
// each as GET /events shows it. Where that would be longer than `bytes_max`, `events` is null. That
// of a digest has the type `channel.digest` and the number of its `notifications`, and no monitor;
// that of a notice has the type `account.notice`, its kind, what it is about and a sentence.
std::string ChannelWebhookBody(const ChannelNews& news, std::size_t bytes_max);

}  // namespace vedette::domain
