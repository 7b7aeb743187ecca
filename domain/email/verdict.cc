#include "domain/email/verdict.h"

#include <algorithm>
#include <array>
#include <initializer_list>

#include "domain/text/name_table.h"

namespace vedette::domain {
namespace {

constexpr std::array<std::string_view, kVerdictReasons> kReasons = {
    "",
    "invalid_address",
    "unknown_domain",
    "null_mx",
    "no_mx",
    "dns",
    "not_public",
    "disposable",
    "catch_all",
    "catch_all_unproven",
    "unverified_by_server",
    "refused",
    "refused_unclear",
    "disabled",
    "full",
    "sender_refused",
    "policy",
    "utf8_not_served",
    "greylisted",
    "temporary",
    "timeout",
    "tls",
    "connect",
    "protocol",
    "rate",
    "blocked",
    "no_smtp_worker",
    "not_verified",
};

constexpr std::chrono::hours kDay{24};

}  // namespace

std::string_view VerdictReasonName(VerdictReason reason) {
  return kReasons.at(static_cast<std::size_t>(reason));
}

std::optional<VerdictReason> ParseVerdictReason(std::string_view name) {
  const auto* const found = std::find(kReasons.begin(), kReasons.end(), name);
  if (found == kReasons.end()) return std::nullopt;
  return static_cast<VerdictReason>(found - kReasons.begin());
}

std::optional<std::chrono::hours> VerdictLife(const AddressVerdict& verdict) {
  if (verdict.verdict == Verdict::kOk) return 30 * kDay;
  if (verdict.verdict == Verdict::kRefused) return 7 * kDay;
  switch (verdict.reason) {
    case VerdictReason::kFull:
    case VerdictReason::kDisabled:
    case VerdictReason::kCatchAll:
      return kDay;
    default:
      return std::nullopt;
  }
}

namespace {

constexpr std::array<std::string_view, kMailClassCount> kMailClassNames = {
    "other", "outlook", "microsoft365", "google", "yahoo", "apple", "proofpoint", "mimecast"};

struct Suffix {
  std::string_view text;
  MailClass mail_class;
};
constexpr std::array kSuffixes{
    Suffix{"olc.protection.outlook.com", MailClass::kOutlook},
    Suffix{"mail.protection.outlook.com", MailClass::kMicrosoft365},
    Suffix{"mx.microsoft", MailClass::kMicrosoft365},
    Suffix{"google.com", MailClass::kGoogle},
    Suffix{"googlemail.com", MailClass::kGoogle},
    Suffix{"yahoodns.net", MailClass::kYahoo},
    Suffix{"mail.icloud.com", MailClass::kApple},
    Suffix{"pphosted.com", MailClass::kProofpoint},
    Suffix{"ppe-hosted.com", MailClass::kProofpoint},
    Suffix{"mimecast.com", MailClass::kMimecast},
};

// The recipients of each class; 0: the configuration's.
constexpr std::array<int, kMailClassCount> kRecipients = {0, 1, 5, 10, 1, 5, 3, 3};

bool HasSuffix(std::string_view host, std::string_view suffix) {
  return host == suffix || (host.size() > suffix.size() && host.ends_with(suffix) &&
                            host[host.size() - suffix.size() - 1] == '.');
}

}  // namespace

std::string_view MailClassName(MailClass mail_class) {
  return NameIn(kMailClassNames, mail_class);
}

MailClass MailClassOfHostKey(std::string_view key) {
  const std::string_view last = key.substr(key.rfind(' ') + 1);
  const auto found = std::find(kMailClassNames.begin(), kMailClassNames.end(), last);
  return found == kMailClassNames.end() ? MailClass::kOther
                                        : static_cast<MailClass>(found - kMailClassNames.begin());
}

MailClass MailClassOf(std::string_view host) {
  const Suffix* best = nullptr;
  for (const Suffix& suffix : kSuffixes) {
    if (HasSuffix(host, suffix.text) &&
        (best == nullptr || suffix.text.size() > best->text.size())) {
      best = &suffix;
    }
  }
  return best == nullptr ? MailClass::kOther : best->mail_class;
}

int RecipientsMax(MailClass mail_class, int other_max) {
  const int own = kRecipients.at(static_cast<std::size_t>(mail_class));
  return own == 0 ? other_max : std::min(own, other_max);
}

namespace {

constexpr std::array<std::string_view, 15> kReplyClassNames = {
    "none",    "accepted",       "unverified", "unknown_mailbox", "bare_refusal",     "disabled",
    "full",    "sender_refused", "policy",     "utf8_not_served", "recipients_spent", "greylisted",
    "closing", "unclear",        "nonsense"};

bool IsOneOf(std::string_view text, std::initializer_list<std::string_view> list) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

bool IsOneOf(int code, std::initializer_list<int> list) {
  return std::find(list.begin(), list.end(), code) != list.end();
}

// A refusal for good, by its enhanced code; kNone where it has none that decides.
ReplyClass ByEnhanced(ReplyStage stage, std::string_view enhanced, MailClass mail_class) {
  if (enhanced.starts_with("5.7.")) return ReplyClass::kPolicy;
  if (IsOneOf(enhanced, {"5.1.7", "5.1.8"})) return ReplyClass::kSenderRefused;
  if (enhanced == "5.6.7") return ReplyClass::kUtf8NotServed;
  if (stage != ReplyStage::kRecipient) return ReplyClass::kNone;
  if (IsOneOf(enhanced, {"5.1.1", "5.1.2", "5.1.3", "5.1.6", "5.1.10"})) {
    return ReplyClass::kUnknownMailbox;
  }
  if (enhanced == "5.4.1" && mail_class == MailClass::kMicrosoft365) {
    return ReplyClass::kUnknownMailbox;  // its documented code for unknown recipients
  }
  if (enhanced == "5.2.1") return ReplyClass::kDisabled;
  if (enhanced == "5.2.2") return ReplyClass::kFull;
  return ReplyClass::kNone;
}

ReplyClass RefusedForGood(ReplyStage stage, const ReplyCodes& reply, MailClass mail_class) {
  const bool bare = IsOneOf(reply.enhanced, {"", "5.0.0", "5.1.0", "5.5.0"});
  const ReplyClass by_enhanced = ByEnhanced(stage, reply.enhanced, mail_class);
  if (by_enhanced != ReplyClass::kNone) return by_enhanced;
  if (IsOneOf(reply.code, {530, 535})) return ReplyClass::kPolicy;
  switch (stage) {
    case ReplyStage::kBanner:
    case ReplyStage::kHello:
      return ReplyClass::kPolicy;
    case ReplyStage::kMail:
      return ReplyClass::kSenderRefused;
    case ReplyStage::kRecipient:
      break;
  }
  if (reply.code == 552 && bare) return ReplyClass::kFull;
  if (bare && IsOneOf(reply.code, {550, 551, 553, 554})) return ReplyClass::kBareRefusal;
  return ReplyClass::kUnclear;
}

ReplyClass RefusedForNow(const ReplyCodes& reply, bool after_accepted) {
  if (reply.code == 421) return ReplyClass::kClosing;
  if (reply.enhanced == "4.2.2") return ReplyClass::kFull;
  if (after_accepted &&
      (reply.enhanced == "4.5.3" || (reply.code == 452 && reply.enhanced.empty()))) {
    return ReplyClass::kRecipientsSpent;
  }
  return ReplyClass::kGreylisted;
}

}  // namespace

std::string_view ReplyClassName(ReplyClass reply_class) {
  return NameIn(kReplyClassNames, reply_class);
}

ReplyClass ClassifyReply(ReplyStage stage, const ReplyCodes& reply, MailClass mail_class,
                         bool after_accepted) {
  if (reply.code == 0) return ReplyClass::kNone;
  const int kind = reply.code / 100;
  const bool contradicts = !reply.enhanced.empty() && reply.enhanced.front() != '0' + kind;
  switch (kind) {
    case 2:
      if (contradicts) return ReplyClass::kNonsense;
      if (stage != ReplyStage::kRecipient) return ReplyClass::kAccepted;
      if (reply.code == 252) return ReplyClass::kUnverified;
      return IsOneOf(reply.code, {250, 251}) ? ReplyClass::kAccepted : ReplyClass::kNonsense;
    case 4:
      return contradicts && reply.code != 421 ? ReplyClass::kGreylisted
                                              : RefusedForNow(reply, after_accepted);
    case 5:
      return contradicts ? ReplyClass::kUnclear : RefusedForGood(stage, reply, mail_class);
    default:
      return ReplyClass::kNonsense;
  }
}

bool RefusesUs(ReplyClass reply_class) {
  return reply_class == ReplyClass::kPolicy || reply_class == ReplyClass::kSenderRefused;
}

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

AddressVerdict CheckAddress(const AddressFacts& facts) {
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
  const Reason reason = CheckAddress(facts).reason;
  const bool control_waits =
      reason == Reason::kCatchAllUnproven && facts.control == ReplyClass::kGreylisted;
  if (reason != Reason::kGreylisted && !control_waits) return std::nullopt;
  return kGreylistFirst * (1 << attempt);
}

}  // namespace vedette::domain
