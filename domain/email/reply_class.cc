#include "domain/email/reply_class.h"

#include <algorithm>
#include <array>
#include <initializer_list>

#include "domain/name_table.h"

namespace vedette::domain {
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

}  // namespace vedette::domain
