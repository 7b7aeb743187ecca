#include "app/demo/demo_receiver.h"

#include <chrono>
#include <utility>

namespace vedette::app {
namespace {

constexpr std::size_t kKept = 500;
constexpr std::size_t kBodyBytesMax = 64 << 10;

}  // namespace

DemoReceiver::DemoReceiver(ReceiverMode mode, const base::Clock& clock)
    : mode_(mode), clock_(clock) {}

void DemoReceiver::SetSecret(std::string secret) {
  if (mode_ == ReceiverMode::kWrongKey) {
    secret = std::string(domain::kSigningSecretPrefix) + std::string(64, '0');
  }
  const std::lock_guard lock(mutex_);
  secret_ = std::move(secret);
}

std::optional<DemoReceiver::Received> DemoReceiver::Find(std::string_view type,
                                                         std::string_view event_group_id) const {
  const std::lock_guard lock(mutex_);
  for (auto it = received_.rbegin(); it != received_.rend(); ++it) {
    if (it->type == type && it->event_group_id == event_group_id) return *it;
  }
  return std::nullopt;
}

std::vector<DemoReceiver::Received> DemoReceiver::Since(std::uint64_t after) const {
  const std::lock_guard lock(mutex_);
  std::vector<Received> found;
  for (const Received& received : received_) {
    if (received.number > after) found.push_back(received);
  }
  return found;
}

std::uint64_t DemoReceiver::received_total() const {
  const std::lock_guard lock(mutex_);
  return total_;
}

void DemoReceiver::HandleWhole(std::shared_ptr<net::Exchange> exchange) {
  const net::ServerRequest& request = exchange->request();
  if (request.path != kPath || request.method != "POST" || request.body_too_large) {
    exchange->Send({.status = request.path == kPath ? 400 : 404, .headers = {}, .body = ""});
    return;
  }
  Received received;
  received.type = request.Header("service-event-type");
  received.event_group_id = request.Header("service-event-id");
  received.attempt = request.Header("service-delivery-attempt");
  if (base::ParseJson(request.body, &received.body)) received.body = nullptr;
  received.refused = mode_ == ReceiverMode::kRefuse;
  const auto now = std::chrono::floor<std::chrono::seconds>(clock_.Now()).time_since_epoch();
  int status = 200;
  {
    const std::lock_guard lock(mutex_);
    received.check = domain::VerifySignature(secret_, request.Header("service-signature"),
                                             request.body, now.count());
    if (received.check != domain::SignatureCheck::kValid) status = 401;
    if (received.refused) status = 503;
    received.number = ++total_;
    received_.push_back(std::move(received));
    if (received_.size() > kKept) received_.pop_front();
  }
  exchange->Send({.status = status, .headers = {}, .body = ""});
}

std::size_t DemoReceiver::BodyBytesMax(std::string_view, std::string_view) const {
  return kBodyBytesMax;
}

}  // namespace vedette::app
