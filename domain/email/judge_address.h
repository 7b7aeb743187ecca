#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "domain/email/reply_class.h"
#include "domain/email/verdict.h"

// The verdict about an address, from what was seen of it. Pure. The first line that fits decides:
//
//   no address by syntax; no such domain; null MX; neither MX nor address   refused
//   DNS fails; no public address; a disposable domain                       unknown
//   a guess, at a domain that accepted its control of late                  unknown, catch_all
//   accepted, and the control refused after it as an unknown mailbox        ok
//   accepted otherwise                                     unknown, catch_all or catch_all_unproven
//   a code that says "no such mailbox"                                      refused
//   a bare refusal, with a witness                                          refused
//   everything else                                                         unknown, with its
//   reason
//
// A bare refusal ("550 no") is what servers say of unknown mailboxes and of senders that they do
// not like. It is about the address only if another ordinary recipient of the domain is accepted
// after it on the same connection: the witness. Before it proves nothing, since servers refuse
// everything after some errors. Postmaster may prove the control that way, and nothing else, since
// servers spare it the checks that refuse everybody else.
namespace vedette::domain {

// The DNS's word on a domain. The numbers are stored (mail_domain.mx_kind): they never change.
enum class MailDomainKind : std::uint8_t {
  kServed = 0,         // it has mail hosts
  kUnknownDomain = 1,  // it does not exist
  kNullMx = 2,         // RFC 7505: it wants no mail
  kNoMx = 3,           // neither MX nor A nor AAAA
};

struct AddressFacts {
  // How the question went, where it led to no reply about the address.
  enum class Course : std::uint8_t {
    kReplied,  // `reply` says it: to RCPT, or to what came before it
    kDnsFailed,
    kNotPublic,
    kClosed,  // the server hung up, again after a reconnect
    kTimeout,
    kTls,
    kConnect,
    kProtocol,
    kUtf8NotOffered,
    kNoPermit,
    kBlocked,
  };

  bool valid_syntax = true;
  MailDomainKind domain = MailDomainKind::kServed;
  bool disposable = false;
  bool guess = false;
  bool domain_accepts_all = false;  // it accepted its control, at most kControlLife ago
  Course course = Course::kReplied;
  ReplyClass reply = ReplyClass::kNone;
  bool witness = false;                    // for a bare refusal, as above
  ReplyClass control = ReplyClass::kNone;  // asked after the address was accepted
  bool control_witness = false;            // postmaster was accepted after the control
};

// How long the control's answer and the control itself count.
inline constexpr std::chrono::hours kControlLife{7 * 24};
inline constexpr std::chrono::hours kMxLife{24};

// The verdict with its reason; the evidence is the caller's.
AddressVerdict JudgeAddress(const AddressFacts& facts);

// Whether the control was refused as an unknown mailbox is.
bool IsControlRefused(const AddressFacts& facts);

// Greylists let a sender pass that comes back: after 10, 20, 40 minutes. Empty where the tries are
// spent, and where the verdict would not change. `attempt`: how often it was put off before.
inline constexpr int kGreylistTriesMax = 3;
std::optional<std::chrono::milliseconds> GreylistWait(const AddressFacts& facts, int attempt);

}  // namespace vedette::domain
