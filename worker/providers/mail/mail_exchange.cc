#include "worker/providers/mail/mail_exchange.h"

#include <utility>

#include "base/assert.h"
#include "config/lookup_config.h"
#include "store/email/mail_facts.h"

namespace vedette::worker {
namespace {

using net::SmtpDialogue;
using net::SmtpFault;
using net::SmtpReply;

domain::ReplyCodes CodesOf(const SmtpReply& reply) {
  return {reply.code, reply.enhanced};
}

domain::ReplyStage StageOf(SmtpDialogue::Stage stage) {
  return static_cast<domain::ReplyStage>(stage);
}

std::string_view FaultName(SmtpFault fault) {
  constexpr std::string_view kNames[] = {"not_allowed", "connect",  "timeout",
                                         "tls",         "protocol", "closed"};
  return kNames[static_cast<std::size_t>(fault)];
}

net::SmtpTimes TimesOf(const config::SmtpConfig& config) {
  return {config.connect_timeout_ms, config.banner_timeout_ms, config.reply_timeout_ms,
          config.connection_timeout_ms};
}

}  // namespace

std::string ShownReply(const SmtpReply& reply) {
  std::string out;
  for (const std::string& line : reply.lines) {
    std::size_t at = 0;
    while (at < line.size()) {
      const std::size_t end = std::min(line.find(' ', at), line.size());
      const std::string_view word = std::string_view(line).substr(at, end - at);
      out += out.empty() ? "" : " ";
      out += word.find('@') == std::string_view::npos ? word : std::string_view("<address>");
      at = end + 1;
    }
  }
  const std::string shown = std::to_string(reply.code) + " " + out;
  return shown.substr(0, store::kMailReplyBytesMax);
}

MailExchange::MailExchange(const Dependencies& deps, Plan plan, MailBatch batch, Hooks hooks)
    : deps_(deps),
      plan_(std::move(plan)),
      batch_(std::move(batch)),
      hooks_(std::move(hooks)),
      dialogue_(plan_.dialogue),
      linger_(deps.loop, [this] {
        phase_ = Phase::kClosing;
        Proceed();
      }) {
  net::SmtpConnection::Events events;
  events.reply = [this](const SmtpReply& reply) { OnReply(reply); };
  events.secured = [this] { Act(dialogue_.OnSecured()); };
  events.failed = [this](SmtpFault fault) { OnFault(fault); };
  connection_ = std::make_unique<net::SmtpConnection>(
      deps_.loop, deps_.tls, deps_.policy, plan_.target, TimesOf(deps_.config), std::move(events));
}

MailExchange::~MailExchange() = default;

bool MailExchange::HasRoom() const {
  return (phase_ == Phase::kGreeting || phase_ == Phase::kAsking || phase_ == Phase::kLingering) &&
         batch_.HasRoom();
}

void MailExchange::Add(MailBatch::AskId id, net::SmtpPath path) {
  batch_.Add(id, std::move(path));
  if (phase_ != Phase::kLingering) return;
  linger_.Stop();
  phase_ = Phase::kAsking;
  Proceed();
}

void MailExchange::OnReply(const SmtpReply& reply) {
  const bool is_recipient = phase_ == Phase::kAsking || phase_ == Phase::kClosing;
  if (is_recipient) {
    const auto reply_class = batch_.OnReply(CodesOf(reply));
    deps_.metrics.AddSmtpRecipient(domain::MailClassName(plan_.mail_class),
                                   domain::ReplyClassName(reply_class));
    if (domain::RefusesUs(reply_class)) end_.reply_text = ShownReply(reply);
    if (auto decided = batch_.TakeDecided(); !decided.empty()) {
      hooks_.decided(std::move(decided));
    }
  }
  Act(dialogue_.OnReply(reply));
}

void MailExchange::Act(SmtpDialogue::Step step) {
  if (!step.line.empty()) connection_->Send(step.line);
  switch (step.want) {
    case SmtpDialogue::Want::kReply:
      return;
    case SmtpDialogue::Want::kHandshake:
      return connection_->StartTls();
    case SmtpDialogue::Want::kRecipient:
      if (phase_ == Phase::kGreeting) phase_ = Phase::kAsking;
      return Proceed();
    case SmtpDialogue::Want::kClose:
      break;
  }
  switch (dialogue_.end()) {
    case SmtpDialogue::End::kRefused:
      end_.stage = StageOf(dialogue_.stage());
      end_.refusal_codes = CodesOf(*dialogue_.refusal());
      end_.refusal =
          ClassifyReply(end_.stage, end_.refusal_codes, plan_.mail_class, /*after_accepted=*/false);
      end_.reply_text = ShownReply(*dialogue_.refusal());
      return Finish(MailExchangeEnd::How::kRefused);
    case SmtpDialogue::End::kUtf8NotOffered:
      return Finish(MailExchangeEnd::How::kUtf8NotOffered);
    case SmtpDialogue::End::kFinished:
      return Finish(MailExchangeEnd::How::kFinished);
    case SmtpDialogue::End::kNone:
      end_.fault = SmtpFault::kClosed;  // it said 421
      return Finish(phase_ == Phase::kGoodbye ? MailExchangeEnd::How::kFinished
                                              : MailExchangeEnd::How::kFault);
  }
}

void MailExchange::Proceed() {
  if (const auto path = batch_.Next(phase_ == Phase::kClosing)) {
    return Act(dialogue_.Recipient(*path));
  }
  if (phase_ == Phase::kAsking && batch_.HasRoom()) {
    phase_ = Phase::kLingering;
    return linger_.Start(deps_.config.linger_ms);
  }
  SayGoodbye();
}

// What is decided is told before the server has said goodbye.
void MailExchange::SayGoodbye() {
  phase_ = Phase::kGoodbye;
  end_.rest = batch_.End();
  if (auto decided = std::exchange(end_.rest.decided, {}); !decided.empty()) {
    hooks_.decided(std::move(decided));
  }
  Act(dialogue_.Finish());
}

void MailExchange::OnFault(SmtpFault fault) {
  // After all was asked it makes no difference how the server hangs up; likewise after a refusal.
  if (phase_ == Phase::kGoodbye) return Finish(MailExchangeEnd::How::kFinished);
  if (dialogue_.end() != SmtpDialogue::End::kNone) {
    return Act({"", SmtpDialogue::Want::kClose});
  }
  end_.fault = fault;
  deps_.metrics.AddSmtpConnection(domain::MailClassName(plan_.mail_class), FaultName(fault));
  Finish(MailExchangeEnd::How::kFault);
}

void MailExchange::Finish(MailExchangeEnd::How how) {
  base::Assert(phase_ != Phase::kOver, "an exchange ends once");
  if (how != MailExchangeEnd::How::kFault) {
    deps_.metrics.AddSmtpConnection(domain::MailClassName(plan_.mail_class),
                                    how == MailExchangeEnd::How::kFinished ? "done" : "refused");
  }
  if (phase_ != Phase::kGoodbye) end_.rest = batch_.End();
  phase_ = Phase::kOver;
  linger_.Stop();
  end_.how = how;
  // The hook may destroy this object: what it needs is its own.
  const auto ended = hooks_.ended;
  ended(std::move(end_));
}

}  // namespace vedette::worker
