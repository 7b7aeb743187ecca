#include "delivery/sender.h"

#include <set>
#include <utility>

#include "base/json.h"
#include "domain/signature.h"
#include "net/retry_after.h"

namespace vedette::delivery {
namespace {

// Readings for one attempt, where the database answers too late for the answer to be of use.
constexpr int kReadsMax = 3;

constexpr const char* kNotReadNow =
    "signing: the signing secret and the monitor could not be read now";
constexpr const char* kUserAgent = "vedette/" VEDETTE_VERSION;

std::string StatusError(int status) {
  if (status >= 300 && status < 400) {
    return "redirect: the receiver answered " + std::to_string(status) +
           "; redirects are not followed";
  }
  return "http_status: the receiver answered " + std::to_string(status);
}

}  // namespace

Sender::Sender(base::EventLoop& loop, store::Pool& pool, net::HttpClient& client,
               const base::Clock& clock, const config::Config& config)
    : loop_(loop),
      pool_(pool),
      client_(client),
      clock_(clock),
      config_(config),
      alive_(std::make_shared<bool>(true)) {}

Sender::~Sender() {
  *alive_ = false;
}

bool Sender::IsFresh(std::chrono::nanoseconds read_at) const {
  return clock_.SinceBoot() - read_at < store::kSecretsKnownMax;
}

void Sender::Send(const domain::Notification& notification, int attempt,
                  std::function<void(SendResult)> done) {
  Waiting waiting{notification, attempt, std::move(done)};
  const auto it = secrets_.find(notification.org_id);
  const bool signable = it != secrets_.end() && IsFresh(it->second.read_at);
  if (signable && (notification.endpoint_id.is_nil() || IsFresh(notification.read_at))) {
    Post(waiting, it->second.secrets);
    return;
  }
  waiting_.push_back(std::move(waiting));
  Read();
}

// One reading for everybody who waits by then.
void Sender::Read() {
  if (reading_ || waiting_.empty()) return;
  reading_ = true;
  auto waiting = std::make_shared<WaitingList>(std::exchange(waiting_, {}));
  std::set<base::Uuid> orgs;
  std::set<base::Uuid> monitors;
  for (const Waiting& w : *waiting) {
    const domain::Notification& n = w.notification;
    orgs.insert(n.org_id);
    if (!n.endpoint_id.is_nil() && !IsFresh(n.read_at)) monitors.insert(n.monitor_id);
  }
  store::RunAsync<Reading>(
      pool_, loop_,
      [org_ids = std::vector<base::Uuid>(orgs.begin(), orgs.end()),
       monitor_ids = std::vector<base::Uuid>(monitors.begin(), monitors.end()), &clock = clock_,
       &security = config_.security](store::Session& session) {
        Reading reading;
        reading.began = clock.SinceBoot();
        reading.secrets = store::ReadSigningSecrets(session, org_ids, security);
        if (!monitor_ids.empty()) {
          reading.targets = store::ReadDeliveryTargets(session, monitor_ids);
        }
        return reading;
      },
      [this, waiting, alive = alive_](std::variant<Reading, store::Failure> result) {
        if (!*alive) return;
        reading_ = false;
        if (const auto* reading = std::get_if<Reading>(&result)) {
          OnRead(std::move(*waiting), *reading);
        } else {
          for (const Waiting& w : *waiting) Fail(w, kNotReadNow);
        }
        Read();
      });
}

void Sender::OnRead(WaitingList waiting, const Reading& reading) {
  std::erase_if(secrets_, [this](const auto& known) { return !IsFresh(known.second.read_at); });
  for (const auto& [org_id, secrets] : reading.secrets) {
    secrets_[org_id] = {secrets, reading.began};
  }
  for (Waiting& w : waiting) {
    domain::Notification& n = w.notification;
    if (!IsFresh(reading.began)) {
      if (++w.reads < kReadsMax) {
        waiting_.push_back(std::move(w));
      } else {
        Fail(w, kNotReadNow);
      }
      continue;
    }
    if (const auto it = reading.targets.find(n.monitor_id); it != reading.targets.end()) {
      const store::DeliveryTarget& target = it->second;
      if (!target.url || target.endpoint_id != n.endpoint_id) {
        SendResult moved;
        moved.tried = false;
        moved.moved = true;
        w.done(std::move(moved));
        continue;
      }
      n.url = *target.url;
      n.metadata = target.metadata;
    }
    Post(w, reading.secrets.at(n.org_id));
  }
}

void Sender::Fail(const Waiting& waiting, std::string error) {
  SendResult failed;
  failed.tried = false;
  failed.error = std::move(error);
  loop_.Post(
      [done = waiting.done, failed = std::move(failed)]() mutable { done(std::move(failed)); });
}

void Sender::Post(const Waiting& waiting, const store::OrgSecrets& secrets) {
  if (secrets.configured && (!secrets.readable || secrets.secrets.empty())) {
    Fail(waiting,
         "signing: the signing secret cannot be read; nothing is sent unsigned. Configure the "
         "encryption key it was sealed with, or rotate it");
    return;
  }
  net::HttpRequest request;
  request.method = "POST";
  request.url = waiting.notification.url;
  request.body = domain::NotificationBody(waiting.notification);
  request.trust = net::Trust::kTenant;
  request.org = waiting.notification.org_id;
  request.timeout = config_.delivery.timeout_ms;  // everything, a wait for a connection included
  request.body_bytes_max = config_.delivery.answer_bytes_max;
  request.truncate_body = true;
  request.headers = {
      {"Content-Type", "application/json"},
      {"User-Agent", kUserAgent},
      {"Service-Event-Type", std::string(domain::NotificationTypeName(waiting.notification.type))},
      {"Service-Event-Id", waiting.notification.event_group_id.ToString()},
      {"Service-Delivery-Attempt", std::to_string(waiting.attempt)}};
  if (secrets.configured) {
    const auto unix_seconds =
        std::chrono::floor<std::chrono::seconds>(clock_.Now()).time_since_epoch().count();
    request.headers.emplace_back(
        "Service-Signature", domain::SignatureHeader(secrets.secrets, unix_seconds, request.body));
  }
  client_.Send(
      std::move(request), [this, done = waiting.done, alive = alive_](net::HttpResponse response) {
        if (!*alive) return;
        SendResult result;
        result.duration = response.duration;
        if (response.error_class == net::HttpErrorClass::kNone) {
          result.status_code = response.status;
          result.answer = std::move(response.body);
          result.retry_after = net::RetryAfter(response, clock_.Now());
          if (response.status < 200 || response.status > 299)
            result.error = StatusError(response.status);
        } else {
          result.error =
              std::string(net::HttpErrorClassName(response.error_class)) + ": " + response.error;
        }
        done(std::move(result));
      });
}

}  // namespace vedette::delivery
