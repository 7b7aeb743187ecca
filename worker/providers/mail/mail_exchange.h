#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/event_loop.h"
#include "config/config_fwd.h"
#include "metrics/metrics.h"
#include "net/smtp/connection.h"
#include "net/smtp/dialogue.h"
#include "worker/providers/mail/mail_batch.h"

namespace vedette::worker {

// How a connection to a mail server ended.
struct MailExchangeEnd {
  enum class How : std::uint8_t {
    kFinished,  // all was asked, and we said goodbye
    kRefused,   // at `stage`, as `refusal` says
    kUtf8NotOffered,
    kFault,  // as `fault` says
  };
  How how = How::kFinished;
  net::SmtpFault fault = net::SmtpFault::kClosed;
  domain::ReplyStage stage = domain::ReplyStage::kBanner;
  domain::ReplyClass refusal = domain::ReplyClass::kNone;
  domain::ReplyCodes refusal_codes{};
  std::string reply_text{};  // of the refusal of us that came last, addresses in it replaced
  MailBatch::Rest rest{};
};

// One connection to one mail host: the socket, what is said, and who is asked. Loop thread only.
//
//   greeting --> asking <--> lingering for more addresses
//   asking, lingering --nobody is left to ask about--> control, postmaster --> goodbye --> over
class MailExchange {
 public:
  struct Dependencies {
    base::EventLoop& loop;
    metrics::Metrics& metrics;
    const net::TlsContext& tls;
    const net::AddressPolicy& policy;
    const config::SmtpConfig& config;
  };
  struct Plan {
    net::SmtpTarget target;
    net::SmtpDialogueOptions dialogue;
    domain::MailClass mail_class;
  };
  struct Hooks {
    // Addresses that are decided, while the connection goes on.
    std::function<void(std::vector<MailBatch::Decided>)> decided;
    // The last event. It may destroy the exchange.
    std::function<void(MailExchangeEnd)> ended;
  };

  // Everything in `deps` must outlive this object. Hooks come from the loop, never from inside a
  // method.
  MailExchange(const Dependencies& deps, Plan plan, MailBatch batch, Hooks hooks);
  ~MailExchange();

  bool HasRoom() const;
  void Add(MailBatch::AskId id, net::SmtpPath path);
  const MailBatch& batch() const { return batch_; }
  // The text of the last reply that refused us, as ShownReply gives it.
  const std::string& refusal_text() const { return end_.reply_text; }

 private:
  enum class Phase : std::uint8_t { kGreeting, kAsking, kLingering, kClosing, kGoodbye, kOver };

  void OnReply(const net::SmtpReply& reply);
  void OnFault(net::SmtpFault fault);
  void Act(net::SmtpDialogue::Step step);
  void Proceed();
  void SayGoodbye();
  void Finish(MailExchangeEnd::How how);

  const Dependencies deps_;
  const Plan plan_;
  MailBatch batch_;
  const Hooks hooks_;
  net::SmtpDialogue dialogue_;
  Phase phase_ = Phase::kGreeting;
  MailExchangeEnd end_;
  base::Timer linger_;
  std::unique_ptr<net::SmtpConnection> connection_;
};

// A server's text for the operator: at most kMailReplyBytesMax, with every address replaced.
std::string ShownReply(const net::SmtpReply& reply);

}  // namespace vedette::worker
