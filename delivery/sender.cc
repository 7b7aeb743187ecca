#include "delivery/sender.h"

#include <set>
#include <utility>

#include "base/json.h"
#include "domain/signature.h"
#include "net/retry_after.h"

namespace vedette::delivery {
namespace {

// A retired secret signs at most so long after its retirement.
constexpr std::chrono::milliseconds kSecretAgeMax{1000};

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

void Sender::Send(const domain::Notification& notification, int attempt,
                  std::function<void(SendResult)> done) {
  Waiting waiting{notification, attempt, std::move(done)};
  const auto it = secrets_.find(notification.org_id);
  if (it != secrets_.end() && clock_.SinceBoot() - it->second.read_at < kSecretAgeMax) {
    Post(waiting, it->second.secrets);
    return;
  }
  waiting_.push_back(std::move(waiting));
  ReadSecrets();
}

// One read for everybody who waits by then.
void Sender::ReadSecrets() {
  if (reading_ || waiting_.empty()) return;
  reading_ = true;
  auto waiting = std::make_shared<std::vector<Waiting>>(std::exchange(waiting_, {}));
  std::set<base::Uuid> org_ids;
  for (const Waiting& w : *waiting) org_ids.insert(w.notification.org_id);
  using Secrets = std::map<base::Uuid, store::OrgSecrets>;
  store::RunAsync<Secrets>(
      pool_, loop_,
      [ids = std::vector<base::Uuid>(org_ids.begin(), org_ids.end()), &security = config_.security](
          store::Session& session) { return store::ReadSigningSecrets(session, ids, security); },
      [this, waiting, began = clock_.SinceBoot(),
       alive = alive_](std::variant<Secrets, store::Failure> result) {
        if (!*alive) return;
        reading_ = false;
        if (auto* secrets = std::get_if<Secrets>(&result)) {
          for (auto& [org_id, s] : *secrets) secrets_[org_id] = {s, began};
          for (const Waiting& w : *waiting) Post(w, secrets->at(w.notification.org_id));
        } else {
          for (const Waiting& w : *waiting) {
            SendResult failed;
            failed.tried = false;
            failed.error = "signing: the signing secret could not be read now";
            w.done(std::move(failed));
          }
        }
        ReadSecrets();
      });
}

void Sender::Post(const Waiting& waiting, const store::OrgSecrets& secrets) {
  if (secrets.configured && (!secrets.readable || secrets.secrets.empty())) {
    loop_.Post([done = waiting.done] {
      SendResult refused;
      refused.tried = false;
      refused.error =
          "signing: the signing secret cannot be read; nothing is sent unsigned. Configure the "
          "encryption key it was sealed with, or rotate it";
      done(std::move(refused));
    });
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
