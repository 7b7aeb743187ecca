#include "domain/job/webhook.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>

#include "base/assert.h"
#include "base/crypto.h"
#include "base/text.h"

namespace vedette::domain {
namespace {

// JSON text without the white space between its tokens. Not parsed: it was when it was stored, and
// numbers stay as they were written.
void AppendCompact(std::string_view json, std::string* out) {
  bool in_string = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string && c == '\\' && i + 1 < json.size()) {
      out->append(json, i++, 2);
      continue;
    }
    if (c == '"') in_string = !in_string;
    if (in_string || (c != ' ' && c != '\n' && c != '\r' && c != '\t')) out->push_back(c);
  }
}

}  // namespace

std::string_view ErrorClass(std::string_view error) {
  return error.substr(0, error.find(':'));
}

DeliveryWait WaitOf(bool receiver_fails, int attempts,
                    const std::optional<std::string>& last_error) {
  if (receiver_fails) return DeliveryWait::kReceiver;
  if (last_error && ErrorClass(*last_error) == kSigningError) return DeliveryWait::kSigningSecret;
  return attempts == 0 ? DeliveryWait::kTurn : DeliveryWait::kRetry;
}

namespace {

bool NamesChannelAlone(const Notification& notification) {
  const auto* check = std::get_if<CheckNotice>(&notification.about);
  return check != nullptr && check->channel_id == check->monitor_id;
}

}  // namespace

std::optional<base::Uuid> ChannelOf(const Notification& notification) {
  const auto* check = std::get_if<CheckNotice>(&notification.about);
  return check == nullptr ? std::nullopt : check->channel_id;
}

bool IsDigest(const Notification& notification) {
  return NamesChannelAlone(notification) && notification.type == NotificationType::kChanged;
}

bool IsAccountNotice(const Notification& notification) {
  return NamesChannelAlone(notification) && notification.type == NotificationType::kFailed;
}

std::string NotificationBody(const Notification& notification) {
  const auto* check = std::get_if<CheckNotice>(&notification.about);
  base::Assert(check != nullptr, "the body of a callback is made of its job");
  constexpr std::size_t kRest = 256;  // more than everything but the metadata takes
  std::string body;
  body.reserve(kRest + (check->metadata ? check->metadata->size() : 0));
  // Names, ids and times need no escaping.
  body += R"({"type":")";
  body += NotificationTypeName(notification.type);
  body += R"(","monitor_id":")";
  body += check->row_id.ToString();
  body += R"(","event_group_id":")";
  body += notification.event_group_id.ToString();
  body += R"(","metadata":)";
  AppendCompact(check->metadata ? *check->metadata : "null", &body);
  body += R"(,"created_at":")";
  body += base::FormatTimestamp(notification.created_at);
  body += R"("})";
  return body;
}

std::vector<std::pair<std::string, std::string>> NotificationHeaders(
    const Notification& notification, int attempt) {
  constexpr std::size_t kHeadersMax = 11;  // with those of the signatures
  std::vector<std::pair<std::string, std::string>> headers;
  headers.reserve(kHeadersMax);
  headers.emplace_back("Content-Type", "application/json");
  headers.emplace_back("User-Agent", "vedette/" VEDETTE_VERSION);
  headers.emplace_back("Service-Event-Type", EventTypeHeader(notification));
  headers.emplace_back("Service-Event-Id", notification.event_group_id.ToString());
  headers.emplace_back("Service-Delivery-Attempt", std::to_string(attempt));
  // The body names the row alone; a receiver of several monitors needs this one to read the events.
  if (const auto* check = std::get_if<CheckNotice>(&notification.about)) {
    if (!IsDigest(notification) && !IsAccountNotice(notification)) {
      headers.emplace_back("Service-Monitor-Id", check->monitor_id.ToString());
    }
    if (check->channel_id) {
      headers.emplace_back("Service-Channel-Id", check->channel_id->ToString());
    }
  }
  return headers;
}

std::string_view DeliveredTypeName(NotificationType type, bool names_channel) {
  if (!names_channel) return NotificationTypeName(type);
  if (type == NotificationType::kTest) return "channel.question";
  return type == NotificationType::kChanged ? "channel.digest" : "account.notice";
}

std::string EventTypeHeader(const Notification& notification) {
  if (IsDigest(notification) || IsAccountNotice(notification)) {
    return std::string(DeliveredTypeName(notification.type, true));
  }
  std::string name(NotificationTypeName(notification.type));
  const auto* job = std::get_if<JobNotice>(&notification.about);
  if (job != nullptr && job->block) name.append(".").append(JobStatusName(RunStatus(job->status)));
  return name;
}

