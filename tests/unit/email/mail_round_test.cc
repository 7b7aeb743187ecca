#include "worker/providers/mail/mail_round.h"

#include <gtest/gtest.h>

#include "domain/email/host_breaker.h"

namespace vedette::worker {
namespace {

using domain::ReplyClass;

net::SmtpPath PathOf(const std::string& local) {
  return *net::SmtpPath::Of({local, "example.org"}, "example.org");
}

MailRound Round(int recipients_max = 16, int refusals_max = 5) {
  return MailRound({recipients_max, refusals_max}, domain::MailClass::kOther, PathOf("control"),
                   PathOf("postmaster"));
}

std::string Ask(MailRound& round, bool closing, const domain::ReplyCodes& reply) {
  const auto path = round.Next(closing);
  if (!path) return "";
  round.OnReply(reply);
  return path->text().substr(0, path->text().find('@'));
}

TEST(MailRounds, AskTheControlLastAndPostmasterOnlyAfterABareRefusalOfIt) {
  MailRound round = Round();
  round.Add(1, PathOf("ann"));
  EXPECT_EQ(Ask(round, false, {250, ""}), "ann");
  EXPECT_FALSE(round.Next(false)) << "more addresses may come";
  EXPECT_EQ(Ask(round, true, {550, ""}), "control");
  EXPECT_TRUE(round.TakeDecided().empty());
  EXPECT_EQ(Ask(round, true, {250, ""}), "postmaster");
  EXPECT_FALSE(round.Next(true));
  const auto decided = round.TakeDecided();
  ASSERT_EQ(decided.size(), 1U);
  EXPECT_EQ(JudgeAddress(decided[0].facts).verdict, domain::Verdict::kOk);
  EXPECT_EQ(round.asked(), 3);
}

TEST(MailRounds, AskNoControlWhereNothingWasAccepted) {
  MailRound round = Round();
  round.Add(1, PathOf("ann"));
  EXPECT_EQ(Ask(round, true, {550, "5.1.1"}), "ann");
  EXPECT_FALSE(round.Next(true));
}

TEST(MailRounds, LeaveTheRestToTheNextConnectionAfterTooManyRefusals) {
  MailRound round = Round(16, 2);
  for (MailRound::AskId id = 1; id <= 3; ++id) round.Add(id, PathOf("x" + std::to_string(id)));
  EXPECT_EQ(Ask(round, false, {550, "5.1.1"}), "x1");
  EXPECT_EQ(Ask(round, false, {550, "5.1.1"}), "x2");
  EXPECT_FALSE(round.Next(true));
  EXPECT_EQ(round.End().unasked, std::vector<MailRound::AskId>{3});
}

TEST(MailRounds, KeepPlacesForTheControlAndPostmaster) {
  MailRound round = Round(3);
  EXPECT_TRUE(round.HasRoom());
  round.Add(1, PathOf("ann"));
  EXPECT_FALSE(round.HasRoom());
  MailRound one = Round(1);
  one.Add(1, PathOf("ann"));
  EXPECT_EQ(Ask(one, true, {250, ""}), "ann");
  EXPECT_FALSE(one.Next(true));
  EXPECT_EQ(one.End().carried, std::vector<MailRound::AskId>{1});
}

TEST(MailRounds, ACarriedAddressIsJudgedByTheControlOfTheNextConnection) {
  MailRound round = Round(1);
  round.Carry(7);
  EXPECT_FALSE(round.HasRoom());
  EXPECT_EQ(Ask(round, false, {550, "5.1.1"}), "control");
  const auto decided = round.TakeDecided();
  ASSERT_EQ(decided.size(), 1U);
  EXPECT_EQ(JudgeAddress(decided[0].facts).verdict, domain::Verdict::kOk);
}

TEST(MailRounds, CountWhatWasSentAlsoWhereItWasNotAnswered) {
  MailRound round = Round(4);
  round.Add(1, PathOf("ann"));
  round.Next(false);
  EXPECT_EQ(round.asked(), 1);
  round.Add(2, PathOf("bob"));
  EXPECT_FALSE(round.HasRoom()) << "two places are the control's and postmaster's";
  EXPECT_EQ(round.End().broken, 1U);
  EXPECT_EQ(round.asked(), 1);
}

TEST(HostBreakers, BlockForHalfAnHourAtFirstAndDoubleUpToSixHours) {
  EXPECT_EQ(domain::MailBlockFor({}, 0), std::chrono::minutes(30));
  EXPECT_EQ(domain::MailBlockFor({}, 1), std::chrono::hours(1));
  EXPECT_EQ(domain::MailBlockFor({}, 50), std::chrono::hours(6));
}

}  // namespace
}  // namespace vedette::worker
