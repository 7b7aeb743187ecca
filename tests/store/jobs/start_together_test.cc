#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <pqxx/pqxx>
#include <string>
#include <thread>
#include <vector>

#include "store/jobs/job_starts.h"
#include "tests/store/support/jobs_support.h"
#include "tests/support/hand_clock.h"

// Starts of jobs that share a transaction.
namespace vedette::test {
namespace {

using store::JobNotPayable;
using store::JobStarted;

class JobsStartTogether : public JobsTest {
 public:
  // Empty where the start's id was another one's.
  using Outcomes = std::vector<std::optional<store::StartOutcome>>;

  bool Together(const std::vector<store::NewJob>& jobs) {
    std::vector<const store::NewJob*> asked;
    for (const auto& job : jobs) asked.push_back(&job);
    store::CountedJobs counted;
    return store::StartJobsTogether(session, asked, start_limits, &counted);
  }

  store::NewJob LookupOf(const base::Uuid& organisation, std::int64_t price_mc) {
    return NewLookup(organisation, clock, 1, price_mc);
  }

  // Each of the jobs is started by a thread of its own: the first one's transaction waits for the
  // accounts, which somebody holds, and the others for that one.
  Outcomes BehindAnother(store::JobStarts* starts, const std::vector<store::NewJob>& jobs) {
    Outcomes outcomes(jobs.size());
    pqxx::connection connection(database.url());
    pqxx::work holder(connection);
    holder.exec("select from account for update");
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      threads.emplace_back([&, i] {
        const auto own = OtherSession();
        try {
          outcomes[i] = starts->Start(*own, jobs[i]);
        } catch (const pqxx::unique_violation&) {
        }
      });
      if (i == 0) {
        Eventually("select count(*) > 0 from pg_stat_activity where wait_event_type = 'Lock'", "t");
      }
    }
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (starts->waiting() + 1 < jobs.size() && std::chrono::steady_clock::now() < until) {
      std::this_thread::yield();
    }
    EXPECT_EQ(starts->waiting() + 1, jobs.size());
    holder.abort();
    for (std::thread& thread : threads) thread.join();
    return outcomes;
  }

