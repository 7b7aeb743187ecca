#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"

// What mail servers say of an address, as the verifier answers it. CheckAddress decides it. The
// numbers are stored (email_fact): they never change, and new ones are added at the end.
namespace vedette::domain {

enum class Verdict : std::uint8_t {
  kOk = 0,       // "OK": the server takes this address and refuses one that should not exist
  kUnknown = 1,  // "UNKNOWN": nobody could tell, as the reason says
  kRefused = 2,  // "NOT_FOUND": the server, or the DNS, says that there is no such address
};

enum class VerdictReason : std::uint8_t {
  kNone = 0,  // of kOk
  // Refused before any dialogue.
  kInvalidAddress = 1,
  kUnknownDomain = 2,
  kNullMx = 3,
  kNoMx = 4,
  // Unknown without a dialogue.
  kDns = 5,
  kNotPublic = 6,
  kDisposable = 7,
  // What servers said.
  kCatchAll = 8,
  kCatchAllUnproven = 9,
  kUnverifiedByServer = 10,
  kRefused = 11,  // the one reason of a refusal by a server
  kRefusedUnclear = 12,
  kDisabled = 13,
  kFull = 14,
  kSenderRefused = 15,
  kPolicy = 16,
  kUtf8NotServed = 17,
  kGreylisted = 18,
  // What came between.
  kTemporary = 19,
  kTimeout = 20,
  kTls = 21,
  kConnect = 22,
  kProtocol = 23,
  // Not asked.
  kRate = 24,
  kBlocked = 25,
  kNoSmtpWorker = 26,
  kNotVerified = 27,
};
inline constexpr int kVerdictReasons = 28;

// "catch_all"; empty for kNone.
std::string_view VerdictReasonName(VerdictReason reason);
std::optional<VerdictReason> ParseVerdictReason(std::string_view name);

// A reply's codes alone; its text is not kept. `enhanced` is "5.1.1", or empty.
struct ReplyCodes {
  int code = 0;  // 0: there was none
  std::string enhanced{};

  bool operator==(const ReplyCodes&) const = default;
};

// The evidence of a verdict.
struct MailEvidence {
  std::string mx_host{};
  ReplyCodes address{};
  ReplyCodes control{};
  ReplyCodes witness{};

  bool operator==(const MailEvidence&) const = default;
};

struct AddressVerdict {
  Verdict verdict = Verdict::kUnknown;
  VerdictReason reason = VerdictReason::kNotVerified;
  MailEvidence evidence{};
  std::optional<base::Timestamp> checked_at{};  // empty where no server was asked
};

// How long an organisation may rely on the verdict; empty: not at all.
std::optional<std::chrono::hours> VerdictLife(const AddressVerdict& verdict);

// Which provider runs a mail host, by the suffix of its name, and what that says about manners. A
// class sets numbers alone; whether a domain accepts everybody, its control finds. The numbers are
// stored (mail_domain.class): they never change. Pure.

enum class MailClass : std::uint8_t {
  kOther = 0,
  kOutlook = 1,
  kMicrosoft365 = 2,
  kGoogle = 3,
  kYahoo = 4,
  kApple = 5,
  kProofpoint = 6,
  kMimecast = 7,
};
inline constexpr std::size_t kMailClassCount = 8;

std::string_view MailClassName(MailClass mail_class);  // "google"

// The class in the key of a host that is left alone, "<hello name> google" or "<hello name>
// 192.0.2.0/24".
MailClass MailClassOfHostKey(std::string_view key);

// `host` is in lower case. The longest suffix wins; a suffix is one or more whole labels.
MailClass MailClassOf(std::string_view host);

// Recipients of one connection, controls and witnesses included. `other_max` is that of kOther.
int RecipientsMax(MailClass mail_class, int other_max);

// What a mail server's reply says, by its codes alone. Its text decides nothing, in any language.
// Pure.

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
AddressVerdict CheckAddress(const AddressFacts& facts);

// Whether the control was refused as an unknown mailbox is.
bool IsControlRefused(const AddressFacts& facts);

// Greylists let a sender pass that comes back: after 10, 20, 40 minutes. Empty where the tries are
// spent, and where the verdict would not change. `attempt`: how often it was put off before.
inline constexpr int kGreylistTriesMax = 3;
std::optional<std::chrono::milliseconds> GreylistWait(const AddressFacts& facts, int attempt);

}  // namespace vedette::domain
