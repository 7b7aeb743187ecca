#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "domain/job/job.h"
#include "domain/monitor/enums.h"

namespace vedette::domain {

// What a notification of a check tells of.
struct CheckNotice {
  base::Uuid monitor_id;
  base::Uuid row_id;
  std::optional<std::string> metadata;  // JSON text, as the client gave it, read with the url
  // The channel that is told (domain/channel/channel.h), whose url and body are read at every
  // attempt; empty: the monitor's own webhook_url is.
  std::optional<base::Uuid> channel_id{};
  std::optional<base::Uuid> recipient_id{};  // of a channel of kind email
};

// What a callback tells of: the end of a job, or of one of its blocks. Its body is a function of
// the ended job (domain/workflow/lookup_result.h), read at every attempt.
struct JobNotice {
  base::Uuid job_id;
  std::optional<int> block;
  JobStatus status = JobStatus::kCompleted;
};

// What a receiver is told.
struct Notification {
  base::Uuid delivery_id;
  base::Uuid org_id;
  base::Uuid endpoint_id;
  base::Uuid event_group_id;
  NotificationType type = NotificationType::kChanged;
  base::Timestamp created_at;          // by the database's clock
  std::string url;                     // the monitor's or the job's webhook_url when this was read
  std::chrono::nanoseconds read_at{};  // since this machine's boot: when that reading began
  std::variant<CheckNotice, JobNotice> about;
};

// The channel that the notification is one of; empty: the monitor's or the job's own receiver.
std::optional<base::Uuid> ChannelOf(const Notification& notification);

// What became of one attempt to deliver a notification.
enum class AttemptEnd {
  kDelivered,  // the receiver has it
  kRetry,      // another attempt follows
  kDead,       // none does
};

// What an attempt says of its receiver.
enum class ReceiverState {
  kWorks,    // it took the notification, or answered that it wants it no more (410)
  kFails,    // any other answer, or none
  kUnknown,  // no request was made
};

// Receivers that answer promptly, sorted, and how many deliveries of each a claim may take.
using PromptReceivers = std::vector<std::pair<base::Uuid, int>>;

// Why an attempt failed is a class and a sentence, "timeout: no answer within 10 s": the class.
std::string_view ErrorClass(std::string_view error);
// The class where the organisation's secrets could not be read.
inline constexpr std::string_view kSigningError = "signing";
// The class where the relay of e-mail refuses a recipient for good.
inline constexpr std::string_view kHardBounce = "hard_bounce";

// What a pending delivery waits for that nobody is sending. `receiver_fails`: its breaker is open.
DeliveryWait WaitOf(bool receiver_fails, int attempts,
                    const std::optional<std::string>& last_error);

// Whether it is a digest of a channel, or a notice of the organisation itself, which is stored as a
// failure: both name the channel in the place of a monitor; so does a question to a recipient,
// which is a test.
bool IsDigest(const Notification& notification);
bool IsAccountNotice(const Notification& notification);

// The body of a notification of a check that is signed and sent: compact JSON
// {"type","monitor_id","event_group_id","metadata","created_at"} whose monitor_id is the ROW's id
// (for the test notification the caller puts the monitor's id into row_id). Nothing else in the
// system knows this.
std::string NotificationBody(const Notification& notification);

// The headers that a notification, or a callback, is sent with at its n-th attempt, from 1, but for
// the signature.
std::vector<std::pair<std::string, std::string>> NotificationHeaders(
    const Notification& notification, int attempt);

// The name of what a delivery tells. `names_channel`: the channel stands in the place of a monitor,
// as there is none: a digest, a notice of the organisation, or a question to the owner of an
// address.
std::string_view DeliveredTypeName(NotificationType type, bool names_channel);

// The value of Service-Event-Type: the type's name, of a digest channel.digest, of a notice of the
// organisation account.notice, and for a block's
// callback the end of its run behind it, as in "outgoing_webhook.completed".
std::string EventTypeHeader(const Notification& notification);

// The signature of outgoing webhooks (docs/webhooks.md): Service-Signature:
// t=<unix>,v1=<hex>[,v1=<hex>] where v1 = lower-case hex of HMAC-SHA256(secret, "<t>." + body). The
// key is the UTF-8 bytes of the whole secret string, prefix included. Pure.

inline constexpr std::string_view kSigningSecretPrefix = "sk_whsec_";  // then 64 hex digits
inline constexpr std::int64_t kSignatureToleranceSeconds = 300;

// The header's value, one v1 a secret, in the order given.
std::string SignatureHeader(const std::vector<std::string>& secrets, std::int64_t unix_seconds,
                            std::string_view body);

enum class SignatureCheck { kValid, kMalformed, kStale, kMismatch };
std::string_view SignatureCheckMessage(SignatureCheck check);  // one sentence

// What a receiver does: any v1 may match (compared in constant time), t within 300 s of `now`.
SignatureCheck VerifySignature(std::string_view secret, std::string_view header,
                               std::string_view body, std::int64_t now_unix_seconds);

// The signature as Standard Webhooks describes it, whose libraries verify it (docs/webhooks.md). It
// stands beside Service-Signature and has the same keys. Pure.

// The headers webhook-id, webhook-timestamp and webhook-signature. `id` tells duplicates, as
// Service-Event-Id does. The last one has "v1," and the padded base64 of
// HMAC-SHA256(secret, "<id>.<unix_seconds>." + body) for each secret, in the order given, with
// spaces between them.
std::vector<std::pair<std::string, std::string>> StandardWebhooksHeaders(
    const std::vector<std::string>& secrets, std::string_view id, std::int64_t unix_seconds,
    std::string_view body);

}  // namespace vedette::domain
