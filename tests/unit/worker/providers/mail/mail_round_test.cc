#include "worker/providers/mail/mail_batch.h"

#include <gtest/gtest.h>

#include "domain/email/mail_host.h"

namespace vedette::worker {
namespace {

using domain::ReplyClass;

net::SmtpPath PathOf(const std::string& local) {
  return *net::SmtpPath::Of({local, "example.org"}, "example.org");
}

MailBatch Batch(int recipients_max = 16, int refusals_max = 5) {
  return MailBatch({recipients_max, refusals_max}, domain::MailClass::kOther, PathOf("control"),
                   PathOf("postmaster"));
}

std::string Ask(MailBatch& batch, bool closing, const domain::ReplyCodes& reply) {
  const auto path = batch.Next(closing);
  if (!path) return "";
  batch.OnReply(reply);
  return path->text().substr(0, path->text().find('@'));
}

TEST(MailRounds, AskTheControlLastAndPostmasterOnlyAfterABareRefusalOfIt) {
  MailBatch batch = Batch();
  batch.Add(1, PathOf("ann"));
  EXPECT_EQ(Ask(batch, false, {250, ""}), "ann");
  EXPECT_FALSE(batch.Next(false)) << "more addresses may come";
  EXPECT_EQ(Ask(batch, true, {550, ""}), "control");
  EXPECT_TRUE(batch.TakeDecided().empty());
  EXPECT_EQ(Ask(batch, true, {250, ""}), "postmaster");
  EXPECT_FALSE(batch.Next(true));
  const auto decided = batch.TakeDecided();
  ASSERT_EQ(decided.size(), 1U);
  EXPECT_EQ(CheckAddress(decided[0].facts).verdict, domain::Verdict::kOk);
  EXPECT_EQ(batch.asked(), 3);
}

TEST(MailRounds, AskNoControlWhereNothingWasAccepted) {
  MailBatch batch = Batch();
  batch.Add(1, PathOf("ann"));
  EXPECT_EQ(Ask(batch, true, {550, "5.1.1"}), "ann");
  EXPECT_FALSE(batch.Next(true));
}

TEST(MailRounds, LeaveTheRestToTheNextConnectionAfterTooManyRefusals) {
  MailBatch batch = Batch(16, 2);
  for (MailBatch::AskId id = 1; id <= 3; ++id) batch.Add(id, PathOf("x" + std::to_string(id)));
  EXPECT_EQ(Ask(batch, false, {550, "5.1.1"}), "x1");
  EXPECT_EQ(Ask(batch, false, {550, "5.1.1"}), "x2");
  EXPECT_FALSE(batch.Next(true));
  EXPECT_EQ(batch.End().unasked, std::vector<MailBatch::AskId>{3});
}

TEST(MailRounds, KeepPlacesForTheControlAndPostmaster) {
  MailBatch batch = Batch(3);
  EXPECT_TRUE(batch.HasRoom());
  batch.Add(1, PathOf("ann"));
  EXPECT_FALSE(batch.HasRoom());
  MailBatch one = Batch(1);
  one.Add(1, PathOf("ann"));
  EXPECT_EQ(Ask(one, true, {250, ""}), "ann");
  EXPECT_FALSE(one.Next(true));
  EXPECT_EQ(one.End().carried, std::vector<MailBatch::AskId>{1});
}

TEST(MailRounds, ACarriedAddressIsCheckedByTheControlOfTheNextConnection) {
  MailBatch batch = Batch(1);
  batch.Carry(7);
  EXPECT_FALSE(batch.HasRoom());
  EXPECT_EQ(Ask(batch, false, {550, "5.1.1"}), "control");
  const auto decided = batch.TakeDecided();
  ASSERT_EQ(decided.size(), 1U);
  EXPECT_EQ(CheckAddress(decided[0].facts).verdict, domain::Verdict::kOk);
}

TEST(MailRounds, CountWhatWasSentAlsoWhereItWasNotAnswered) {
  MailBatch batch = Batch(4);
  batch.Add(1, PathOf("ann"));
  batch.Next(false);
  EXPECT_EQ(batch.asked(), 1);
  batch.Add(2, PathOf("bob"));
  EXPECT_FALSE(batch.HasRoom()) << "two places are the control's and postmaster's";
  EXPECT_EQ(batch.End().broken, 1U);
  EXPECT_EQ(batch.asked(), 1);
}

TEST(HostBreakers, BlockForHalfAnHourAtFirstAndDoubleUpToSixHours) {
  EXPECT_EQ(domain::MailBlockFor({}, 0), std::chrono::minutes(30));
  EXPECT_EQ(domain::MailBlockFor({}, 1), std::chrono::hours(1));
  EXPECT_EQ(domain::MailBlockFor({}, 50), std::chrono::hours(6));
}

}  // namespace
}  // namespace vedette::worker
