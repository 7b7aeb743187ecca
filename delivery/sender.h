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
  bool tried = true;  // false: it never came to a request, which is not the receiver's failure
};

// Signs and posts one notification, anew at every attempt. Secrets are read from the database and
// kept for a second, so that a rotation reaches every process soon. An organisation whose secret
// cannot be read sends nothing (fail closed). Loop thread only.
class Sender {
 public:
  Sender(base::EventLoop& loop, store::Pool& pool, net::HttpClient& client,
         const base::Clock& clock, const config::Config& config);
  ~Sender();

  // `attempt` counts from 1. `done` exactly once, later.
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
  };
  void ReadSecrets();
  void Post(const Waiting& waiting, const store::OrgSecrets& secrets);

  base::EventLoop& loop_;
  store::Pool& pool_;
  net::HttpClient& client_;
  const base::Clock& clock_;
  const config::Config& config_;
  std::map<base::Uuid, Cached> secrets_;
  std::vector<Waiting> waiting_;  // for secrets
  bool reading_ = false;
  std::shared_ptr<bool> alive_;
};

}  // namespace vedette::delivery
