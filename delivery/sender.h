#pragma once

#include <chrono>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/byte_budget.h"
#include "base/clock.h"
#include "base/event_loop.h"
#include "base/log.h"
#include "base/uuid.h"
#include "config/config_fwd.h"
#include "domain/job/webhook.h"
#include "lease/live.h"
#include "lease/step.h"
#include "net/http_client.h"
#include "net/mail_client.h"
#include "store/accounts/signing_secrets.h"
#include "store/channels/news.h"
#include "store/deliveries/deliveries.h"
#include "store/session.h"

// What a block `outgoing_webhook` tells of the end of its run.
namespace vedette::delivery {

// The run and the block.
using RunBlock = std::pair<base::Uuid, int>;

// The bodies of these notifications, whose JobNotice has a block; a run that cannot be read has
// none. Only the link and its end differ between two calls: a retry after an hour carries a link
// that lives. The rows go along where they have at most [workflows] inline_results_bytes_max as
// JSON. On a pool's thread; throws what the store throws.
std::map<RunBlock, std::string> RunCallbackBodies(
    store::Session& session, const std::vector<domain::Notification>& notifications,
    const config::Config& config, base::Timestamp now);

// What came of one try to send a notification.
struct SendResult {
  std::optional<int> status_code;
  std::optional<std::string> error;  // class and sentence, unless the status is 2xx
  std::string answer;                // the first bytes of the body
  std::optional<std::chrono::milliseconds> retry_after;
  std::chrono::microseconds duration{};
  bool tried = true;  // false: it never came to a request, which is not the receiver's failure
  // Not tried: its monitor now sends to another receiver, or to none, or it may not go any more.
  bool moved = false;
  // What it means for the notification, where that is not what a status of HTTP says.
  std::optional<domain::AttemptEnd> end{};
};

// Signs and posts one notification; each attempt is signed again. What it goes by is never older
// than a second when the request is made: the organisation's secrets, which are kept for that long
// (store/accounts/signing_secrets.h), and the monitor's webhook_url and metadata, which are read
// again for a notification that has waited for longer. The body of a job's callback is made of the
// ended job, and that for a channel of the check's events and the channel, which are read with the
// secrets at every attempt; the process holds at most [delivery] bodies_held_bytes_max of such
// bodies, and further ones wait, by turns of organisations. An
// organisation whose secret cannot be read sends nothing (fail closed). Loop thread only;
// everything handed in must outlive this object.
class Sender {
 public:
  Sender(base::EventLoop& loop, store::Pool& pool, net::HttpClient& client,
         const base::Clock& clock, const config::Config& config, base::Logger log);

  // `attempt` counts from 1. `done` is called exactly once, later, unless this object ends before.
  // One without an endpoint_id, a test, goes to the url it has. `may` is asked when everything has
  // been read and the request is to be made: whether it may still go. Empty: it may.
  void Send(const domain::Notification& notification, int attempt,
            std::function<void(SendResult)> done, std::function<bool()> may = {});

 private:
  struct Cached {
    store::OrgSecrets secrets;
    std::chrono::nanoseconds read_at{};  // since boot, when the read began
  };
  // Room for a body that is read, until its attempt has ended.
  struct Room {
    std::shared_ptr<base::ByteBudget> budget;  // which every holding needs
    base::ByteBudget::Holding holding;
  };
  struct Waiting {
    domain::Notification notification;
    int attempt;
    std::function<void(SendResult)> done;
    int reads = 0;                 // made for it that took too long to be of use
    std::shared_ptr<Room> room{};  // of one whose body is read
    std::function<bool()> may{};
  };
  using WaitingList = std::vector<Waiting>;
  // What one reading of the database gave.
  struct Reading {
    std::chrono::nanoseconds began{};  // since boot
    std::map<base::Uuid, store::OrgSecrets> secrets;
    store::DeliveryTargets targets;
    std::map<base::Uuid, std::string> bodies;              // of callbacks of lookups, by job
    std::map<RunBlock, std::string> run_bodies;            // of those of runs
    std::map<base::Uuid, store::ChannelMessage> channels;  // by delivery
  };
  bool IsFresh(std::chrono::nanoseconds read_at) const;
  void SendWithRoom(Waiting waiting);
  lease::Step<Reading>::Job Read();
  void OnRead(WaitingList waiting, const Reading& reading);
  void OnNotRead();
  void Fail(const Waiting& waiting, std::string error);
  static const std::string* BodyOf(const domain::JobNotice& job, const Reading& reading);
  void PostAsRead(Waiting waiting, const Reading& reading);
  void PostToChannel(Waiting waiting, const Reading& reading);
  void Moved(const Waiting& waiting);
  void Post(Waiting waiting, const store::OrgSecrets& secrets, std::string body);
  void Call(Waiting waiting, net::HttpRequest request);
  void Mail(const Waiting& waiting, const store::ChannelMessage& message);
  // Ends it without an attempt, and without a word about the receiver.
  void GiveUp(const Waiting& waiting, std::string error);

  base::EventLoop& loop_;
  net::HttpClient& client_;
  const base::Clock& clock_;
  const config::Config& config_;
  std::unique_ptr<net::MailClient> mail_;  // null without a relay
  std::map<base::Uuid, Cached> secrets_;
  WaitingList waiting_;      // for the next reading
  WaitingList reading_for_;  // for the one that is under way
  std::shared_ptr<base::ByteBudget> bodies_;
  std::list<Waiting> for_room_;
  lease::Step<Reading> read_;
  lease::Live live_;
};

}  // namespace vedette::delivery
