#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/event_loop.h"
#include "config/config_fwd.h"
#include "domain/channel/mail.h"

namespace vedette::net {

struct OutgoingMail {
  std::string from;                          // addresses without brackets, in ASCII
  std::string to;                            // one
  std::string message;                       // RFC 5322, with CRLF
  std::chrono::milliseconds timeout{10000};  // from its turn on: name, connection, dialogue
};

struct MailOutcome {
  enum class End : std::uint8_t {
    kTaken,           // the relay answers for it from now on
    kRefusedAddress,  // 5xx to RCPT: it will never take mail for the address
    kFailed,  // anything else; whether the relay has it is not known where its answer is lost
  };
  End end = End::kFailed;
  int reply = 0;      // the relay's last one that says something of the mail; 0: none
  std::string error;  // class and sentence, without the address; empty where it was taken
  std::chrono::microseconds duration{};
};

// Hands mail to one relay: curl's SMTP on the loop, the name by Resolver, TLS verified, over at
// most kConnectionsMax connections, which are kept. More mail waits its turn inside. Loop thread
// only.
class MailClient {
 public:
  static constexpr int kConnectionsMax = 20;

  // `hello_name`: what the client calls itself.
  MailClient(base::EventLoop& loop, const config::NetConfig& config, domain::MailRelay relay,
             std::string password, const std::string& hello_name);
  ~MailClient();  // mail under way is dropped without a callback

  // `done` exactly once, later, on the loop thread, never from inside Send.
  void Send(OutgoingMail mail, std::function<void(MailOutcome)> done);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;  // by itself alone; what is posted to the loop only looks at it
};

}  // namespace vedette::net
