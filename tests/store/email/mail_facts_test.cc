#include "store/email/mail_facts.h"
#include "config/database_config.h"

#include <gtest/gtest.h>

#include <thread>

#include "tests/support/test_database.h"

namespace vedette::store {
namespace {

using namespace std::chrono_literals;

class MailFactsTest : public testing::Test {
 protected:
  test::TestDatabase db_;
  const config::DatabaseConfig config_ = db_.config();
  base::SystemClock clock_;
  metrics::Metrics metrics_{"test"};
  Session session{
      config_, {"test"}, clock_, metrics_, {base::LogLevel::kOff, base::LogFormat::kText}};
};
using MailFacts = MailFactsTest;
using MailPermits = MailFactsTest;
using MailHosts = MailFactsTest;

const AuditEntry kOperator = [] {
  AuditEntry entry;
  entry.actor = "operator";
  entry.action = "email.unblock";
  return entry;
}();

std::vector<MailPermit> Permits(int domain_cap = 5) {
  return {{"domain acme.test", domain_cap, 1h}, {"class google", 100, 1min}};
}

TEST_F(MailFacts, OfADomainComeBackAsTheyWereSaved) {
  EXPECT_EQ(ReadMailDomain(session, "acme.test"), std::nullopt);
  domain::MailDomainFacts facts{"acme.test"};
  facts.hosts = {"mx1.acme.test", "mx2.acme.test"};
  facts.mail_class = domain::MailClass::kGoogle;
  facts.mx_at = facts.control_at = base::ParseTimestamp("2026-11-22T10:00:00Z");
  facts.control = "abcdefghijklmnop";
  SaveMailDomain(session, facts);
  EXPECT_EQ(ReadMailDomain(session, "acme.test"), facts);
  facts.accepts_all = domain::AcceptsAll::kYes;
  facts.accepts_all_at = facts.mx_at;
  facts.recipients_max = 4;
  facts.recipients_at = facts.mx_at;
  SaveMailDomain(session, facts);
  EXPECT_EQ(ReadMailDomain(session, "acme.test"), facts);
}

TEST_F(MailPermits, AreTakenOfEveryBudgetOrOfNone) {
  EXPECT_TRUE(AdmitRecipients(session, "h", Permits(), 3).granted);
  const MailAdmission refused = AdmitRecipients(session, "h", Permits(), 3);
  EXPECT_FALSE(refused.granted);
  EXPECT_GT(refused.wait, 50min);
  EXPECT_LE(refused.wait, 1h);
  // The budget of the class was not touched by the refusal.
  EXPECT_TRUE(AdmitRecipients(session, "h", {{"class google", 100, 1min}}, 97).granted);
  EXPECT_FALSE(AdmitRecipients(session, "h", {{"class google", 100, 1min}}, 1).granted);
  EXPECT_FALSE(AdmitRecipients(session, "h", {{"domain new.test", 2, 1h}}, 3).granted);
}

TEST_F(MailPermits, AreThereAgainInTheNextWindow) {
  const std::vector<MailPermit> permits{{"domain acme.test", 1, 1ms}};
  EXPECT_TRUE(AdmitRecipients(session, "h", permits, 1).granted);
  std::this_thread::sleep_for(2ms);  // the window is over by then, whatever else happens
  EXPECT_TRUE(AdmitRecipients(session, "h", permits, 1).granted);
}

TEST_F(MailHosts, ThatAreBlockedGrantNothingUntilTheyAreUnblocked) {
  EXPECT_FALSE(UnblockMailHost(session, clock_, "h", kOperator));
  for (const char* domain : {"a.test", "b.test", "c.test"}) {
    EXPECT_EQ(NoteMailTrouble(session, "h", {domain, 16, "550 no"}, {}), *domain == 'c');
  }
  const MailAdmission blocked = AdmitRecipients(session, "h", Permits(), 1);
  EXPECT_TRUE(blocked.blocked_until);
  EXPECT_FALSE(blocked.granted);
  const auto hosts = ReadMailHosts(session, 10);
  ASSERT_EQ(hosts.size(), 1U);
  EXPECT_EQ(hosts[0].last_reply, "550 no");
  EXPECT_TRUE(UnblockMailHost(session, clock_, "h", kOperator));
  EXPECT_TRUE(AdmitRecipients(session, "h", Permits(), 5).granted) << "nothing had been taken";
}

TEST_F(MailHosts, AreCountedInTheFleetWhicheverProcessTheyRefused) {
  Session other(config_, {"test"}, clock_, metrics_,
                {base::LogLevel::kOff, base::LogFormat::kText});
  EXPECT_FALSE(NoteMailTrouble(session, "h", {"a.test", 16, "550 no"}, {}));
  EXPECT_FALSE(NoteMailTrouble(session, "h", {"a.test", 16, "550 no"}, {})) << "the same domain";
  EXPECT_FALSE(NoteMailTrouble(other, "h", {"b.test", 16, "550 no"}, {}));
  EXPECT_TRUE(ReadMailHosts(session, 10).empty()) << "it is not left alone";
  EXPECT_TRUE(NoteMailTrouble(session, "h", {"c.test", 16, "550 no"}, {}));
  EXPECT_FALSE(NoteMailTrouble(other, "g", {"d.test", 16, "550 no"}, {})) << "another host";
  // What was under way when it was blocked counts nothing, and does not end the block.
  for (const char* domain : {"x.test", "y.test", "z.test"}) {
    EXPECT_FALSE(NoteMailTrouble(other, "h", {domain, 16, "550 no"}, {}));
  }
  NoteMailServed(other, "h");
  const auto hosts = ReadMailHosts(session, 10);
  ASSERT_EQ(hosts.size(), 1U);
  EXPECT_TRUE(hosts[0].blocked_until);
  EXPECT_EQ(hosts[0].failures, 1);
}

TEST_F(MailHosts, ThatServedUsBetweenAreCountedFromTheBeginning) {
  Session other(config_, {"test"}, clock_, metrics_,
                {base::LogLevel::kOff, base::LogFormat::kText});
  for (int i = 1; i < 5; ++i) EXPECT_FALSE(NoteMailTrouble(session, "h", {"", 20, ""}, {})) << i;
  NoteMailServed(other, "h");
  for (int i = 1; i < 5; ++i) EXPECT_FALSE(NoteMailTrouble(session, "h", {"", 20, ""}, {})) << i;
  EXPECT_TRUE(NoteMailTrouble(other, "h", {"", 20, ""}, {1ms, 1h})) << "five failed connections";
  std::this_thread::sleep_for(2ms);  // the block is over by then, whatever else happens
  EXPECT_TRUE(AdmitRecipients(session, "h", Permits(), 1).granted);
  // In a row with the block before it the next one is twice as long; served, it is the first again.
  const auto block = [&](const char* third) {
    NoteMailTrouble(session, "h", {"a.test", 16, ""}, {1ms, 1h});
    NoteMailTrouble(other, "h", {"b.test", 16, ""}, {1ms, 1h});
    EXPECT_TRUE(NoteMailTrouble(session, "h", {third, 16, ""}, {1ms, 1h}));
    return ReadMailHosts(session, 1).at(0).failures;
  };
  EXPECT_EQ(block("c.test"), 2);
  std::this_thread::sleep_for(3ms);  // as above
  NoteMailServed(session, "h");
  EXPECT_EQ(block("c.test"), 1);
}

}  // namespace
}  // namespace vedette::store
