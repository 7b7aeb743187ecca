#include "domain/email/judge_address.h"

namespace vedette::domain {
namespace {

using Reason = VerdictReason;
using Course = AddressFacts::Course;

constexpr std::chrono::minutes kGreylistFirst{10};

AddressVerdict Say(Verdict verdict, Reason reason) {
  AddressVerdict said;
  said.verdict = verdict;
  said.reason = reason;
  return said;
}
AddressVerdict Refused(Reason reason) {
  return Say(Verdict::kRefused, reason);
}
AddressVerdict Unknown(Reason reason) {
  return Say(Verdict::kUnknown, reason);
}

std::optional<AddressVerdict> ByDns(const AddressFacts& facts) {
  if (!facts.valid_syntax) return Refused(Reason::kInvalidAddress);
  switch (facts.domain) {
    case MailDomainKind::kServed:
      break;
    case MailDomainKind::kUnknownDomain:
      return Refused(Reason::kUnknownDomain);
    case MailDomainKind::kNullMx:
      return Refused(Reason::kNullMx);
    case MailDomainKind::kNoMx:
      return Refused(Reason::kNoMx);
  }
  if (facts.course == Course::kDnsFailed) return Unknown(Reason::kDns);
  if (facts.course == Course::kNotPublic) return Unknown(Reason::kNotPublic);
  if (facts.disposable) return Unknown(Reason::kDisposable);
  if (facts.guess && facts.domain_accepts_all) return Unknown(Reason::kCatchAll);
  return std::nullopt;
}

AddressVerdict ByCourse(Course course) {
  switch (course) {
    case Course::kTimeout:
      return Unknown(Reason::kTimeout);
    case Course::kTls:
      return Unknown(Reason::kTls);
    case Course::kConnect:
      return Unknown(Reason::kConnect);
    case Course::kProtocol:
      return Unknown(Reason::kProtocol);
    case Course::kUtf8NotOffered:
      return Unknown(Reason::kUtf8NotServed);
    case Course::kNoPermit:
      return Unknown(Reason::kRate);
    case Course::kBlocked:
      return Unknown(Reason::kBlocked);
    default:
      return Unknown(Reason::kTemporary);
  }
}

AddressVerdict Accepted(const AddressFacts& facts) {
  if (IsControlRefused(facts)) return Say(Verdict::kOk, Reason::kNone);
  if (facts.control == ReplyClass::kAccepted) return Unknown(Reason::kCatchAll);
  return Unknown(Reason::kCatchAllUnproven);
}

}  // namespace

bool IsControlRefused(const AddressFacts& facts) {
  return facts.control == ReplyClass::kUnknownMailbox ||
         (facts.control == ReplyClass::kBareRefusal && facts.control_witness);
}

AddressVerdict JudgeAddress(const AddressFacts& facts) {
  if (auto verdict = ByDns(facts)) return *std::move(verdict);
  if (facts.course != Course::kReplied) return ByCourse(facts.course);
  switch (facts.reply) {
    case ReplyClass::kAccepted:
      return Accepted(facts);
    case ReplyClass::kUnverified:
      return Unknown(Reason::kUnverifiedByServer);
    case ReplyClass::kUnknownMailbox:
      return Refused(Reason::kRefused);
    case ReplyClass::kBareRefusal:
      return facts.witness ? Refused(Reason::kRefused) : Unknown(Reason::kRefusedUnclear);
    case ReplyClass::kDisabled:
      return Unknown(Reason::kDisabled);
    case ReplyClass::kFull:
      return Unknown(Reason::kFull);
    case ReplyClass::kSenderRefused:
      return Unknown(Reason::kSenderRefused);
    case ReplyClass::kPolicy:
      return Unknown(Reason::kPolicy);
    case ReplyClass::kUtf8NotServed:
      return Unknown(Reason::kUtf8NotServed);
    case ReplyClass::kGreylisted:
    case ReplyClass::kRecipientsSpent:  // more connections than one address may cost
      return Unknown(Reason::kGreylisted);
    case ReplyClass::kUnclear:
      return Unknown(Reason::kRefusedUnclear);
    case ReplyClass::kNonsense:
      return Unknown(Reason::kProtocol);
    case ReplyClass::kNone:
    case ReplyClass::kClosing:
      return Unknown(Reason::kTemporary);
  }
  return Unknown(Reason::kProtocol);
}

std::optional<std::chrono::milliseconds> GreylistWait(const AddressFacts& facts, int attempt) {
  if (attempt >= kGreylistTriesMax) return std::nullopt;
  const Reason reason = JudgeAddress(facts).reason;
  const bool control_waits =
      reason == Reason::kCatchAllUnproven && facts.control == ReplyClass::kGreylisted;
  if (reason != Reason::kGreylisted && !control_waits) return std::nullopt;
  return kGreylistFirst * (1 << attempt);
}

}  // namespace vedette::domain
