#include <fmt/format.h>
#include <gtest/gtest.h>
#include <pqxx/pqxx>

#include <algorithm>
#include <chrono>
#include <future>
#include <set>
#include <string>

#include "store/jobs/gauges.h"
#include "tests/store/support/jobs_support.h"

// Claiming and holding chunks of jobs: who gets what, and when it must stop (G5, G10).
namespace vedette::test {
namespace {

using domain::JobStatus;
using domain::Lane;

class JobsHold : public JobsTest {
 public:
  void Lock(bool locked) {
    Sql(fmt::format("update organisation set locked = {}", locked ? "true" : "false"));
  }
};

TEST_F(JobsHold, AScanVisitsTheOrganisationsOfEachLaneInTurn) {
  std::vector<base::Uuid> orgs{org};
  for (int i = 0; i < 4; ++i) orgs.push_back(NewOrganisation(0));
  std::sort(orgs.begin(), orgs.end());
  for (const auto& id : orgs) {
    auto job = Lookup(7);
    job.org_id = id;
    Start(job);
  }
  store::LaneCursors cursors{{Lane::kLookup, {}}, {Lane::kResearch, {}}};
  std::vector<base::Uuid> seen;
  for (int scan = 0; scan < 3; ++scan) {
    const auto found = store::ScanDueJobs(session, cursors, 2);
    for (const auto& due : found.due) {
      EXPECT_EQ(due.lane, Lane::kLookup);
      EXPECT_EQ(due.rank, 1);
      EXPECT_EQ(due.rows, 7);
      seen.push_back(due.org_id);
    }
    cursors = found.next;
  }
  EXPECT_EQ(seen, orgs);
  EXPECT_TRUE(cursors.at(Lane::kLookup).is_nil());
}

TEST_F(JobsHold, AShareOfRank0TakesOnlyWhatAClientWaitsFor) {
  Start(Lookup());
  auto waited = Lookup();
  waited.waited = true;
  Start(waited);
  const auto claim = store::ClaimJobChunks(session, {{Lane::kLookup, org, 0, 10}}, base::Uuid::V4(),
                                           job_lease, {});
  ASSERT_EQ(claim.chunks.size(), 1U);
  EXPECT_EQ(claim.chunks[0].job_id, waited.id);
}

TEST_F(JobsHold, WhatAClientWaitsForIsClaimedFirst) {
  Start(Lookup());
  auto waited = Lookup();
  waited.waited = true;
  Start(waited);
  const auto claim =
      store::ClaimJobChunks(session, {{Lane::kLookup, org, 1, 1}}, base::Uuid::V4(), job_lease, {});
  ASSERT_EQ(claim.chunks.size(), 1U);
  EXPECT_EQ(claim.chunks[0].job_id, waited.id);
}

TEST_F(JobsHold, AClaimGivesTheSpecsOfJobsThatAreNotKnownYet) {
  const auto job = Start(Run(1, 2, 1));
  const auto claim = Claim();
  ASSERT_EQ(claim.specs.size(), 1U);
  const auto& spec = *claim.specs.at(job);
  EXPECT_EQ(spec.blocks.size(), 3U);
  EXPECT_EQ(spec.blocks[2].input, 1);
  EXPECT_EQ(claim.chunks.at(0).rows_json, "[[1],[2]]");
  EXPECT_EQ(claim.chunks.at(0).row_count, 2);
  Sql("update job_chunk set available_at = now()");
  EXPECT_TRUE(store::ClaimJobChunks(session, {{Lane::kTransform, org, 1, 1}}, base::Uuid::V4(),
                                    job_lease, [&](const base::Uuid& id) { return id == job; })
                  .specs.empty());
}

TEST_F(JobsHold, AClaimWaitsForNoTransactionThatHasLockedTheJob) {
  const auto job = Start(Lookup());
  pqxx::connection connection(database.url());
  pqxx::work holder(connection);
  holder.exec(fmt::format("select from job where id = '{}' for no key update", job.ToString()));
  EXPECT_EQ(Claim().chunks.size(), 1U);
  EXPECT_EQ(Job(job, "status"), "0");
}

TEST_F(JobsHold, G5_AnOrganisationThatIsLockedStartsNothingAndGoesOnAfterwards) {
  Start(Lookup());
  Start(Lookup());
  const auto claim =
      store::ClaimJobChunks(session, {{Lane::kLookup, org, 1, 1}}, base::Uuid::V4(), job_lease, {});
  ASSERT_EQ(claim.chunks.size(), 1U);
  Lock(true);
  EXPECT_TRUE(Claim().chunks.empty());
  EXPECT_TRUE(store::ScanDueJobs(session, {{Lane::kLookup, {}}}, 10).due.empty());
  auto held = store::ReadHeldJobChunks(session, {claim.chunks[0].lease});
  ASSERT_EQ(held.size(), 1U);
  EXPECT_FALSE(held[0].may_run);
  Lock(false);
  held = store::ReadHeldJobChunks(session, {claim.chunks[0].lease});
  EXPECT_TRUE(held.at(0).may_run);
  EXPECT_EQ(Claim().chunks.size(), 1U);
}

TEST_F(JobsHold, G5_AChunkOfAnEndedJobIsNotHeldAnyMore) {
  const auto job = Start(Lookup());
  const auto chunk = Claim().chunks.at(0);
  EXPECT_EQ(store::RenewJobChunks(session, {chunk.lease}, job_lease), std::vector{chunk.lease.id});
  End(job, JobStatus::kCancelled);
  EXPECT_TRUE(store::ReadHeldJobChunks(session, {chunk.lease}).empty());
  EXPECT_TRUE(store::RenewJobChunks(session, {chunk.lease}, job_lease).empty());
  EXPECT_FALSE(store::MarkJobSuspect(session, chunk.lease, 0));
}

// A record that fails its job locks its own chunk, and then all of the job's. One that comes
// between the two and waits, while it has a chunk of the job itself, would end one of both as a
// deadlock.
TEST_F(JobsHold, ARenewalWaitsForNoRecordThatFailsItsJob) {
  Start(Run(2, 1, 2));
  auto chunks = Claim().chunks;
  ASSERT_EQ(chunks.size(), 2U);
  std::sort(chunks.begin(), chunks.end(),
            [](const auto& a, const auto& b) { return a.lease.id < b.lease.id; });
  auto failure = PartEnd(chunks[1]);
  failure.what = store::JobFault{"block_failed", "it cannot go on"};
  const auto recorder = OtherSession();
  const auto renewer = OtherSession();
  pqxx::connection connection(database.url());
  pqxx::work gate(connection);  // between the locks of the record
  gate.exec("select from job_block for update");
  auto failed = std::async(std::launch::async,
                           [&] { return store::RecordJobChunks(*recorder, clock, {failure}); });
  Eventually("select count(*) > 0 from pg_locks where not granted", "t");
  auto renewed = std::async(std::launch::async, [&] {
    return store::RenewJobChunks(*renewer, {chunks[0].lease, chunks[1].lease}, job_lease);
  });
  EXPECT_EQ(renewed.wait_for(std::chrono::seconds(60)), std::future_status::ready) << "it waits";
  gate.commit();
  EXPECT_EQ(EndIn(failed.get()), JobStatus::kFailed);
  EXPECT_EQ(renewed.get().size(), 2U) << "both were held when it looked";
  EXPECT_TRUE(
      store::RenewJobChunks(session, {chunks[0].lease, chunks[1].lease}, job_lease).empty());
}

TEST_F(JobsHold, AChunkThatIsGivenBackIsDueAtOnceAndItsClaimIsNotCounted) {
  Start(Lookup());
  const auto chunk = Claim().chunks.at(0);
  store::GiveBackJobChunks(session, {{chunk.lease, {}}});
  const auto again = Claim().chunks.at(0);
  EXPECT_EQ(again.claims, 1);
  EXPECT_EQ(again.due_at, chunk.due_at);
}

TEST_F(JobsHold, AChunkWhoseRowsAreTriedLaterIsDueAfterTheDelay) {
  Start(Lookup());
  const auto chunk = Claim().chunks.at(0);
  store::GiveBackJobChunks(session, {{chunk.lease, std::chrono::minutes(10)}});
  EXPECT_TRUE(Claim().chunks.empty());
  EXPECT_EQ(Sql("select claims || ' ' || (available_at between now() + interval '9 minutes' and "
                "now() + interval '10 minutes') || ' ' || (due_at = available_at) from job_chunk"),
            "0 true true");
}

TEST_F(JobsHold, AJobStandsStillForTheMailBudgetWhileItsChunkWaitsForIt) {
  const base::Uuid id = Start(Lookup());
  const auto shown = [&] {
    const auto job = store::GetJob(session, {}, id);
    return std::pair(job->status_reason.value_or(""), job->waiting_until.has_value());
  };
  const std::pair<std::string, bool> goes_on{"", false};
  EXPECT_EQ(shown(), goes_on);
  constexpr auto kBudget = domain::JobWait::kMailBudget;
  store::GiveBackJobChunks(session,
                           {{Claim().chunks.at(0).lease, std::chrono::minutes(10), kBudget}});
  EXPECT_EQ(shown(), std::pair(std::string("waiting_for_mail_budget"), true));
  Sql("update job_chunk set available_at = now()");
  EXPECT_EQ(shown(), goes_on) << "it is due";
  const auto again = Claim().chunks.at(0);
  EXPECT_EQ(shown(), goes_on) << "it is worked on";
  store::GiveBackJobChunks(session, {{again.lease, std::chrono::minutes(10)}});
  EXPECT_EQ(shown(), goes_on) << "it waits for something else";
}

TEST_F(JobsHold, AChunkOfALaneThatNobodyServesGoesToTheLaneLookup) {
  auto job = Lookup();
  job.blocks[0].lane = Lane::kSmtp;
  Start(job);
  const auto member = [this](const std::string& lanes, const std::string& age) {
    Sql(
        fmt::format("delete from member; insert into member (id, roles, version, host, pid, lanes, "
                    "heartbeat_at) values (gen_random_uuid(), '{{worker}}', 'v', 'h', 1, '{}', "
                    "now() - interval '{}')",
                    lanes, age));
  };
  member("{checks,smtp}", "1 second");
  EXPECT_EQ(store::ReadServedLanes(session), std::set<Lane>{Lane::kSmtp});
  EXPECT_EQ(store::MoveUnservedLane(session, std::chrono::milliseconds(0)), 0);
  member("{smtp}", "31 seconds");
  EXPECT_EQ(store::MoveUnservedLane(session, std::chrono::minutes(1)), 0) << "too early";
  EXPECT_EQ(store::MoveUnservedLane(session, std::chrono::milliseconds(0)), 1);
  EXPECT_EQ(Sql("select lane from job_chunk"), "1");
}

TEST_F(JobsHold, TheGaugesCountChunksByLane) {
  Start(Lookup());
  Claim();
  Start(Lookup());
  const auto gauges = store::ReadLaneGauges(session);
  ASSERT_EQ(gauges.size(), domain::kLaneCount);
  EXPECT_EQ(gauges[0].due, 0);
  EXPECT_EQ(gauges[1].lane, Lane::kLookup);
  EXPECT_EQ(gauges[1].due, 1);
  EXPECT_EQ(gauges[1].leased, 1);
  Sql("update organisation set locked = true");
  EXPECT_EQ(store::ReadLaneGauges(session)[1].due, 0) << "nobody may take it";
  EXPECT_EQ(store::ReadLaneGauges(session)[1].waiting, 1);
  EXPECT_EQ(store::ReadLaneGauges(session)[1].leased, 1);
}

TEST_F(JobsHold, TheGaugesCountOpenJobsByKindAndStatusAndWhatIsOverdue) {
  EXPECT_TRUE(store::ReadJobGauges(session).open.empty());
  Start(Lookup());
  Claim();
  Start(Lookup());
  const auto ended = Start(Lookup());
  End(ended, JobStatus::kCancelled);
  auto gauges = store::ReadJobGauges(session);
  ASSERT_EQ(gauges.open.size(), 2U);
  EXPECT_EQ(gauges.open[0].status, JobStatus::kQueued);
  EXPECT_EQ(gauges.open[0].jobs, 1);
  EXPECT_EQ(gauges.open[1].status, JobStatus::kRunning);
  EXPECT_EQ(gauges.open[1].jobs, 1);
  EXPECT_EQ(gauges.overdue, std::chrono::microseconds(0));
  Sql("update job set deadline_at = now() - interval '1 hour' where status = 0");
  gauges = store::ReadJobGauges(session);
  EXPECT_GE(gauges.overdue, std::chrono::hours(1));
}

TEST_F(JobsHold, WhoWaitsForJobsIsCountedByOrganisation) {
  auto job = Lookup();
  job.waited = true;
  const auto waited = Start(job);
  Start(Lookup());
  auto waiting = store::ReadWaitingOrganisations(session, 10);
  ASSERT_EQ(waiting.size(), 1U);
  EXPECT_EQ(waiting[0].org_id, org);
  EXPECT_EQ(waiting[0].jobs, 1);
  End(waited, JobStatus::kCancelled);
  EXPECT_TRUE(store::ReadWaitingOrganisations(session, 10).empty());
}

TEST_F(JobsHold, AJobIsReadWithItsProgressAndItsBlocks) {
  const auto job = Start(Lookup(4, 1000));
  RecordOne(job, Progress(Claim().chunks.at(0), R"({"rows": [["a"], null, null, null]})", 1, 1000));
  const auto view = store::GetJob(session, {org, {}}, job);
  ASSERT_TRUE(view.has_value());
  EXPECT_EQ(view->rows_done, 1);
  EXPECT_EQ(view->rows_total, 4);
  EXPECT_EQ(view->charged_mc, 1000);
  EXPECT_EQ(view->status, JobStatus::kRunning);
  EXPECT_EQ(store::ReadJobBlocks(session, job).at(0).rows_charged, 1);
  EXPECT_EQ(store::ReadJobChunks(session, job, 10).at(0).progress, 1);
  EXPECT_EQ(store::ListJobs(session, {.scope = {org, {}}}).size(), 1U);
  EXPECT_TRUE(store::ListJobs(session, {.scope = {org, {}}, .status = JobStatus::kFailed}).empty());
  const auto gone = base::Uuid::V4();
  EXPECT_EQ(store::ReadEndedJobs(session, {job, gone}), std::vector{gone});
  End(job, JobStatus::kCancelled);
  EXPECT_EQ(store::ReadEndedJobs(session, {job}), std::vector{job});
}

}  // namespace
}  // namespace vedette::test
