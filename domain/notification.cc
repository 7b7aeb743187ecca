#include "domain/notification.h"

#include <string_view>

#include "base/assert.h"

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

// Names, ids and times need no escaping.
std::string_view ErrorClass(std::string_view error) {
  return error.substr(0, error.find(':'));
}

DeliveryWait WaitOf(bool receiver_fails, int attempts,
                    const std::optional<std::string>& last_error) {
  if (receiver_fails) return DeliveryWait::kReceiver;
  if (last_error && ErrorClass(*last_error) == kSigningError) return DeliveryWait::kSigningSecret;
  return attempts == 0 ? DeliveryWait::kTurn : DeliveryWait::kRetry;
}

std::string NotificationBody(const Notification& notification) {
  const auto* check = std::get_if<CheckNotice>(&notification.about);
  base::Assert(check != nullptr, "the body of a callback is made of its job");
  constexpr std::size_t kRest = 256;  // more than everything but the metadata takes
  std::string body;
  body.reserve(kRest + (check->metadata ? check->metadata->size() : 0));
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
  std::vector<std::pair<std::string, std::string>> headers{
      {"Content-Type", "application/json"},
      {"User-Agent", "vedette/" VEDETTE_VERSION},
      {"Service-Event-Type", EventTypeHeader(notification)},
      {"Service-Event-Id", notification.event_group_id.ToString()},
      {"Service-Delivery-Attempt", std::to_string(attempt)}};
  // The body names the row alone; a receiver of several monitors needs this one to read the events.
  if (const auto* check = std::get_if<CheckNotice>(&notification.about)) {
    headers.emplace_back("Service-Monitor-Id", check->monitor_id.ToString());
  }
  return headers;
}

std::string EventTypeHeader(const Notification& notification) {
  std::string name(NotificationTypeName(notification.type));
  const auto* job = std::get_if<JobNotice>(&notification.about);
  if (job != nullptr && job->block) name.append(".").append(JobStatusName(RunStatus(job->status)));
  return name;
}

}  // namespace vedette::domain
