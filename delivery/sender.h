#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/event_loop.h"
#include "config/config.h"
#include "domain/notification.h"
#include "net/http_client.h"
#include "store/async.h"
#include "store/deliveries.h"
#include "store/session.h"
#include "store/signing_secrets.h"

namespace vedette::delivery {

// What came of one try to send a notification.
struct SendResult {
  std::optional<int> status_code;
  std::optional<std::string> error;  // class and sentence, unless the status is 2xx
  std::string answer;                // the first bytes of the body
  std::optional<std::chrono::milliseconds> retry_after;
  std::chrono::microseconds duration{};
  bool tried = true;   // false: it never came to a request, which is not the receiver's failure
  bool moved = false;  // not tried because its monitor now sends to another receiver, or to none
};

// Signs and posts one notification, anew at every attempt. What it goes by is never older than a
// second when the request is made: the organisation's secrets, which are kept for that long
// (store/signing_secrets.h), and the monitor's webhook_url and metadata, which are read again for a
// notification that has waited for longer. An organisation whose secret cannot be read sends
// nothing (fail closed). Loop thread only.
class Sender {
 public:
  Sender(base::EventLoop& loop, store::Pool& pool, net::HttpClient& client,
         const base::Clock& clock, const config::Config& config);
  ~Sender();

  // `attempt` counts from 1. `done` exactly once, later. One without an endpoint_id, a test, goes
  // to the url it has.
  void Send(const domain::Notification& notification, int attempt,
            std::function<void(SendResult)> done);

 private:
  struct Cached {
    store::OrgSecrets secrets;
    std::chrono::nanoseconds read_at{};  // since boot, when the read began
  };
  struct Waiting {
    domain::Notification notification;
    int attempt;
    std::function<void(SendResult)> done;
    int reads = 0;  // made for it that took too long to be of use
  };
  using WaitingList = std::vector<Waiting>;
  // What one reading of the database gave.
  struct Reading {
    std::chrono::nanoseconds began{};  // since boot
    std::map<base::Uuid, store::OrgSecrets> secrets;
    store::DeliveryTargets targets;
  };
  bool IsFresh(std::chrono::nanoseconds read_at) const;
  void Read();
  void OnRead(WaitingList waiting, const Reading& reading);
  void Fail(const Waiting& waiting, std::string error);
  void Post(const Waiting& waiting, const store::OrgSecrets& secrets);

  base::EventLoop& loop_;
  store::Pool& pool_;
  net::HttpClient& client_;
  const base::Clock& clock_;
  const config::Config& config_;
  std::map<base::Uuid, Cached> secrets_;
  WaitingList waiting_;  // for the next reading
  bool reading_ = false;
  std::shared_ptr<bool> alive_;
};

}  // namespace vedette::delivery