  template <typename T>
  static std::ptrdiff_t Count(const Outcomes& outcomes) {
    return std::count_if(outcomes.begin(), outcomes.end(), [](const auto& outcome) {
      return outcome && std::holds_alternative<T>(*outcome);
    });
  }
};

TEST_F(JobsStartTogether, EachHasItsOwnBlocksPartsAndChunks) {
  const store::NewJob lookup = Lookup(10, 5000);
  const store::NewJob run = Run(5, 2, 2);
  const store::NewJob another = Lookup(1, 1000);
  EXPECT_TRUE(Together({lookup, run, another}));
  const auto of = [&](const store::NewJob& job) {
    return Sql(fmt::format(
        "select (select string_agg(block || ':' || opened || '/' || parts_total, ' ' order by "
        "block) "
        "from job_block where job_id = j.id) || ', ' || (select count(*) from job_part where "
        "job_id "
        "= j.id) || ', ' || (select string_agg(block || '/' || part || '@' || (c.org_id = "
        "j.org_id), "
        "' ' order by block, part) from job_chunk c where c.job_id = j.id) || ', ' || reserved_mc "
        "from job j where id = '{}'",
        job.id.ToString()));
  };
  EXPECT_EQ(of(lookup), "0:1/1, 0, 0/0@true, 50000");
  EXPECT_EQ(of(run), "0:5/5 1:2/5 2:0/5, 5, 1/0@true 1/1@true, 0");
  EXPECT_EQ(of(another), "0:1/1, 0, 0/0@true, 1000");
  EXPECT_EQ(BalanceOf(org), 949'000);
  ExpectJobMoneyAddsUp();
}

TEST_F(JobsStartTogether, WhereTheBalanceDoesNotPayForAllNoneStarts) {
  const auto poor = NewOrganisation(1500);
  EXPECT_FALSE(Together({LookupOf(poor, 1000), LookupOf(poor, 1000)}))
      << "its balance pays for one of them: which, StartJob says";
  EXPECT_EQ(BalanceOf(poor), 1500);
  EXPECT_EQ(Sql("select count(*) from job"), "0");
  EXPECT_TRUE(Together({LookupOf(poor, 1000), LookupOf(poor, 500)}));
  EXPECT_EQ(BalanceOf(poor), 0);
  ExpectJobMoneyAddsUp();
}

TEST_F(JobsStartTogether, ThoseThatCameMeanwhileShareTheNextTransaction) {
  store::JobStarts starts(clock, [this] { return start_limits; });
  std::vector<store::NewJob> jobs;
  for (int i = 0; i < 6; ++i) jobs.push_back(Lookup(1, 1000));
  const auto outcomes = BehindAnother(&starts, jobs);
  EXPECT_EQ(Count<JobStarted>(outcomes), 6);
  EXPECT_EQ(StatementsSoFar(), 2) << "the first one's, and one for five";
  EXPECT_EQ(Sql("select count(*) from job_chunk"), "6");
  EXPECT_EQ(BalanceOf(org), 994'000);
  ExpectJobMoneyAddsUp();
}

TEST_F(JobsStartTogether, G4_ExactlyThoseThatTheBalancePaysForStart) {
  const auto poor = NewOrganisation(3500);
  store::JobStarts starts(clock, [this] { return start_limits; });
  std::vector<store::NewJob> jobs;
  for (int i = 0; i < 6; ++i) jobs.push_back(LookupOf(poor, 1000));
  const auto outcomes = BehindAnother(&starts, jobs);
  EXPECT_EQ(Count<JobStarted>(outcomes), 3);
  EXPECT_EQ(Count<JobNotPayable>(outcomes), 3);
  EXPECT_EQ(BalanceOf(poor), 500);
  ExpectJobMoneyAddsUp();
}

TEST_F(JobsStartTogether, WithoutRoomForAllOfThemNoneStarts) {
  start_limits.open_per_org_max = 2;
  Start(Lookup());
  EXPECT_FALSE(Together({Lookup(), Lookup()}));
  EXPECT_TRUE(Together({Lookup()}));
}

TEST_F(JobsStartTogether, AnOrganisationHasAboutSoManyActiveRuns) {
  start_limits.runs_per_org_max = 1;
  EXPECT_FALSE(Together({Run(1, 2, 1), Run(1, 2, 1)}));
  EXPECT_TRUE(Together({Run(1, 2, 1), Lookup()}));
  EXPECT_FALSE(Together({Run(1, 2, 1)}));
  EXPECT_TRUE(Together({Lookup()}));
}

TEST_F(JobsStartTogether, G10_NoOrganisationWaitsForTheStartsOfAnother) {
  store::JobStarts starts(clock, [this] { return start_limits; });
  const auto other = NewOrganisation(1'000'000);
  pqxx::connection connection(database.url());
  pqxx::work holder(connection);
  holder.exec("select from account where org_id = '" + org.ToString() + "' for update");
  std::thread held([&] {
    const auto own = OtherSession();
    EXPECT_TRUE(std::holds_alternative<JobStarted>(starts.Start(*own, Lookup(1, 1000))));
  });
  Eventually("select count(*) > 0 from pg_stat_activity where wait_event_type = 'Lock'", "t");
  EXPECT_TRUE(std::holds_alternative<JobStarted>(starts.Start(session, LookupOf(other, 1000))));
  holder.abort();
  held.join();
  ExpectJobMoneyAddsUp();
}

TEST_F(JobsStartTogether, WhereTheirTransactionFailsEachIsStartedByItself) {
  store::JobStarts starts(clock, [this] { return start_limits; });
  std::vector<store::NewJob> jobs;
  for (int i = 0; i < 4; ++i) jobs.push_back(Lookup(1, 1000));
  jobs[2].id = jobs[1].id;  // both cannot be
  const auto outcomes = BehindAnother(&starts, jobs);
  EXPECT_TRUE(outcomes[0] && outcomes[3]) << "the fault of one is not theirs";
  EXPECT_NE(outcomes[1].has_value(), outcomes[2].has_value());
  EXPECT_EQ(Sql("select count(*) from job"), "3");
  EXPECT_EQ(BalanceOf(org), 997'000);
  ExpectJobMoneyAddsUp();
}

// Beside a snapshot counting visits all jobs that have ended; here somebody holds the account for
// as long.
TEST_F(JobsStartTogether, OpenJobsWhoseCountTookLongAreNotCountedAgainWhileTheyAreFew) {
  start_limits.open_per_org_max = 10;
  HandClock hand(clock.Now());
  const auto by_hand = OtherSession(nullptr, &hand);
  store::JobStarts starts(hand, [this] { return start_limits; });
  const auto start = [&] { return starts.Start(*by_hand, Lookup(1, 1000)); };
  pqxx::connection connection(database.url());
  pqxx::work holder(connection);
  holder.exec("select from account for update");
  std::thread first([&] { EXPECT_TRUE(std::holds_alternative<JobStarted>(start())); });
  Eventually("select count(*) > 0 from pg_stat_activity where wait_event_type = 'Lock'", "t");
  hand.Pass(std::chrono::seconds(1));  // the time that the count takes
  holder.abort();
  first.join();
  // By another process.
  for (int i = 0; i < 9; ++i) Start(Lookup(1, 1000));
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(std::holds_alternative<JobStarted>(start())) << i;
  EXPECT_TRUE(std::holds_alternative<store::TooManyJobs>(start()))
      << "half of the limit may be reached: they are counted";
  ExpectJobMoneyAddsUp();
}

}  // namespace
}  // namespace vedette::test
