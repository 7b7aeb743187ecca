#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "store/fleet/maintenance.h"
#include "tests/store/support/jobs_support.h"

// The start of jobs: key, money, job and first chunks in one transaction.
namespace vedette::test {
namespace {

using domain::JobStatus;

class JobsStart : public JobsTest {
 public:
  // Starts the same kind of job from 50 clients at once, each with a session of its own.
  std::vector<store::StartOutcome> FromClients(int clients,
                                               const std::function<store::NewJob(int)>& make) {
    std::vector<store::StartOutcome> outcomes(static_cast<std::size_t>(clients));
    std::vector<std::thread> threads;
    std::atomic<int> next{0};
    for (int i = 0; i < 10; ++i) {
      threads.emplace_back([&] {
        const auto own = OtherSession();
        for (int n = next++; n < clients; n = next++) {
          outcomes[static_cast<std::size_t>(n)] =
              store::StartJob(*own, clock, make(n), start_limits);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    return outcomes;
  }

  template <typename T>
  static int Count(const std::vector<store::StartOutcome>& outcomes) {
    int n = 0;
    for (const auto& outcome : outcomes) n += std::holds_alternative<T>(outcome) ? 1 : 0;
    return n;
  }
};

TEST_F(JobsStart, ALookupReservesItsEstimateAndHasOneChunk) {
  const auto job = Start(Lookup(10, 5000));
  EXPECT_EQ(BalanceOf(org), 950'000);
  EXPECT_EQ(Job(job, "status || ' ' || estimate_mc || ' ' || reserved_mc || ' ' || charged_mc"),
            "0 50000 50000 0");
  EXPECT_EQ(Sql("select lane || ' ' || rank || ' ' || block || ' ' || part from job_chunk"),
            "1 1 0 0");
  EXPECT_EQ(Sql("select opened || ' of ' || parts_total from job_block"), "1 of 1");
  ExpectJobMoneyAddsUp();
}

TEST_F(JobsStart, AJobWithAClientThatWaitsHasRank0) {
  auto job = Lookup();
  job.waited = true;
  Start(job);
  EXPECT_EQ(Sql("select rank from job_chunk"), "0");
}

TEST_F(JobsStart, TheFirstBlockOfAGivenPayloadIsCompleteAndItsConsumersBegin) {
  const auto job = Start(Run(5, 2, 2));
  EXPECT_EQ(Sql("select string_agg(block || ':' || status || ':' || opened || ':' || parts_done, "
                "' ' order by block) from job_block"),
            "0:2:5:5 1:0:2:0 2:0:0:0");
  EXPECT_EQ(Sql("select string_agg(block || '/' || part, ' ' order by part) from job_chunk"),
            "1/0 1/1");
  EXPECT_EQ(Job(job, "reserved_mc"), "0");
}

TEST_F(JobsStart, NothingIsStoredWhereTheBalanceIsShort) {
  const auto job = Lookup(100, 20'000);
  const auto outcome = store::StartJob(session, clock, job, start_limits);
  const auto* refused = std::get_if<store::JobNotPayable>(&outcome);
  ASSERT_NE(refused, nullptr);
  EXPECT_EQ(refused->why, store::JobNotPayable::Why::kInsufficientCredits);
  EXPECT_EQ(refused->estimate_mc, 2'000'000);
  EXPECT_EQ(refused->balance_mc, 1'000'000);
  EXPECT_EQ(Sql("select count(*) from job"), "0");
  EXPECT_EQ(BalanceOf(org), 1'000'000);
}

TEST_F(JobsStart, TheBalanceIsAskedBeforeTheSpendLimit) {
  const auto team = NewTeam(10'000);
  auto job = Lookup(3, 5000);
  job.team_id = team;
  auto outcome = store::StartJob(session, clock, job, start_limits);
  ASSERT_TRUE(std::holds_alternative<store::JobNotPayable>(outcome));
  EXPECT_EQ(std::get<store::JobNotPayable>(outcome).why,
            store::JobNotPayable::Why::kSpendLimitReached);
  EXPECT_EQ(std::get<store::JobNotPayable>(outcome).spend_left_mc, 10'000);
  job.estimate_mc = 2'000'000;
  outcome = store::StartJob(session, clock, job, start_limits);
  ASSERT_TRUE(std::holds_alternative<store::JobNotPayable>(outcome));
  EXPECT_EQ(std::get<store::JobNotPayable>(outcome).why,
            store::JobNotPayable::Why::kInsufficientCredits);
}

TEST_F(JobsStart, TheSameKeyGivesTheSameJobAndAnotherRequestIsRefused) {
  auto job = Lookup(2, 5000);
  job.idempotency = store::Idempotency{"key", std::string(32, 'a'), std::chrono::hours(24)};
  const auto first = Start(job);
  job.id = base::Uuid::V7(clock);
  job.estimate_mc = 20'000;  // prices have changed since
  const auto again = store::StartJob(session, clock, job, start_limits);
  ASSERT_TRUE(std::holds_alternative<store::JobStarted>(again));
  EXPECT_EQ(std::get<store::JobStarted>(again).job_id, first);
  EXPECT_EQ(std::get<store::JobStarted>(again).estimate_mc, 10'000);
  EXPECT_TRUE(std::get<store::JobStarted>(again).already_started);
  job.idempotency->body_sha256 = std::string(32, 'b');
  EXPECT_TRUE(std::holds_alternative<store::JobKeyReused>(
      store::StartJob(session, clock, job, start_limits)));
  EXPECT_EQ(Sql("select count(*) from job"), "1");
  ExpectJobMoneyAddsUp();
}

TEST_F(JobsStart, AKeyThatWasRefusedForMoneyStartsAfterATopUp) {
  auto job = Lookup(1, 5'000'000);
  job.idempotency = store::Idempotency{"key", std::string(32, 'a'), std::chrono::hours(24)};
  ASSERT_TRUE(std::holds_alternative<store::JobNotPayable>(
      store::StartJob(session, clock, job, start_limits)));
  Sql("update account set balance_mc = 6000000; update credit_entry set amount_mc = 6000000");
  Start(job);
  ExpectJobMoneyAddsUp();
}

TEST_F(JobsStart, AKeyRacedByFiftyClientsMakesOneJob) {
  const auto outcomes = FromClients(50, [this](int) {
    auto job = Lookup(1, 1000);
    job.idempotency = store::Idempotency{"key", std::string(32, 'a'), std::chrono::hours(24)};
    return job;
  });
  EXPECT_EQ(Count<store::JobStarted>(outcomes) + Count<store::JobKeyInUse>(outcomes), 50);
  std::set<base::Uuid> started;
  for (const auto& outcome : outcomes) {
    if (const auto* job = std::get_if<store::JobStarted>(&outcome)) started.insert(job->job_id);
  }
  EXPECT_EQ(started.size(), 1U);
  EXPECT_EQ(Sql("select count(*) from job"), "1");
  EXPECT_EQ(BalanceOf(org), 999'000);
  ExpectJobMoneyAddsUp();
}

TEST_F(JobsStart, G4_OfFiftyBulksOnABalanceForTenExactlyTenStart) {
  const auto outcomes = FromClients(50, [this](int) { return Lookup(100, 1000); });
  EXPECT_EQ(Count<store::JobStarted>(outcomes), 10);
  EXPECT_EQ(Count<store::JobNotPayable>(outcomes), 40);
  EXPECT_EQ(Sql("select count(*) from job"), "10");
  EXPECT_EQ(BalanceOf(org), 0);
  ExpectJobMoneyAddsUp();
}

TEST_F(JobsStart, OfTwentyInvestigationsAtOnceFiveStart) {
  const auto outcomes = FromClients(20, [this](int) {
    auto job = Lookup();
    job.kind = domain::JobKind::kInvestigation;
    job.investigation = store::NewInvestigation{"[]", 1, 1, 100, {}, {}};
    return job;
  });
  EXPECT_EQ(Count<store::JobStarted>(outcomes), 5);
  EXPECT_EQ(Count<store::TooManyInvestigations>(outcomes), 15);
}

TEST_F(JobsStart, AnOrganisationHasAtMostSoManyOpenJobs) {
  start_limits.open_per_org_max = 2;
  Start(Lookup());
  const auto second = Start(Lookup());
  EXPECT_TRUE(std::holds_alternative<store::TooManyJobs>(
      store::StartJob(session, clock, Lookup(), start_limits)));
  End(second, JobStatus::kCancelled);
  Start(Lookup());
}

TEST_F(JobsStart, AFileThatAnOpenJobReadsIsKept) {
  const auto upload = base::Uuid::V7(clock);
  Sql(
      fmt::format("insert into upload (id, org_id, expires_at, finished_at) values ('{}', '{}', "
                  "now() + interval '1 hour', now())",
                  upload.ToString(), org.ToString()));
  auto job = Lookup();
  job.upload_id = upload;
  Start(job);
  Sql("update upload set expires_at = now() - interval '1 second'");
  store::DeleteExpiredUploads(session, 10);
  EXPECT_EQ(Sql("select count(*) from upload"), "1");
  auto late = Lookup();
  late.upload_id = upload;
  EXPECT_TRUE(std::holds_alternative<store::JobUploadNotFound>(
      store::StartJob(session, clock, late, start_limits)));
  End(job.id, JobStatus::kCancelled);
  store::DeleteExpiredUploads(session, 10);
  EXPECT_EQ(Sql("select count(*) from upload"), "0");
}

}  // namespace
}  // namespace vedette::test