namespace {

std::string Mac(std::string_view secret, std::string_view seconds, std::string_view body) {
  std::string text;
  text.reserve(seconds.size() + 1 + body.size());
  text.append(seconds).append(".").append(body);
  return base::HexEncode(base::HmacSha256(secret, text));
}

struct Segments {
  std::string_view seconds;  // as written: it is what was signed
  std::int64_t unix_seconds = 0;
  std::vector<std::string> v1;
};

// Empty without exactly one readable t and at least one v1. Other segments are a later scheme's.
std::optional<Segments> ParseHeader(std::string_view header) {
  Segments segments;
  bool has_time = false;
  while (!header.empty()) {
    const std::size_t comma = header.find(',');
    const std::string_view segment = base::Trim(header.substr(0, comma), base::kBlankSpace);
    header = comma == std::string_view::npos ? std::string_view{} : header.substr(comma + 1);
    if (segment.starts_with("v1=")) {
      segments.v1.push_back(base::AsciiLower(segment.substr(3)));
    } else if (segment.starts_with("t=")) {
      const std::string_view text = segment.substr(2);
      const auto [end, error] =
          std::from_chars(text.data(), text.data() + text.size(), segments.unix_seconds);
      if (has_time || error != std::errc() || end != text.data() + text.size() ||
          segments.unix_seconds < 0) {
        return std::nullopt;
      }
      segments.seconds = text;
      has_time = true;
    }
  }
  if (!has_time || segments.v1.empty()) return std::nullopt;
  return segments;
}

}  // namespace

std::string SignatureHeader(const std::vector<std::string>& secrets, std::int64_t unix_seconds,
                            std::string_view body) {
  const std::string seconds = std::to_string(unix_seconds);
  std::string header = "t=" + seconds;
  for (const std::string& secret : secrets) header += ",v1=" + Mac(secret, seconds, body);
  return header;
}

std::string_view SignatureCheckMessage(SignatureCheck check) {
  switch (check) {
    case SignatureCheck::kValid:
      return "The signature is valid.";
    case SignatureCheck::kMalformed:
      return "The header is not of the form t=<unix seconds>,v1=<hex>[,v1=<hex>].";
    case SignatureCheck::kStale:
      return "The timestamp is more than 300 seconds from the clock.";
    case SignatureCheck::kMismatch:
      return "No v1 segment matches the secret and the body.";
  }
  return "";
}

SignatureCheck VerifySignature(std::string_view secret, std::string_view header,
                               std::string_view body, std::int64_t now_unix_seconds) {
  const std::optional<Segments> segments = ParseHeader(header);
  if (!segments) return SignatureCheck::kMalformed;
  const std::string expected = Mac(secret, segments->seconds, body);
  bool matches = false;
  for (const std::string& v1 : segments->v1) {
    if (base::ConstantTimeEqual(v1, expected)) matches = true;
  }
  if (!matches) return SignatureCheck::kMismatch;
  // Neither is negative, so that the difference cannot overflow whatever the header claims.
  const std::int64_t now = std::max<std::int64_t>(now_unix_seconds, 0);
  const std::int64_t apart = std::abs(segments->unix_seconds - now);
  return apart <= kSignatureToleranceSeconds ? SignatureCheck::kValid : SignatureCheck::kStale;
}

namespace {

// A digest of 32 bytes in base64 with the ordinary alphabet, where one character is missing to a
// multiple of four.
std::string DigestInBase64(std::string_view digest) {
  std::string text = base::Base64UrlEncode(digest);
  std::replace(text.begin(), text.end(), '-', '+');
  std::replace(text.begin(), text.end(), '_', '/');
  text.push_back('=');
  return text;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> StandardWebhooksHeaders(
    const std::vector<std::string>& secrets, std::string_view id, std::int64_t unix_seconds,
    std::string_view body) {
  const std::string seconds = std::to_string(unix_seconds);
  std::string text;
  text.reserve(id.size() + seconds.size() + body.size() + 2);
  text.append(id).append(".").append(seconds).append(".").append(body);
  std::string signatures;
  for (const std::string& secret : secrets) {
    if (!signatures.empty()) signatures.push_back(' ');
    signatures.append("v1,").append(DigestInBase64(base::HmacSha256(secret, text)));
  }
  std::vector<std::pair<std::string, std::string>> headers;
  headers.reserve(3);
  headers.emplace_back("webhook-id", id);
  headers.emplace_back("webhook-timestamp", seconds);
  headers.emplace_back("webhook-signature", std::move(signatures));
  return headers;
}

}  // namespace vedette::domain
