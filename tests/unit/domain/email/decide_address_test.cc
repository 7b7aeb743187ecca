#include "domain/email/verdict.h"

#include <gtest/gtest.h>

#include <random>

namespace vedette::domain {
namespace {

using Course = AddressFacts::Course;
using Reason = VerdictReason;

ReplyClass Recipient(int code, const char* enhanced = "", MailClass mail_class = MailClass::kOther,
                     bool after_accepted = false) {
  return ClassifyReply(ReplyStage::kRecipient, {code, enhanced}, mail_class, after_accepted);
}

AddressFacts Replied(ReplyClass reply) {
  AddressFacts facts;
  facts.reply = reply;
  return facts;
}

TEST(ReplyClasses, EnhancedCodesWinOverThreeDigits) {
  for (const char* code : {"5.1.1", "5.1.2", "5.1.3", "5.1.6", "5.1.10"}) {
    EXPECT_EQ(Recipient(550, code), ReplyClass::kUnknownMailbox) << code;
    EXPECT_EQ(Recipient(552, code), ReplyClass::kUnknownMailbox) << code;
  }
  EXPECT_EQ(Recipient(550, "5.7.1"), ReplyClass::kPolicy);
  EXPECT_EQ(Recipient(550, "5.2.2"), ReplyClass::kFull);
  EXPECT_EQ(Recipient(550, "5.2.1"), ReplyClass::kDisabled);
  EXPECT_EQ(Recipient(452, "4.2.2"), ReplyClass::kFull);
}

TEST(ReplyClasses, ABareRefusalIsNoWordAboutTheMailbox) {
  for (const int code : {550, 551, 553, 554}) {
    for (const char* enhanced : {"", "5.0.0", "5.1.0", "5.5.0"}) {
      EXPECT_EQ(Recipient(code, enhanced), ReplyClass::kBareRefusal) << code << enhanced;
    }
  }
  EXPECT_EQ(Recipient(552), ReplyClass::kFull);
  EXPECT_EQ(Recipient(550, "5.3.0"), ReplyClass::kUnclear);
  EXPECT_EQ(Recipient(501), ReplyClass::kUnclear);
}

TEST(ReplyClasses, TheCodeOfMicrosoft365CountsThereAlone) {
  EXPECT_EQ(Recipient(550, "5.4.1", MailClass::kMicrosoft365), ReplyClass::kUnknownMailbox);
  EXPECT_EQ(Recipient(550, "5.4.1", MailClass::kOutlook), ReplyClass::kUnclear);
}

TEST(ReplyClasses, ACodeThatContradictsItselfNeitherProvesNorRefuses) {
  EXPECT_EQ(Recipient(450, "5.1.1"), ReplyClass::kGreylisted);
  EXPECT_EQ(Recipient(550, "4.1.1"), ReplyClass::kUnclear);
  EXPECT_EQ(Recipient(250, "5.1.1"), ReplyClass::kNonsense);
}

TEST(ReplyClasses, WhatComesBeforeTheRecipientIsAboutUs) {
  EXPECT_EQ(ClassifyReply(ReplyStage::kBanner, {554, ""}, MailClass::kOther, false),
            ReplyClass::kPolicy);
  EXPECT_EQ(ClassifyReply(ReplyStage::kHello, {550, "5.1.1"}, MailClass::kOther, false),
            ReplyClass::kPolicy);
  EXPECT_EQ(ClassifyReply(ReplyStage::kMail, {550, "5.1.1"}, MailClass::kOther, false),
            ReplyClass::kSenderRefused);
  EXPECT_EQ(ClassifyReply(ReplyStage::kMail, {550, "5.7.1"}, MailClass::kOther, false),
            ReplyClass::kPolicy);
  EXPECT_EQ(ClassifyReply(ReplyStage::kMail, {451, "4.7.1"}, MailClass::kOther, false),
            ReplyClass::kGreylisted);
}

TEST(ReplyClasses, ABare452IsAboutTheConnectionOnlyAfterAnAcceptedRecipient) {
  EXPECT_EQ(Recipient(452, "", MailClass::kOther, true), ReplyClass::kRecipientsSpent);
  EXPECT_EQ(Recipient(452, "4.5.3", MailClass::kOther, true), ReplyClass::kRecipientsSpent);
  EXPECT_EQ(Recipient(452), ReplyClass::kGreylisted);
}

TEST(DecideAddress, TheDnsDecidesFirst) {
  AddressFacts facts = Replied(ReplyClass::kAccepted);
  facts.control = ReplyClass::kUnknownMailbox;
  EXPECT_EQ(CheckAddress(facts).verdict, Verdict::kOk);
  facts.domain = MailDomainKind::kNullMx;
  EXPECT_EQ(CheckAddress(facts).verdict, Verdict::kRefused);
  EXPECT_EQ(CheckAddress(facts).reason, Reason::kNullMx);
  facts.domain = MailDomainKind::kNoMx;
  EXPECT_EQ(CheckAddress(facts).reason, Reason::kNoMx);
  facts.domain = MailDomainKind::kUnknownDomain;
  EXPECT_EQ(CheckAddress(facts).reason, Reason::kUnknownDomain);
  facts.valid_syntax = false;
  EXPECT_EQ(CheckAddress(facts).reason, Reason::kInvalidAddress);
}

TEST(DecideAddress, AnAcceptedAddressIsOkOnlyBesideARefusedControl) {
  AddressFacts facts = Replied(ReplyClass::kAccepted);
  EXPECT_EQ(CheckAddress(facts).reason, Reason::kCatchAllUnproven);
  facts.control = ReplyClass::kAccepted;
  EXPECT_EQ(CheckAddress(facts).reason, Reason::kCatchAll);
  facts.control = ReplyClass::kBareRefusal;
  EXPECT_EQ(CheckAddress(facts).reason, Reason::kCatchAllUnproven);
  facts.control_witness = true;
  EXPECT_EQ(CheckAddress(facts).verdict, Verdict::kOk);
  facts.control = ReplyClass::kPolicy;
  EXPECT_EQ(CheckAddress(facts).reason, Reason::kCatchAllUnproven);
}

TEST(DecideAddress, ABareRefusalNeedsAWitness) {
  AddressFacts facts = Replied(ReplyClass::kBareRefusal);
  facts.control_witness = true;  // postmaster proves the control alone
  EXPECT_EQ(CheckAddress(facts).reason, Reason::kRefusedUnclear);
  facts.witness = true;
  EXPECT_EQ(CheckAddress(facts).verdict, Verdict::kRefused);
}

TEST(DecideAddress, GreylistsAreTriedAgainAfterTenTwentyAndFortyMinutes) {
  using std::chrono::minutes;
  const AddressFacts facts = Replied(ReplyClass::kGreylisted);
  EXPECT_EQ(GreylistWait(facts, 0), minutes(10));
  EXPECT_EQ(GreylistWait(facts, 1), minutes(20));
  EXPECT_EQ(GreylistWait(facts, 2), minutes(40));
  EXPECT_EQ(GreylistWait(facts, 3), std::nullopt);
  EXPECT_EQ(GreylistWait(Replied(ReplyClass::kPolicy), 0), std::nullopt);
  AddressFacts control = Replied(ReplyClass::kAccepted);
  control.control = ReplyClass::kGreylisted;
  EXPECT_EQ(GreylistWait(control, 0), minutes(10));
}

TEST(DecideAddress, OverRandomFactsNothingIsOkWithoutARefusedControlAndPolicyIsNeverARefusal) {
  std::mt19937 random(7);
  const auto pick = [&](int n) { return std::uniform_int_distribution<int>(0, n - 1)(random); };
  for (int i = 0; i < 200'000; ++i) {
    AddressFacts facts;
    facts.valid_syntax = pick(20) != 0;
    facts.domain = static_cast<MailDomainKind>(pick(4));
    facts.disposable = pick(8) == 0;
    facts.guess = pick(2) == 0;
    facts.domain_accepts_all = pick(3) == 0;
    facts.course = static_cast<Course>(pick(11));
    if (pick(2) == 0) facts.course = Course::kReplied;
    facts.reply = static_cast<ReplyClass>(pick(15));
    facts.witness = pick(2) == 0;
    facts.control = static_cast<ReplyClass>(pick(15));
    facts.control_witness = pick(2) == 0;
    const AddressVerdict verdict = CheckAddress(facts);
    if (verdict.verdict == Verdict::kOk) {
      ASSERT_TRUE(IsControlRefused(facts));
      ASSERT_EQ(facts.reply, ReplyClass::kAccepted);
      ASSERT_EQ(facts.course, Course::kReplied);
    }
    if (verdict.reason == Reason::kRefused) {
      ASSERT_TRUE(facts.reply == ReplyClass::kUnknownMailbox ||
                  (facts.reply == ReplyClass::kBareRefusal && facts.witness));
      ASSERT_EQ(facts.course, Course::kReplied);
    }
    ASSERT_EQ(verdict.verdict == Verdict::kOk, verdict.reason == Reason::kNone);
  }
}

TEST(MailClasses, AreChosenByTheLongestSuffixOfWholeLabels) {
  EXPECT_EQ(MailClassOf("hotmail-com.olc.protection.outlook.com"), MailClass::kOutlook);
  EXPECT_EQ(MailClassOf("acme-com.mail.protection.outlook.com"), MailClass::kMicrosoft365);
  EXPECT_EQ(MailClassOf("aspmx.l.google.com"), MailClass::kGoogle);
  EXPECT_EQ(MailClassOf("notgoogle.com"), MailClass::kOther);
  EXPECT_EQ(MailClassOf("mx.acme.example"), MailClass::kOther);
  EXPECT_EQ(RecipientsMax(MailClass::kYahoo, 16), 1);
  EXPECT_EQ(RecipientsMax(MailClass::kOther, 16), 16);
  EXPECT_EQ(RecipientsMax(MailClass::kGoogle, 4), 4);
}

TEST(MailClasses, HaveTheHostsAndTheRecipientsOfTheSpecification) {
  const struct {
    const char* host;
    MailClass mail_class;
    int recipients;
  } classes[] = {
      {"x.olc.protection.outlook.com", MailClass::kOutlook, 1},
      {"x.mail.protection.outlook.com", MailClass::kMicrosoft365, 5},
      {"acme-com.a-v1.mx.microsoft", MailClass::kMicrosoft365, 5},
      {"gmail-smtp-in.l.google.com", MailClass::kGoogle, 10},
      {"aspmx2.googlemail.com", MailClass::kGoogle, 10},
      {"mta5.am0.yahoodns.net", MailClass::kYahoo, 1},
      {"mx01.mail.icloud.com", MailClass::kApple, 5},
      {"mxa-001.gslb.pphosted.com", MailClass::kProofpoint, 3},
      {"mx1-us1.ppe-hosted.com", MailClass::kProofpoint, 3},
      {"eu-smtp-inbound-1.mimecast.com", MailClass::kMimecast, 3},
      {"mx.acme.example", MailClass::kOther, 16},
  };
  for (const auto& one : classes) {
    EXPECT_EQ(MailClassOf(one.host), one.mail_class) << one.host;
    EXPECT_EQ(RecipientsMax(one.mail_class, 16), one.recipients) << one.host;
  }
}

TEST(VerdictLives, AreThoseOfTheSpecificationAndWhatMayPassIsNotKept) {
  using std::chrono::hours;
  const auto life = [](Verdict verdict, Reason reason) {
    AddressVerdict said;
    said.verdict = verdict;
    said.reason = reason;
    return VerdictLife(said);
  };
  EXPECT_EQ(life(Verdict::kOk, Reason::kNone), hours(30 * 24));
  EXPECT_EQ(life(Verdict::kRefused, Reason::kRefused), hours(7 * 24));
  for (int i = 1; i < kVerdictReasons; ++i) {
    const auto reason = static_cast<Reason>(i);
    const bool is_kept =
        reason == Reason::kFull || reason == Reason::kDisabled || reason == Reason::kCatchAll;
    EXPECT_EQ(life(Verdict::kUnknown, reason), is_kept ? std::optional(hours(24)) : std::nullopt)
        << VerdictReasonName(reason);
  }
  EXPECT_EQ(kControlLife, hours(7 * 24));
  EXPECT_EQ(kMxLife, hours(24));
}

TEST(VerdictReasons, HaveNamesThatAreReadBack) {
  for (int i = 0; i < kVerdictReasons; ++i) {
    const auto reason = static_cast<Reason>(i);
    EXPECT_EQ(ParseVerdictReason(VerdictReasonName(reason)), reason);
  }
  EXPECT_EQ(VerdictReasonName(Reason::kNotVerified), "not_verified");
  EXPECT_EQ(VerdictReasonName(Reason::kGreylisted), "greylisted");
}

}  // namespace
}  // namespace vedette::domain
