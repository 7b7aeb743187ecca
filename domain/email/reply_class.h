#pragma once

#include <cstdint>
#include <string_view>

#include "domain/email/mail_class.h"
#include "domain/email/verdict.h"

// What a mail server's reply says, by its codes alone. Its text decides nothing, in any language.
// Pure.
namespace vedette::domain {

// What the reply answers.
enum class ReplyStage : std::uint8_t { kBanner, kHello, kMail, kRecipient };

enum class ReplyClass : std::uint8_t {
  kNone,            // there was no reply
  kAccepted,        // 250, 251
  kUnverified,      // 252: the server takes it without knowing it
  kUnknownMailbox,  // an enhanced code that says that there is no such address
  kBareRefusal,  // 550 and the like alone, which servers use for unknown mailboxes and for policy
  kDisabled,
  kFull,
  kSenderRefused,
  kPolicy,
  kUtf8NotServed,
  kRecipientsSpent,  // no further recipient on this connection; says nothing of this one
  kGreylisted,       // to be tried again later
  kClosing,          // 421
  kUnclear,          // any other refusal
  kNonsense,         // no reply that belongs here
};
std::string_view ReplyClassName(ReplyClass reply_class);  // "accepted": a label of metrics

// Enhanced codes (RFC 3463) win over the three digits (RFC 5321). One whose first digit differs
// from that of the reply contradicts it, and then neither proves an address or refuses one.
// `after_accepted`: a recipient was accepted on this connection before.
ReplyClass ClassifyReply(ReplyStage stage, const ReplyCodes& reply, MailClass mail_class,
                         bool after_accepted);

// Whether the reply refuses us and not an address, so that it counts for the breaker of the host.
bool RefusesUs(ReplyClass reply_class);

}  // namespace vedette::domain
